"""Models, states and what they say of themselves."""

import copy
import pickle
import warnings
import xml.etree.ElementTree as xml

import numpy as np
import pytest
from conftest import ROBOTS, ROOT

import espalier as esp


def test_every_problem_is_a_function_with_a_docstring(tello):
    for problem in esp.problems():
        name = problem.replace("-", "_")
        assert name in dir(tello)
        document = getattr(tello, name).__doc__
        assert "Algorithms:" in document
        assert "end_effectors" in document and "local_world_aligned" in document
        for a in esp.algorithms(problem):
            assert a["name"] in document


def test_docstrings_are_those_of_the_headers(tello):
    document = tello.forward_dynamics.__doc__
    assert "generalized forces, size nv [N·m, N]" in document
    assert "Featherstone" in document


def test_print_names_joints_links_and_clusters(tello):
    text = str(tello)
    assert "left.hip.rotor1" in text and "torso" in text and "tello_hip" in text
    assert repr(tello).startswith("<espalier.Model 'tello': nq 27, nv 16")
    assert "dependent" in text and "tied by" in text


@pytest.mark.parametrize("robot", ROBOTS)
def test_html_is_a_drawing_with_a_box_for_each_cluster(models, robot):
    model = models(robot)
    root = xml.fromstring(model.svg())
    boxes = root.findall(".//{http://www.w3.org/2000/svg}rect")
    assert len(boxes) == 1 + len(model.clusters)
    assert "<svg" in model._repr_html_()


def test_clusters_partition_the_joints(tello):
    joints = [name for c in tello.clusters for name in c["joints"]]
    assert sorted(joints) == sorted(tello.joints)
    assert sum(c["nv"] for c in tello.clusters) == tello.nv


def test_graphs_are_graphviz(tello):
    for which in ("connectivity", "tree", "clusters"):
        assert "graph" in tello.graph(which)
    with pytest.raises(KeyError, match="connectivity"):
        tello.graph("conectivity")


@pytest.mark.parametrize("robot", ROBOTS)
def test_pickled_model_gives_the_same_bits(models, robot):
    model = models(robot)
    again = pickle.loads(pickle.dumps(model))
    assert again == model and again is not model
    x = model.random_state(5)
    for problem in ("forward_dynamics", "inverse_dynamics"):
        args = (x.q, x.v, np.ones(model.nv))
        assert np.array_equal(getattr(model, problem)(*args), getattr(again, problem)(*args))


def test_pickle_keeps_options_and_states(models):
    model = models("tello.yaml", root="floating")
    x = model.state(rates={"left.hip.rotor1": 2.0})
    again = pickle.loads(pickle.dumps(x))
    assert again == x and again.model.options["root"] == "floating"
    x.v[0] += 1
    assert again != x
    assert copy.deepcopy(x) == x and copy.copy(x) is not x


def test_models_compare_by_what_they_are(models):
    model = models("ur5.urdf")
    other = model.description
    other.links[list(other.links)[2]].mass += 1
    assert other.compile() != model
    assert model.description.compile() == model
    assert copy.deepcopy(model) is model  # immutable


def test_state_views_go_into_algorithms_and_names_follow(arm):
    x = arm.state({"elbow": 0.4}, {"elbow": -1.5})
    at = arm.joint("elbow")
    assert x.q[at["q"]] == 0.4 and x["elbow"] == 0.4
    assert x.v[at["independent"]] == -1.5 and x.rate["elbow"] == -1.5
    x["elbow"] = 0.5
    assert x.q[at["q"]] == 0.5
    assert "elbow" in repr(x)


def test_state_closes_its_loops(tello):
    x = tello.state({"left.hip.rotor1": 0.3, "left.knee_ankle.rotor2": -0.2})
    assert x.residual < 1e-10
    assert x["left.hip.gimbal"] != tello.state()["left.hip.gimbal"]
    before = x.q.copy()
    with pytest.raises(esp.InvalidState, match="left.hip"):
        x["left.hip.rotor1"] = 1e5
    assert np.array_equal(x.q, before)


def test_state_of_a_coupled_joint_is_refused(tello):
    x = tello.state()
    with pytest.raises(esp.Unsupported, match="left.hip.rotor1"):
        x["left.hip.gimbal"] = 0.1
    with pytest.raises(esp.Unsupported):
        x.rate["left.hip.gimbal"] = 0.1
    with pytest.raises(KeyError, match="did you mean 'left.hip.rotor1'"):
        x["left.hip.rotor"]


def test_open_positions_are_no_state(tello):
    with pytest.raises(ValueError, match="closed loops"):
        tello.state(q=tello.state().q + 0.5)


def test_close_finds_other_branches(models):
    leg = models("four_bar_leg.yaml")
    q = leg.state().q
    first = leg.close(q)
    other = leg.close(q, branch=1)
    assert leg.examine(first).residual < 1e-10 and leg.examine(other).residual < 1e-10
    assert np.max(np.abs(first - other)) > 1e-3
    for name in leg.coordinates:  # on both of them the independent joints are where they were
        at = leg.joint(name)["q"]
        assert first[at] == other[at] == q[at]
    with pytest.raises(esp.InvalidState, match="branch is 99, expected 0 to"):
        leg.close(q, branch=99)


def test_integrate_and_difference_are_inverse(models):
    model = models("mini_cheetah_geared.yaml", root="floating")
    x, y = model.random_state(1), model.random_state(2)
    move = model.difference(x.q, y.q)
    assert np.allclose(model.integrate(x.q, move), y.q, atol=1e-12) or np.allclose(
        model.integrate(x.q, move)[3:7], -y.q[3:7], atol=1e-12
    )


def test_spanning_rates_keep_the_loops_closed(tello):
    x = tello.random_state(3)
    h = 1e-6
    moved = tello.integrate(x.q, h * tello.spanning_rates(x.q, x.v))
    assert tello.examine(moved).residual < 100 * h * h * np.max(np.abs(x.v)) ** 2 + 1e-9


def test_pose_is_a_rotation_and_agrees_with_the_jacobian(arm):
    x = arm.random_state(2)
    link = arm.tips[0]
    T = arm.pose(link, x.q)
    assert np.allclose(T[:3, :3] @ T[:3, :3].T, np.eye(3), atol=1e-12)
    J = arm.jacobian(link, x.q)
    h = 1e-6
    moved = arm.pose(link, arm.integrate(x.q, h * x.v))
    # Central enough: the error of one-sided differences is of the order of h.
    assert np.allclose((moved[:3, 3] - T[:3, 3]) / h, T[:3, :3] @ (J @ x.v)[3:], atol=1e-5)
    # Packs have a sine of their own: a few units in the last place.
    assert np.allclose(arm.pose(link, np.array([x.q, x.q]))[1], T, rtol=0, atol=1e-14)


@pytest.mark.parametrize("problem", ["mass-matrix", "energy"])
def test_compare_takes_no_nan_for_agreement(tello, monkeypatch, problem):
    """Also where it comes after numbers, and among several results."""
    bind = esp.Model.algorithm
    spoiled = tello.algorithm(problem=problem).name

    class Spoiled:
        def __init__(self, bound):
            self.arguments, self._bound, self._calls = bound.arguments, bound, 0

        def __call__(self, *arrays):
            self._calls += 1
            out = self._bound(*arrays)
            if self._calls != 2:
                return out
            return {k: np.nan * x for k, x in out.items()} if isinstance(out, dict) else np.nan * out

    def algorithm(self, name, *rest, **given):
        bound = bind(self, name, *rest, **given)
        return Spoiled(bound) if name == spoiled else bound

    monkeypatch.setattr(esp.Model, "algorithm", algorithm)
    found = tello.compare(problem, samples=3)
    assert not found.agree and np.isnan(found.differences[spoiled])
    assert "DISAGREE" in repr(found) and "a result is no number" in repr(found)


def test_compare_finds_agreement(tello):
    found = tello.compare(samples=5)
    assert found and found.reference == "dense" and len(found.differences) >= 5
    assert "aba" in found.refused and "agree" in repr(found)
    assert "unconstrained-rnea" in tello.compare("inverse-dynamics", samples=2).approximate
    for samples in (0, -1, 1.5):
        with pytest.raises(TypeError, match="samples is .*, expected a whole number from 1"):
            tello.compare(samples=samples)


def test_passive_forces_are_those_of_the_joints():
    d = esp.Description("pendulum")
    d.add_link("base")
    d.add_link("bob", mass=1.0, com=[0, 0, -1], inertia=np.diag([0.1, 0.1, 0.1]))
    d.add_joint("pin", "revolute", "base", "bob", axis=[0, 1, 0], damping=0.5, stiffness=3.0,
                rest=0.1)
    model = d.compile()
    assert model.passive_forces([0.4], [2.0]).tolist() == [-0.5 * 2.0 - 3.0 * (0.4 - 0.1)]


def test_jacobian_in_other_frames_is_the_velocity_of_the_point(arm):
    x = arm.random_state(3)
    link, h = arm.tips[0], 1e-6
    point = np.array([0.1, -0.2, 0.3])

    def places(q):
        pose = arm.pose(link, q)
        return pose[:3, :3], pose[:3, :3] @ point + pose[:3, 3]

    (R0, p0), (R1, p1) = (places(arm.integrate(x.q, s * h * x.v)) for s in (-1, 1))
    R, p = places(x.q)
    linear = (p1 - p0) / (2 * h)
    turn = (R1 - R0) / (2 * h) @ R.T
    angular = np.array([turn[2, 1], turn[0, 2], turn[1, 0]])
    aligned = arm.jacobian(link, x.q, frame="local_world_aligned", point=point) @ x.v
    # Central differences of step 1e-6: rounding 1e-16 / 1e-6, truncation 1e-12.
    np.testing.assert_allclose(aligned, [*angular, *linear], atol=1e-8)
    local = arm.jacobian(link, x.q, point=point) @ x.v
    np.testing.assert_allclose(local, [*(R.T @ angular), *(R.T @ linear)], atol=1e-8)
    world = arm.jacobian(link, x.q, frame="world") @ x.v
    np.testing.assert_allclose(world, [*angular, *(linear - np.cross(angular, p))], atol=1e-8)
    np.testing.assert_array_equal(arm.jacobian(link, x.q, frame="local"), arm.jacobian(link, x.q))
    many = arm.jacobian(link, np.stack([x.q, x.q]), frame="world")
    np.testing.assert_allclose(many[1] @ x.v, world, atol=1e-13)
    with pytest.raises(KeyError, match="did you mean 'world'"):
        arm.jacobian(link, x.q, frame="wrld")
    with pytest.raises(esp.Unsupported, match="about the world's origin"):
        arm.jacobian(link, x.q, frame="world", point=point)


def test_what_is_left_out_of_a_file_is_a_warning(tmp_path):
    body = '<body><joint name="j" axis="0 1 0"/><geom size="0.1"/></body>'
    path = tmp_path / "pendulum.xml"
    servo = '<actuator><position joint="j" kp="3"/></actuator>'
    path.write_text(f"<mujoco><worldbody>{body}</worldbody>{servo}</mujoco>", encoding="utf-8")
    with pytest.warns(UserWarning, match="gains of <position>"):
        esp.load(path)
    with pytest.warns(UserWarning, match="'front_right_thigh'"):  # an inertia that no body has
        esp.load(ROOT / "robots" / "mini_cheetah.urdf")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        esp.load(ROOT / "robots" / "ur5.urdf")


def test_state_takes_arrays_of_its_sizes_only(models):
    robot = models("solo12.urdf", root="floating")
    x = robot.state()
    q = x.q
    x.q[2] = 0.5
    x.q += 0.0
    assert x.q is q and q[2] == 0.5
    x.v = [0.1] * robot.nv
    assert x.v.dtype == float and x.v[3] == 0.1
    for name, value in (("q", np.zeros(3)), ("v", np.zeros(robot.nq)), ("v", 1.0)):
        with pytest.raises(esp.SizeMismatch, match=f"shape of {name} is .*, expected"):
            setattr(x, name, value)
    assert x.q is q and x.v[3] == 0.1
    for count, seed in ((-1, 1), (2, -1), (1.5, 1)):
        with pytest.raises(TypeError, match="random_states of 'solo12': (count|seed) is"):
            robot.random_states(count, seed)


def test_lists_and_dicts_of_a_model_are_the_callers_own(models):
    model = models("ur5.urdf")
    names = model.links, model.joints, model.coordinates
    joint = model.joints[0]
    for given in (model.links, model.joints, model.coordinates, model.clusters):
        given.reverse()
        given.pop()
    place = model.joint(joint)["q"]
    changed = model.joint(joint)
    changed["q"] = 5
    changed["rates"].append(3)
    assert (model.links, model.joints, model.coordinates) == names
    assert model.joint(joint)["q"] == place and len(model.joint(joint)["rates"]) == 1
