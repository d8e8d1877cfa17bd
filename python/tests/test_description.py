"""Descriptions are edited, compiled again, composed and written."""

import threading

import numpy as np
import pytest
from conftest import ROBOTS, ROOT

import espalier as esp


def test_editing_masses_changes_the_next_compile_only(arm):
    d = arm.description
    name = "forearm"
    d.links[name].mass *= 2
    heavier = d.compile()
    assert heavier.mass - arm.mass == pytest.approx(arm.description.links[name].mass)
    d.links[name].mass *= 2
    assert heavier.description.links[name].mass == 2 * arm.description.links[name].mass


@pytest.mark.parametrize("kind, part, field, bad, wanted", [
    ("links", "forearm", "mass", "heavy", "a number"),
    ("links", "forearm", "com", [0, 0], "three numbers"),
    ("links", "forearm", "inertia", 1.0, "3 x 3 numbers"),
    ("joints", "elbow", "xyz", 0.1, "three numbers"),
    ("joints", "elbow", "lower", "none", "a number or None"),
    ("joints", "elbow", "parent", 3, "a text"),
    ("joints", "elbow", "independent", [], "True, False or None"),
    ("joints", "elbow", "parameters", {"pitch": "steep"}, "a number"),
])
def test_value_of_a_wrong_kind_is_named(arm, kind, part, field, bad, wanted):
    value = bad["pitch"] if isinstance(bad, dict) else bad
    with pytest.raises(TypeError) as caught:
        setattr(getattr(arm.description, kind)[part], field, bad)
    name = "pitch" if isinstance(bad, dict) else field
    assert str(caught.value) == f"'{part}': {name} is {value!r}, expected {wanted}"


def test_editing_lengths_moves_the_hand(arm):
    d = arm.description
    joint = d.joints["elbow"]
    joint.xyz = np.add(joint.xyz, [0, 0, 0.1])
    longer = d.compile()
    q = arm.state().q
    moved = longer.pose("wrist_3", q)[:3, 3] - arm.pose("wrist_3", q)[:3, 3]
    assert np.linalg.norm(moved) == pytest.approx(0.1)


def test_editing_ratios_changes_the_reflected_inertia(models):
    d = models("mini_cheetah_geared.yaml").description
    name = next(iter(d.couplings))
    base = d.compile()
    d.couplings[name].ratio *= 2
    geared = d.compile()
    q = base.state().q
    M0, M1 = base.mass_matrix(q), geared.mass_matrix(q)
    assert np.max(np.abs(M1 - M0)) > 1e-3  # kg·m²: rotors of 1e-5 kg·m² at ratios about 6


def test_inertia_is_a_symmetric_matrix():
    d = esp.Description("one")
    I = np.array([[2.0, 0.1, 0.2], [0.1, 3.0, 0.3], [0.2, 0.3, 4.0]])
    d.add_link("body", mass=1, inertia=I)
    assert np.array_equal(d.links["body"].inertia, I)
    with pytest.raises(esp.InvalidModel, match="symmetric"):
        d.links["body"].inertia = I + np.triu(np.ones((3, 3)), 1)


def test_parts_are_mappings_and_say_what_they_know(arm):
    d = arm.description
    assert list(d.joints)[0] in d.joints and len(d.joints) == len(list(d.joints))
    with pytest.raises(KeyError, match="did you mean 'elbow'"):
        d.joints["elbw"]
    with pytest.raises(KeyError, match="did you mean 'mass'"):
        d.add_link("x", mas=1)
    joint = d.joints["elbow"]
    del d.joints["elbow"]
    with pytest.raises(KeyError):
        joint.axis
    with pytest.raises(ValueError, match="there already"):
        d.add_link("forearm")


def test_parameters_are_read_only_until_assigned(models):
    d = models("tello.yaml").description
    law = next(iter(d.laws.values()))
    with pytest.raises(TypeError):
        law.parameters["x"] = 1
    law.parameters = {**law.parameters, "x": 1}
    assert law.parameters["x"] == 1


@pytest.mark.parametrize("robot", ROBOTS)
def test_yaml_that_is_written_is_the_same_robot(models, robot, tmp_path):
    model = models(robot)
    path = tmp_path / "robot.yaml"
    model.description.write(path)
    again = esp.load(path)
    x = model.random_state(2)
    assert again.coordinates == model.coordinates
    assert np.array_equal(again.forward_dynamics(x.q, x.v), model.forward_dynamics(x.q, x.v))


def test_robot_built_by_hand_is_a_pendulum():
    d = esp.Description("pendulum")
    d.add_link("base")
    d.add_link("bob", mass=2.0, com=[0, 0, -0.5])
    d.add_joint("pin", "revolute", "base", "bob", axis=[0, 1, 0])
    model = d.compile()
    # m l² = 0.5 kg·m², gravity torque m g l sin q.
    assert model.mass_matrix([0.3])[0, 0] == pytest.approx(0.5)
    assert model.forward_dynamics([0.3])[0] == pytest.approx(-9.81 / 0.5 * np.sin(0.3))


def test_composed_robot_is_the_one_of_the_readme():
    walker = esp.Composer("walker")
    walker.link("trunk", mass=5, inertia=[0.02, 0.05, 0.06, 0, 0, 0])
    for side, y in (("left", 0.1), ("right", -0.1)):
        walker.add(
            side, "geared_joint", base=("trunk", [0, y, 0], [-np.pi / 2, 0, 0]),
            ratio=6 if side == "left" else 9, link_mass=1, link_com=[0, 0.1, 0], rotor_mass=0.1,
            rotor_inertia=[3e-5, 3e-5, 6e-5, 0, 0, 0],
        )
    model = walker.compile(root="floating")
    assert model.nv == 8 and sum(c["constrained"] for c in model.clusters) == 2
    with pytest.raises(KeyError, match="geared_joint"):
        walker.add("arm", "gearedjoint")


def test_composer_keeps_what_is_there_and_takes_tuples_for_vectors():
    def walker(com):
        made = esp.Composer("walker")
        made.link("trunk", mass=5, inertia=[0.02, 0.05, 0.06, 0, 0, 0])
        made.add(
            "leg", "geared_joint", base=("trunk", [0, 0.1, 0]), ratio=6, link_mass=1, link_com=com,
            rotor_mass=0.1, rotor_inertia=(3e-5, 3e-5, 6e-5, 0, 0, 0),
        )
        return made

    one = walker((0, 0, -0.1))
    model, other = one.compile(), walker([0, 0, -0.1]).compile()
    q = model.state().q
    assert model.mass_matrix(q)[0, 0] == other.mass_matrix(q)[0, 0]
    with pytest.raises(esp.DuplicateName, match="subsystem 'leg'"):
        one.add("leg", "geared_joint", base="trunk", ratio=7)
    with pytest.raises(esp.DuplicateName, match="link 'trunk'"):
        one.link("trunk", mass=99)
    with pytest.raises(TypeError, match="'arm': base has 4 parts"):
        one.add("arm", "geared_joint", base=("trunk", [0, 0, 0], [0, 0, 0], 1))
    assert one.compile().mass == model.mass


def test_subsystems_of_a_definition_in_a_dict():
    robot = esp.from_dict({
        "name": "two",
        "links": {"ceiling": {}},
        "subsystems": {
            "upper": {"type": "arm", "connect": {"pivot": "ceiling"}},
            "lower": {"type": "arm", "parameters": {"length": np.float64(0.7)},
                      "connect": {"pivot": "upper.tip"}},
        },
        "definitions": esp_yaml("double_pendulum.yaml")["definitions"],
    })
    text = (ROOT / "robots" / "double_pendulum.yaml").read_text()
    assert robot.compile().forward_dynamics([0.1, 0.2]).tolist() == (
        esp.read_text(text).compile().forward_dynamics([0.1, 0.2]).tolist()
    )


def esp_yaml(name):
    import yaml

    return yaml.safe_load((ROOT / "robots" / name).read_text())


def test_doctor_finds_what_is_wrong():
    d = esp.Description("bad")
    d.add_link("base")
    d.add_link("leaf")
    d.add_joint("pin", "revolute", "base", "leaf")
    found = d.diagnose()
    assert any(severity == "error" and "leaf" in text for severity, text, _ in found)
    with pytest.raises(esp.InvalidModel, match="leaf"):
        d.compile()


def test_values_of_several_numbers_are_not_edited_in_place():
    leg = esp.read(esp.robot_file("four_bar_leg.yaml"))
    joint, link = next(iter(leg.joints.values())), next(iter(leg.links.values()))
    for part, names in ((joint, ("xyz", "rpy", "axis")), (link, ("com", "inertia"))):
        for name in names:
            with pytest.raises(TypeError, match="tuple"):
                getattr(part, name)[0] = 1.0
    with pytest.raises(TypeError, match="tuple"):
        link.inertia[0][0] = 1.0
    joint.xyz = (*joint.xyz[:2], 0.25)
    assert joint.xyz[2] == 0.25
    tello = esp.read(esp.robot_file("tello.yaml"))
    assert all(type(law.joints) is tuple for law in tello.laws.values())


def test_wrong_types_are_named(models):
    d = models("ur5.urdf").description
    joint = next(iter(d.joints))
    for value in ("wrist_1_joint", {"joint": "wrist_1_joint"}, 2.0):
        with pytest.raises(TypeError, match=r"mimic is .*, expected \(joint, multiplier, offset\)"):
            d.joints[joint].mimic = value
    with pytest.raises(TypeError, match="'ur5': name is 5, expected a text"):
        d.name = 5
    d.name = "another"
    assert d.name == "another" and d.joints[joint].mimic is None


def test_threads_may_write_one_file(tmp_path):
    arm = esp.read(esp.robot_file("double_pendulum.yaml"))
    file, errors = tmp_path / "arm.yaml", []

    def write():
        try:
            for _ in range(20):
                arm.write(file)
        except OSError as error:
            errors.append(error)

    threads = [threading.Thread(target=write) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors and esp.read(file) == arm
    assert [p.name for p in tmp_path.iterdir()] == ["arm.yaml"]


def test_writing_says_what_a_format_does_not_keep(tmp_path):
    tello = esp.read(esp.robot_file("tello.yaml"))
    assert tello.losses(".yaml") == tello.losses("urdf") == []
    lost = tello.losses(".sdf")
    assert len(lost) > 4 and any("is called" in what for what in lost)
    with pytest.warns(UserWarning, match="tello.sdf does not keep .*is called"):
        tello.write(tmp_path / "tello.sdf")
    (tmp_path / "tello.sdf").unlink()
    with pytest.raises(esp.Unsupported, match="does not keep .*, expected a format that keeps all"):
        tello.write(tmp_path / "tello.sdf", strict=True)
    assert not (tmp_path / "tello.sdf").exists()
    tello.write(tmp_path / "tello.urdf", strict=True)
    with pytest.warns(UserWarning, match="independent there"):  # in MuJoCo
        tello.write(tmp_path / "tello.xml")
    for name in ("tello.urdf", "tello.xml"):
        assert esp.load(tmp_path / name).nv == esp.load(esp.robot_file("tello.yaml")).nv
    with pytest.raises(TypeError, match="format is 3, expected an ending"):
        tello.losses(3)
