"""Task control: what is wanted is what forward dynamics then gives."""

import numpy as np
import pytest

import espalier as esp


def test_an_arm_accelerates_as_wanted_with_the_torques_of_inverse_dynamics(arm):
    x = arm.random_state(3)
    wanted = np.linspace(-2.0, 2.0, arm.nv)
    control = arm.task_control([esp.ControlTask("posture", rows="joints")])
    control.want("posture", wanted)
    answer = control(x.q, x.v)
    assert answer.vdot == pytest.approx(wanted, abs=1e-9)
    assert answer.accelerations["posture"] == pytest.approx(wanted, abs=1e-9)
    assert answer.errors == pytest.approx([0.0], abs=1e-9)
    tau = arm.inverse_dynamics(x.q, x.v, wanted)
    assert answer.inputs == pytest.approx(tau, abs=1e-8 * np.abs(tau).max())
    assert len(control.input_names) == arm.nv and control.priorities == [0]
    # Forces on spanning rates, as simulations take them: on a tree the torques themselves.
    assert answer.forces == pytest.approx(tau, abs=1e-8 * np.abs(tau).max())


def test_feet_stay_and_the_body_rises_within_the_friction_cones(models):
    solo = models("solo12.urdf", root="floating")
    start = solo.state({f"{leg}_{joint}": angle for leg in
                        ("front_left", "front_right", "hind_left", "hind_right")
                        for joint, angle in (("hip", 0.8), ("knee", -1.6))})
    q = start.q
    feet = [link for link in solo.links if link.endswith("foot")]
    control = solo.task_control(
        [esp.ControlTask(foot, rows=esp.EndEffector(foot, "3d")) for foot in feet]
        + [{"name": "rise", "rows": "center-of-mass", "priority": 1}],
        contacts=[esp.ControlContact(foot, friction=0.6) for foot in feet],
        solver="alglib",
    )
    control.want("rise", [0.0, 0.0, 1.0])
    v = np.zeros(solo.nv)
    answer = control(q, v)
    assert answer.accelerations["rise"] == pytest.approx([0, 0, 1], abs=1e-6)
    for foot in feet:
        assert answer.accelerations[foot] == pytest.approx(np.zeros(3), abs=1e-6)
    assert answer.violation < 1e-6
    force = dict(zip(control.input_names, answer.inputs, strict=True))
    total = sum(force[f"{foot}[2]"] for foot in feet)
    mass = solo.mass_matrix(q)[3, 3]  # of the root's linear rate
    assert total == pytest.approx(mass * (9.81 + 1.0), rel=1e-6)
    for foot in feet:
        x, y, z = (force[f"{foot}[{k}]"] for k in range(3))
        assert z >= -1e-6 and np.hypot(x, y) <= 0.6 * z + 1e-6


def test_wrong_use_is_refused_by_name(arm):
    with pytest.raises(esp.UnknownName, match="shoulder"):
        arm.task_control([{"name": "t"}], motors=["shoulder"])
    with pytest.raises(KeyError, match="rowz"):
        arm.task_control([{"name": "t", "rowz": "joints"}])
    with pytest.raises(TypeError, match="rows are of type int"):
        arm.task_control([{"name": "t", "rows": 3}])
    control = arm.task_control([{"name": "t"}])
    with pytest.raises(KeyError, match="'u'"):
        control.want("u", np.zeros(arm.nv))
    with pytest.raises(ValueError, match="size"):
        control.want("t", np.zeros(arm.nv + 1))
    with pytest.raises(ValueError, match="q"):
        control(np.zeros(arm.nq + 1), np.zeros(arm.nv))


def test_fields_of_another_type_are_named(arm):
    def make(task=None, **contact):
        contacts = [{"link": "flange", **contact}] if contact else None
        return arm.task_control([{"name": "reach", **(task or {})}], contacts=contacts)

    for priority in (1.5, 2**31, "first", None):
        with pytest.raises(TypeError, match="ControlTask 'reach': priority is .*a whole number"):
            make({"priority": priority})
    with pytest.raises(TypeError, match="ControlTask 'reach': weight is 'x', expected a number"):
        make({"weight": "x"})
    for sides in (1.5, 2**31):
        with pytest.raises(TypeError, match="ControlContact 'flange': sides is"):
            make(sides=sides)
    for sides in (2, 1001, 10**9):  # the last would take the memory
        with pytest.raises(esp.InvalidModel, match=f"sides is {sides}, expected 3 to 1000"):
            make(sides=sides)
    make(sides=1000)
    for key in ("friction", "least", "most", "weight", "offset", "normal", "name"):
        with pytest.raises((TypeError, esp.InvalidModel), match=f"'flange'.*{key}|{key} is"):
            make(**{key: [1]})
    with pytest.raises(TypeError, match="limit 'l': lower is 3, expected a list of numbers"):
        arm.task_control([{"name": "t"}], limits=[
            {"name": "l", "rows": "joints", "lower": 3, "upper": 3}])
    task = esp.ControlTask("t")
    task.weight = "x"  # after it was made
    with pytest.raises(TypeError, match="ControlTask 't': weight is 'x'"):
        arm.task_control([task])
    control = make()
    with pytest.raises(TypeError, match="task is 3, expected a text"):
        control.want(3, np.zeros(arm.nv))
    with pytest.raises(TypeError, match="wrenches are of type list"):
        control(np.zeros(arm.nq), np.zeros(arm.nv), wrenches=[1])


def test_open_loops_are_refused(models):
    robot = models("rod_ankle.yaml")
    control = robot.task_control([{"name": "a"}])
    state = robot.state()
    control(state.q, state.v)
    with pytest.raises(esp.InvalidState, match="loop"):
        control(state.q + 0.05 * np.arange(robot.nq), state.v)
