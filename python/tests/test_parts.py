"""End-effectors, inputs, sensors and groups."""

import numpy as np
import pytest

import espalier as esp


def test_end_effectors_as_objects_dicts_and_names_are_the_same(arm):
    x = arm.random_state(1)
    link = arm.tips[0]
    by_object = arm.operational_space(x.q, end_effectors=[esp.EndEffector(link, "3d")])
    by_dict = arm.operational_space(x.q, end_effectors=[{"link": link, "rows": "3d"}])
    by_name = arm.operational_space(x.q, end_effectors=[f"{link}:3d"])
    for name in by_object:
        assert np.array_equal(by_object[name], by_dict[name])
        assert np.array_equal(by_object[name], by_name[name])
    assert by_object.osim.shape == (3, 3)
    # J of the point in world axes is the derivative of its position.
    J = by_object.task_jacobian
    R = arm.pose(link, x.q)[:3, :3]
    assert np.allclose(J, R @ arm.jacobian(link, x.q)[3:], atol=1e-12)


def test_changed_end_effectors_are_seen_by_the_next_call(arm):
    x = arm.random_state(1)
    end = esp.EndEffector(arm.tips[0], "3d")
    before = arm.operational_space("osim", x.q, end_effectors=[end])
    end.offset = [0.1, 0, 0]
    assert not np.array_equal(arm.operational_space("osim", x.q, end_effectors=[end]), before)


def test_constrained_dynamics_holds_the_hand(arm):
    x = arm.random_state(1)
    got = arm.constrained_dynamics(
        x.q, x.v, end_effectors=[{"link": arm.tips[0], "rows": "3d"}], acceleration=[0, 0, 0]
    )
    h = 1e-5
    J = [
        arm.operational_space("task_jacobian", arm.integrate(x.q, s * h * x.v),
                              end_effectors=[{"link": arm.tips[0], "rows": "3d"}])
        for s in (-1, 0, 1)
    ]
    # J vdot + (dJ/dt) v = 0, dJ/dt by central differences.
    assert np.allclose(J[1] @ got.vdot + (J[2] - J[0]) / (2 * h) @ x.v, 0, atol=1e-5)


def test_input_matrix_is_the_inverse_inertia(arm):
    x = arm.random_state(1)
    got = arm.input_matrix(x.q, x.v)
    assert np.allclose(got.input_matrix @ arm.mass_matrix(x.q), np.eye(arm.nv), atol=1e-9)
    some = arm.input_matrix(x.q, x.v, inputs=["elbow", {"link": arm.tips[0], "rows": "3d"}])
    assert some.input_matrix.shape == (arm.nv, 4)
    algo = arm.algorithm("iim", inputs=["elbow"])
    assert algo.input_names == ["elbow"]


def test_sensors_give_back_what_drives_the_robot(arm):
    x = arm.random_state(1)
    tau = np.arange(1.0, 7.0)
    vdot = arm.forward_dynamics(x.q, x.v, tau)
    sensors = [esp.Sensor("acceleration", joint=name) for name in arm.coordinates]
    got = arm.sensor_dynamics(x.q, x.v, measurements=vdot, sensors=sensors)
    assert np.allclose(got.joint_torque.ravel(), tau, atol=1e-9)
    many = arm.sensor_dynamics(
        "joint_torque", np.tile(x.q, (3, 1)), x.v, measurements=np.tile(vdot, (3, 1)), sensors=sensors
    )
    assert np.allclose(many.reshape(3, -1), tau, atol=1e-9)
    with pytest.raises(KeyError, match="did you mean 'torque'"):
        arm.sensor_dynamics(x.q, sensors=[{"kind": "torqe", "joint": "elbow"}])


def test_hybrid_dynamics_mixes_accelerations_and_torques(arm):
    x = arm.random_state(1)
    tau = np.ones(arm.nv)
    vdot = arm.forward_dynamics(x.q, x.v, tau)
    got = arm.hybrid_dynamics(
        x.q, x.v, tau, vdot, sensors=[{"kind": "acceleration", "joint": "elbow"}]
    )
    assert np.allclose(got.tau, tau, atol=1e-9) and np.allclose(got.vdot, vdot, atol=1e-9)
    with pytest.raises(TypeError, match="vdot is missing, expected the accelerations"):
        arm.hybrid_dynamics(x.q, x.v, tau, sensors=[{"kind": "acceleration", "joint": "elbow"}])
    assert "two arrays, tau and vdot" in arm.hybrid_dynamics.__doc__


def test_groups_change_the_subsystems_and_not_the_motion(models):
    model = models("mini_cheetah_geared.yaml", root="floating")
    x = model.random_state(1)
    plain = model.subsystem_matrices(x.q, x.v)
    chain = []
    for c in model.clusters:  # the first leg: clusters that hang one on the other
        if c["parent"] is not None and (not chain or c["parent"] == chain[-1]):
            chain.append(model.clusters.index(c))
    leg = [j for k in chain for j in model.clusters[k]["joints"]]
    grouped = model.subsystem_matrices(x.q, x.v, groups={"leg": leg})
    assert "M of leg" in grouped and "M of leg" not in plain
    a = model.forward_dynamics(x.q, x.v, algorithm="bremer-on", groups={"leg": leg})
    assert np.allclose(a, model.forward_dynamics(x.q, x.v), rtol=1e-9, atol=1e-9)


def test_covariance_is_a_number_one_for_each_row_or_a_matrix(arm):
    x = arm.random_state(1)
    vdot = arm.forward_dynamics(x.q, x.v, np.ones(arm.nv))

    def spread(covariance):
        sensors = [{"kind": "acceleration", "joint": name} for name in arm.coordinates]
        sensors.append({"kind": "accelerometer", "link": "flange", "rows": ["ax", "ay"],
                        "covariance": covariance})
        sensors[0]["covariance"] = 1.0
        return arm.sensor_dynamics(
            "chi_square", x.q, x.v, measurements=[*vdot, 0.0, 0.0], sensors=sensors,
            algorithm="map",
        )

    matrix = spread([[2.0, 1.0], [1.0, 2.0]])
    assert spread([2.0, 1.0, 1.0, 2.0]) == matrix == spread(np.array([[2.0, 1.0], [1.0, 2.0]]))
    assert spread(2.0) == spread([2.0, 2.0]) == spread([[2.0, 0.0], [0.0, 2.0]]) != matrix
    assert spread(np.float64(2)) == spread(2) == spread(np.array(2.0))
    for wrong in ("x", None, {"a": 1}, object()):
        with pytest.raises(TypeError, match="covariance is .*, expected a number, one for each row"):
            spread(wrong)
    with pytest.raises(TypeError, match=r"covariance\[1\] is 'x', expected a number"):
        spread([1.0, "x"])
    with pytest.raises(esp.InvalidModel, match=r"size of covariance\[1\] is 1, expected 2"):
        spread([[1.0, 0.0], [1.0]])
    with pytest.raises(esp.InvalidModel, match="not positive definite"):
        spread([[1.0, 2.0], [2.0, 1.0]])


def test_parts_of_another_type_are_named(arm):
    q = arm.state().q
    for kind, fields, text in (
        (esp.Sensor, {"kind": 3}, "kind is 3"),
        (esp.Sensor, {"kind": "torque", "xyz": 3}, "xyz is 3, expected a list of numbers"),
        (esp.Sensor, {"kind": "torque", "rows": "ax"}, "rows are 'ax', expected a list of rows"),
        (esp.EndEffector, {"link": "flange", "rows": [3]}, "row is 3"),
        (esp.EndEffector, {"link": "flange", "axes": 3}, "axes is 3, expected a name"),
        (esp.Input, {"contact": 3}, "object is of type int, expected EndEffector"),
    ):
        with pytest.raises(TypeError, match=text):
            kind(**fields)
    for call, text in (
        (lambda: arm.input_matrix(q, inputs=[{"joint": 3}]), "Input: joint is 3, expected a text"),
        (lambda: arm.inverse_osim(q, end_effectors=[{"link": 3}]), "link is 3, expected a text"),
        (lambda: arm.forward_dynamics(q, groups={"a": 3}), "Group 'a': joints are 3"),
        (lambda: arm.forward_dynamics(q, groups={"a": [3]}), r"Group 'a': joints\[0\] is 3"),
        (lambda: arm.forward_dynamics(q, wrenches={3: np.zeros(6)}), "link of wrenches is 3"),
    ):
        with pytest.raises(TypeError, match=text):
            call()
