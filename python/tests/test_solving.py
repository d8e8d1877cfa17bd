"""What functions of a model take besides states, and of whom."""

import numpy as np
import pytest

import espalier as esp


def test_numbers_of_a_call_are_told_apart_by_their_bits_and_not_by_printed_digits(arm):
    x = arm.random_state(1)
    point = esp.EndEffector(arm.links[-1], "3d")

    def weight(g):
        return arm.bias_force(x.q, 0 * x.v, gravity=np.array([0, 0, g]))

    def apparent_mass(offset):
        point.offset = np.array([0.1, 0.0, offset])
        return arm.inverse_osim(x.q, end_effectors=[point])

    with np.printoptions(precision=2):
        for f, a, b in ((weight, -9.81, -9.806), (apparent_mass, 0.2, 0.201)):
            first, second = f(a), f(b)
            assert np.max(np.abs(first - second)) > 1e-5
            assert np.array_equal(f(a), first)
    # Bias force at rest is linear in gravity.
    assert np.allclose(weight(-9.806) * 9.81, weight(-9.81) * 9.806, rtol=1e-12)
    assert np.array_equal(weight(np.nextafter(-9.81, 0)), arm.bias_force(
        x.q, 0 * x.v, gravity=[0, 0, np.nextafter(-9.81, 0)]))


@pytest.fixture(scope="module")
def welded():
    """Nothing moves: nq and nv are 0."""
    return esp.from_dict({
        "name": "welded",
        "links": {"a": {"mass": 1}, "b": {"mass": 2, "com": [1, 0, 0]}},
        "joints": {"weld": {"type": "fixed", "parent": "a", "child": "b", "xyz": [0, 0, 3]}},
    }).compile()


def test_robots_without_degrees_of_freedom_take_the_arrays_that_others_take(welded):
    x = welded.state()
    none = np.zeros(welded.nv)
    assert welded.mass_matrix(x.q).shape == (0, 0) and welded.mass_matrix().shape == (0, 0)
    assert welded.forward_dynamics(x.q, x.v, none).shape == (0,)
    assert welded.inverse_dynamics(q=x.q, v=x.v, vdot=none).shape == (0,)
    assert welded.jacobian("b", x.q).shape == (6, 0)
    assert np.allclose(welded.pose("b", x.q)[:3, 3], [0, 0, 3])
    many = np.zeros((5, 0))
    assert welded.mass_matrix(many).shape == (5, 0, 0)
    assert welded.forward_dynamics(many, many, none).shape == (5, 0)
    assert welded.pose("b", many).shape == (5, 4, 4)
    assert welded.energy(many, many).potential_energy.shape == (5,)
    with pytest.raises(esp.SizeMismatch, match=r"shape of q is \(1,\), expected \(0,\)"):
        welded.mass_matrix(np.zeros(1))


def test_every_problem_takes_as_many_arrays_with_and_without_degrees_of_freedom(welded, arm):
    for problem in esp.problems():
        if problem == "design-variation":
            continue
        try:
            wanted = welded.algorithm(problem=problem).arguments
        except esp.Error:  # no algorithm, or it needs a joint
            continue
        assert wanted == arm.algorithm(problem=problem).arguments, problem


def test_many_robots_without_degrees_of_freedom(welded):
    env = esp.VectorEnv(welded, 4)
    assert env.reset(seed=1)[0].shape == (4, 0)
    observation, reward, *_ = env.step(np.zeros((4, 0)))
    assert observation.shape == (4, 0) and reward.shape == (4,)
    assert env.reset([True, False, False, True])[0].shape == (4, 0)
    batch = esp.ContactBatch(welded)
    batch.start(np.zeros((3, 0)))
    batch.step(1e-3)
    assert batch.q.shape == batch.v.shape == (3, 0) and batch.status.tolist() == [0, 0, 0]
    assert batch.forces.shape == (3, len(batch.shapes), 3)
    batch.reset([True, False, False], np.zeros((1, 0)))
    with pytest.raises(esp.SizeMismatch, match="number of robots is 0"):
        batch.start(np.zeros((0, 0)))


HESSIANS = {"forward_dynamics": "tau", "inverse_dynamics": "vdot"}


@pytest.mark.parametrize("name", ["ur5.urdf", "four_bar_leg.yaml"])
@pytest.mark.parametrize("function", HESSIANS)
def test_hessian_products_have_a_direction(models, random, name, function):
    robot = models(name)
    x = robot.random_state(4)
    third = HESSIANS[function]
    forces, weights, dq, dv, df = random.uniform(-1, 1, (5, robot.nv))
    product = getattr(robot, function + "_hessian_product")
    wrenches = {robot.links[-1]: random.uniform(-1, 1, 6)}

    def gradient(e):
        q = robot.integrate(x.q, e * robot.spanning_rates(x.q, dq))
        q = robot.close(q, start=x.q) if robot.clusters and not robot._core.is_tree else q
        return getattr(robot, function + "_adjoint")(
            q, x.v + e * dv, forces + e * df, multipliers=weights, wrenches=wrenches
        )

    found = product(x.q, x.v, forces, multipliers=weights, wrenches=wrenches,
                    direction={"q": dq, "v": dv, third: df})
    h = 1e-3
    near, far = [(gradient(s), gradient(-s)) for s in (h, 2 * h)]
    for part in ("by_q", "by_v", f"by_{third}"):
        # Differences of fourth order.
        wanted = (8 * (near[0][part] - near[1][part]) - (far[0][part] - far[1][part])) / (12 * h)
        scale = np.max(np.abs(wanted)) + np.max(np.abs(near[0][part]))
        assert np.allclose(found[part], wanted, rtol=0, atol=1e-7 * scale), part


@pytest.mark.parametrize("name", ["ur5.urdf", "four_bar_leg.yaml"])
def test_directions_add_up_and_batches_have_their_own(models, random, name):
    robot = models(name)
    q, v = robot.random_states(6)
    tau = random.uniform(-1, 1, v.shape)
    product = robot.forward_dynamics_hessian_product
    ones = product(q[0], v[0], tau[0])
    parts = [product(q[0], v[0], tau[0], direction={role: np.ones(robot.nv)})
             for role in ("q", "v", "tau")]
    for key in ("by_q", "by_v", "by_tau"):
        together = sum(p[key] for p in parts)
        assert np.allclose(together, ones[key], rtol=0, atol=1e-9 * np.max(np.abs(ones[key])))
    dq = random.uniform(-1, 1, v.shape)
    many = product(q, v, tau, direction={"q": dq, "tau": dq[0]})
    for k in range(6):
        one = product(q[k], v[k], tau[k], direction={"q": dq[k], "tau": dq[0]})
        assert np.allclose(many.by_q[k], one.by_q, rtol=1e-12)
    along_many = product(q[0], v[0], tau[0], direction={"q": dq})
    assert along_many.by_v.shape == dq.shape
    assert np.allclose(along_many.by_v[2], product(q[0], v[0], tau[0], direction={"q": dq[2]}).by_v)
    # What is said of loops is said of this position.
    said = product("singularity_margin", q[0], v[0], tau[0], direction={"q": dq[0]}) \
        if not robot._core.is_tree else None
    if said is not None:
        assert said == product("singularity_margin", q[0], v[0], tau[0])


def test_direction_that_cannot_be_is_refused(arm):
    q = np.zeros(arm.nv)
    product = arm.forward_dynamics_hessian_product
    with pytest.raises(TypeError, match="direction is no dict, expected one of arrays by q, v, tau"):
        product(q, q, q, direction=q)
    with pytest.raises(TypeError, match="name in direction is 'vdot'.*expected one of q, v, tau"):
        product(q, q, q, direction={"vdot": q})
    with pytest.raises(ValueError, match=r"shape of direction\['v'\] is \(2,\), expected \(6,\)"):
        product(q, q, q, direction={"v": np.zeros(2)})
    with pytest.raises(ValueError, match="number of states of direction is 3, expected 2"):
        product(np.zeros((2, 6)), q, q, direction={"q": np.zeros((3, 6))})
    with pytest.raises(TypeError, match="argument 'direction' is given, expected one of q, v, tau"):
        arm.forward_dynamics(q, q, q, direction={"q": q})
    assert "direction" in arm.inverse_dynamics_hessian_product.__doc__


def test_arguments_that_a_problem_has_no_use_for_are_refused_by_name(arm):
    n, tip = arm.nv, arm.links[-1]
    q, numbers = np.zeros(n), np.ones(n)
    ends = [esp.EndEffector(tip, "3d")]
    for call, text in (
        (lambda: arm.inverse_dynamics(q, q, tau=numbers), "'tau' is given, expected one of q, v, vdot"),
        (lambda: arm.forward_dynamics(q, q, vdot=numbers), "'vdot' is given, expected one of q, v, tau"),
        (lambda: arm.mass_matrix(q, wrenches={tip: np.ones(6)}), "'wrenches' is given, .* of q "),
        (lambda: arm.mass_matrix(q, multipliers=numbers), "'multipliers' is given"),
        (lambda: arm.mass_matrix(np.zeros((3, n)), time_step=0.1), "'time_step' is given"),
        (lambda: arm.forward_dynamics(q, q, q, acceleration=np.zeros(3)), "'acceleration' is given"),
        (lambda: arm.forward_dynamics(q, q, q, measurements=q), "'measurements' is given"),
        (lambda: arm.forward_dynamics(q, q, q, end_effectors=ends), "end_effectors are given"),
        (lambda: arm.mass_matrix(q, inputs=[arm.joints[0]]), "inputs are given, expected none"),
        (lambda: arm.mass_matrix(q, sensors=[{"kind": "torque", "joint": arm.joints[0]}]),
         "sensors are given"),
        (lambda: arm.mass_matrix(q, groups={"g": [arm.joints[0]]}), "groups are given"),
        (lambda: arm.mass_matrix(q, symbolic="0"), "symbolic pivots are given"),
        (lambda: arm.forward_dynamics(q, q, q, variants=[arm]), "variants are given for one state"),
        (lambda: arm.jacobian(tip, q, frame="world", wrenches={}), "'wrenches' is given"),
    ):
        with pytest.raises(TypeError, match=text):
            call()


def test_arguments_that_a_problem_takes_change_its_answer(arm, random):
    x = arm.random_state(2)
    tip, ends = arm.links[-1], [esp.EndEffector(arm.links[-1], "3d")]
    wrench, three, weights = np.ones(6), np.ones(3), random.uniform(1, 2, arm.nv)
    tau = np.zeros(arm.nv)
    for problem, arrays, given, setup in (
        ("constrained_dynamics", (x.q, x.v, tau), {"acceleration": three}, {"end_effectors": ends}),
        ("constrained_dynamics", (x.q, x.v, tau), {"wrenches": {tip: wrench}}, {"end_effectors": ends}),
        ("operational_space", (x.q, x.v, tau), {"wrenches": {tip: wrench}}, {"end_effectors": ends}),
        ("bias_force", (x.q, x.v), {"wrenches": {tip: wrench}}, {}),
        ("step_derivatives", (x.q, x.v, tau), {"time_step": 0.1}, {}),
        ("inverse_dynamics_adjoint", (x.q, x.v, tau), {"multipliers": weights}, {}),
        ("design_derivatives", (x.q, x.v, tau), {"multipliers": weights}, {}),
        ("joint_wrenches", (x.q, x.v, tau), {"wrenches": {tip: wrench}}, {}),
    ):
        f = getattr(arm, problem)
        for algorithm in f.algorithms:
            found = [f(*arrays, algorithm=algorithm, **setup, **some) for some in (given, {})]
            a, b = (np.concatenate([np.ravel(part) for part in (x.values() if isinstance(x, dict)
                                                                else [x])]) for x in found)
            assert not np.array_equal(a, b), (problem, algorithm, given)


def test_out_of_a_name_that_is_no_result_is_refused(arm):
    q = np.zeros((2, arm.nv))
    for given in (q, q[0]):
        with pytest.raises(esp.UnknownName, match="name in out is 'kin', expected one of kinetic"):
            arm.energy(given, given, out={"kin": np.zeros(2)})
    # What derivatives say of themselves is written nowhere unless it is asked for.
    leg = esp.load(esp.robot_file("four_bar_leg.yaml"))
    x = leg.random_state(1)
    with pytest.raises(esp.UnknownName, match="name in out is 'singularity_margin'"):
        leg.forward_dynamics_derivatives(x.q, x.v, x.v, out={"singularity_margin": np.zeros(1)})


def test_jacobian_in_other_frames_is_written_to_out(arm):
    x, tip = arm.random_state(3), arm.links[-1]
    out = np.full((6, arm.nv), np.nan)
    assert arm.jacobian(tip, x.q, frame="world", out=out) is out
    assert np.array_equal(out, arm.jacobian(tip, x.q, frame="world"))
    with pytest.raises(esp.SizeMismatch, match=r"shape of out is \(6, 2\), expected \(6, 6\)"):
        arm.jacobian(tip, x.q, frame="world", out=np.zeros((6, 2)))
    with pytest.raises(TypeError, match="out is no array of float64 or float32"):
        arm.jacobian(tip, x.q, frame="world", out=[1])
