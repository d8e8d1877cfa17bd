"""Arrays in, arrays out: shapes, strides, dtypes, batches."""

import warnings

import numpy as np
import pytest
from conftest import ROBOTS

import espalier as esp


def bound(model, **options):
    return model.algorithm("c-aba", **options)


def test_out_is_written_and_returned(arm):
    x = arm.random_state(1)
    tau = np.ones(arm.nv)
    out = np.full(arm.nv, np.nan)
    assert arm.forward_dynamics(x.q, x.v, tau, out=out) is out
    assert np.array_equal(out, arm.forward_dynamics(x.q, x.v, tau))


def test_strided_input_and_output_are_taken(arm):
    x = arm.random_state(1)
    wide = np.zeros((arm.nq, 3))
    wide[:, 1] = x.q
    tau = np.arange(2.0 * arm.nv)[::-2]
    out = np.zeros((arm.nv, 2))
    arm.forward_dynamics(wide[:, 1], x.v, tau, out=out[:, 1])
    assert np.array_equal(out[:, 1], arm.forward_dynamics(x.q, x.v, tau.copy()))
    assert not out[:, 0].any()


def test_lists_integers_and_other_byte_order_are_numbers(arm):
    x = arm.random_state(1)
    tau = [1] * arm.nv
    expected = arm.forward_dynamics(x.q, x.v, np.ones(arm.nv))
    assert np.array_equal(arm.forward_dynamics(list(x.q), x.v, tau), expected)
    assert np.array_equal(arm.forward_dynamics(x.q.astype(">f8"), x.v, tau), expected)


def test_float32_is_taken(arm):
    x = arm.random_state(1)
    q, v = x.q.astype(np.float32), x.v.astype(np.float32)
    tau = np.zeros(arm.nv)
    expected = arm.forward_dynamics(q.astype(float), v.astype(float), tau)
    assert np.array_equal(arm.forward_dynamics(q, v, tau), expected)


def test_arguments_by_name_and_missing_ones_are_zero(arm):
    x = arm.random_state(1)
    all_of_them = arm.forward_dynamics(x.q, np.zeros(arm.nv), np.zeros(arm.nv))
    assert np.array_equal(arm.forward_dynamics(q=x.q), all_of_them)
    assert np.array_equal(arm.forward_dynamics(x.q, tau=np.zeros(arm.nv)), all_of_them)


@pytest.mark.parametrize("robot", ROBOTS)
def test_batch_agrees_with_single_calls(models, robot):
    model = models(robot)
    n = 37  # no multiple of what a pack holds
    q, v = model.random_states(n)
    tau = np.random.default_rng(1).uniform(-1, 1, (n, model.nv))
    for problem in (model.forward_dynamics, model.inverse_dynamics):
        batch = problem(q, v, tau)
        for k in range(n):
            one = problem(q[k], v[k], tau[k])
            # Packs have a sine of their own: a few units in the last place, amplified as far as
            # the dynamics are near to singular.
            assert np.allclose(batch[k], one, rtol=1e-9, atol=1e-9 * (1 + np.abs(one).max()))


def test_batch_of_results_with_several_names(tello):
    q, v = tello.random_states(5)
    got = tello.energy(q, v)
    assert got.kinetic_energy.shape == (5,)
    assert tello.mass_matrix(q).shape == (5, tello.nv, tello.nv)
    assert tello.jacobian("left.knee_ankle.foot", q).shape == (5, 6, tello.nv)
    assert tello.forward_kinematics("torso", q).shape == (5, 19)
    one = tello.energy(q[3], v[3])
    assert one.kinetic_energy == pytest.approx(got["kinetic_energy"][3], rel=1e-12)
    kinetic, potential = one.unpack()
    assert isinstance(kinetic, float) and isinstance(potential, float)


def test_batch_of_an_algorithm_without_packs_runs_in_a_loop(tello):
    q, v = tello.random_states(40)
    algo = tello.algorithm("sparse-forward")
    got = algo(q, v, np.zeros((40, tello.nv)))
    assert algo.no_packs
    for k in (0, 17, 39):
        assert np.array_equal(got[k], algo(q[k], v[k], np.zeros(tello.nv)))


def test_batch_does_not_depend_on_threads_or_neighbours(tello):
    q, v = tello.random_states(100)
    tau = np.ones((100, tello.nv))
    one = bound(tello, threads=1)(q, v, tau)
    two = bound(tello, threads=2)(q, v, tau)
    assert np.array_equal(one, two)
    assert np.array_equal(bound(tello)(q[50:53], v[50:53], tau[50:53]), one[50:53])


def test_batch_repeats_what_is_of_one_state(arm):
    q, v = arm.random_states(9)
    tau = np.ones(arm.nv)
    assert np.array_equal(
        arm.forward_dynamics(q, v, tau), arm.forward_dynamics(q, v, np.tile(tau, (9, 1)))
    )


def test_batch_takes_strided_arrays_and_writes_to_out(arm):
    q, v = arm.random_states(12)
    wide = np.repeat(q, 2, axis=0)
    tau = np.zeros((12, arm.nv), order="F")
    expected = arm.forward_dynamics(q, v, np.zeros((12, arm.nv)))
    out = np.zeros((12, arm.nv))
    assert arm.forward_dynamics(wide[::2], v, tau, out=out) is out
    assert np.array_equal(out, expected)
    apart = np.zeros((24, arm.nv))
    arm.forward_dynamics(q, v, tau, out=apart[1::2])
    assert np.array_equal(apart[1::2], expected) and not apart[::2].any()


def test_batch_of_floats_has_the_digits_of_floats(models):
    model = models("humanoid.urdf", root="floating")
    q, v = model.random_states(32)
    tau = np.zeros_like(v)
    exact = model.forward_dynamics(q, v, tau)
    f = np.float32
    rough = model.forward_dynamics(q.astype(f), v.astype(f), tau.astype(f))
    assert rough.dtype == np.float32
    scale = np.abs(exact).max(axis=1, keepdims=True)
    assert np.max(np.abs(rough - exact) / scale) < 1e-4  # docs/batches.md: floats
    named = model.forward_dynamics(q, v, tau, precision="float")
    assert named.dtype == np.float64 and not np.array_equal(named, exact)


def test_empty_batch_is_empty(arm):
    got = arm.forward_dynamics(np.zeros((0, arm.nq)), np.zeros((0, arm.nv)))
    assert got.shape == (0, arm.nv)


def test_wrenches_by_link_and_by_array(arm):
    x = arm.random_state(1)
    link = arm.tips[0]
    w = np.arange(6.0)
    table = np.zeros((len(arm.links), 6))
    table[arm.links.index(link)] = w
    by_name = arm.inverse_dynamics(x.q, x.v, wrenches={link: w})
    assert np.array_equal(by_name, arm.inverse_dynamics(x.q, x.v, wrenches=table))
    free = arm.inverse_dynamics(x.q, x.v)
    # Principle of virtual work: the wrench acts on the rates as J^T w.
    J = arm.jacobian(link, x.q)
    assert np.allclose(free - by_name, J.T @ w, atol=1e-10)
    many = arm.inverse_dynamics(np.tile(x.q, (3, 1)), x.v, wrenches={link: w})
    assert np.allclose(many, by_name, rtol=1e-12)
    each = np.tile(table, (3, 1, 1))
    each[2] = 0
    got = arm.inverse_dynamics(np.tile(x.q, (3, 1)), x.v, wrenches=each)
    assert np.allclose(got, [by_name, by_name, free], rtol=1e-12)


def test_gravity_that_is_no_number_is_named(arm):
    with pytest.raises(esp.InvalidModel, match=r"gravity\[2\] is nan, expected a finite number"):
        arm.forward_dynamics(arm.state().q, np.zeros(arm.nv), gravity=[0, 0, np.nan])


def test_gravity_can_be_another_for_single_calls_and_batches(arm):
    x = arm.random_state(1)
    algo = arm.algorithm("c-rnea", "inverse-dynamics", gravity=[0, 0, 0])
    assert np.allclose(algo(x.q), 0, atol=1e-12)
    assert np.allclose(algo(np.tile(x.q, (3, 1))), 0, atol=1e-12)
    algo.gravity = [0, 0, -9.81]
    assert np.array_equal(algo(x.q), arm.inverse_dynamics(x.q))
    assert np.allclose(algo(np.tile(x.q, (3, 1)))[1], arm.inverse_dynamics(x.q), rtol=1e-10)


def test_variants_of_a_robot_in_one_batch(arm):
    heavy = arm.description
    for link in heavy.links.values():
        link.mass *= 2
    heavy = heavy.compile()
    q, v = arm.random_states(6)
    algo = arm.algorithm("c-rnea", "inverse-dynamics", variants=[arm, heavy])
    which = [0, 1, 0, 1, 1, 0]
    got = algo(q, v, variant=which)
    for k, variant in enumerate(which):
        expected = (arm, heavy)[variant].inverse_dynamics(q[k], v[k])
        assert np.allclose(got[k], expected, rtol=1e-10, atol=1e-10)


def test_status_tells_of_each_state(tello):
    q, v = tello.random_states(6)
    q[2] += 0.5  # open
    v[4] = np.nan
    with pytest.raises(esp.InvalidState, match="state 2 of the batch is loop open"):
        tello.forward_dynamics(q, v)
    status = np.zeros(6, dtype=np.uint8)
    got = tello.forward_dynamics(q, v, status=status)
    assert status.tolist() == [0, 0, 2, 0, 1, 0]
    assert np.isnan(got[4]).any() and np.isfinite(got[[0, 1, 3, 5]]).all()


@pytest.mark.parametrize("algorithm", ["c-aba", "minimal-form", "dense"])
def test_results_that_overlap_what_is_read_are_as_those_beside_it(arm, algorithm):
    n = 101
    q, v = arm.random_states(n)
    tau = np.random.default_rng(1).uniform(-1, 1, (n, arm.nv))
    expected = arm.forward_dynamics(q, v, tau, algorithm=algorithm)
    for role, array in enumerate((q, v, tau)):
        # Behind, in place, before; and inside one row, for all states.
        for read, write in ((slice(0, n), slice(1, n + 1)), (slice(0, n), slice(0, n)),
                            (slice(1, n + 1), slice(0, n))):
            memory = np.zeros((n + 1, arm.nv))
            memory[read] = array
            given = [q, v, tau]
            given[role] = memory[read]
            out = memory[write]
            assert arm.forward_dynamics(*given, out=out, algorithm=algorithm) is out
            assert np.array_equal(out, expected), (role, read, write)
    memory = np.zeros((n, arm.nv))
    memory[3] = tau[3]
    got = arm.forward_dynamics(q, v, memory[3], out=memory, algorithm=algorithm)
    assert np.array_equal(got, arm.forward_dynamics(q, v, tau[3].copy(), algorithm=algorithm))


def test_positions_may_be_replaced_where_loops_are_looked_at(models):
    leg = models("four_bar_leg.yaml")
    q, v = leg.random_states(33)
    memory = np.empty(33 * leg.nq)
    held = memory.reshape(33, leg.nq)
    held[:] = q
    out = memory[: 33 * leg.nv].reshape(33, leg.nv)
    assert np.array_equal(leg.forward_dynamics(held, v, out=out), leg.forward_dynamics(q, v))


def test_wrenches_that_share_memory_with_the_result_are_read_first(arm):
    n, links = 40, len(arm.links)
    q, v = arm.random_states(n)
    memory = np.random.default_rng(1).uniform(-1, 1, n * links * 6)
    wrenches = memory.reshape(n, links, 6)
    expected = arm.forward_dynamics(q, v, wrenches=wrenches.copy())
    out = memory[7 : 7 + n * arm.nv].reshape(n, arm.nv)
    assert np.array_equal(arm.forward_dynamics(q, v, wrenches=wrenches, out=out), expected)


@pytest.mark.parametrize("batch", [False, True])
def test_each_result_has_an_array_of_its_own(arm, batch):
    q, v = arm.random_states(4)
    if not batch:
        q, v = q[0], v[0]
    memory = np.zeros((*q.shape[:-1], arm.nv, arm.nv))
    with pytest.raises(esp.InvalidModel, match="two arrays of out share memory"):
        arm.inverse_dynamics_derivatives(q, v, v, out={"dtau_dq": memory, "dtau_dv": memory})
    apart = np.zeros((*q.shape[:-1], arm.nv, arm.nv, 2))  # between one another
    out = {"dtau_dq": apart[..., 0], "dtau_dv": apart[..., 1]}
    got = arm.inverse_dynamics_derivatives(q, v, v, out=out)
    for name in out:
        assert got[name] is out[name]
        assert np.array_equal(out[name], arm.inverse_dynamics_derivatives(name, q, v, v))


def test_masked_entries_are_no_numbers(arm):
    x = arm.random_state(1)
    masked = np.ma.masked_array(x.q, [False, True, False, False, False, False])
    text = "number of masked entries of q is 1, expected 0"
    with pytest.raises(TypeError, match=text):
        arm.forward_dynamics(masked, x.v)
    with pytest.raises(TypeError, match=text):
        arm.forward_dynamics(masked[None, :], x.v)
    with pytest.raises(TypeError, match=text):
        arm.state(q=masked)
    with pytest.raises(TypeError, match=text):
        x.q = masked
    with pytest.raises(TypeError, match="masked entries of tau is 1"):
        arm.simulate(x, duration=0.1, dt=0.01, tau=masked)
    # None masked: an array like another.
    expected = arm.forward_dynamics(x.q, x.v)
    assert np.array_equal(arm.forward_dynamics(np.ma.masked_array(x.q), x.v), expected)
    assert np.array_equal(arm.forward_dynamics(masked.filled(x.q[1]), x.v), expected)


def test_what_is_for_batches_alone_is_refused_with_one_state(arm):
    x = arm.random_state(1)
    for name, value in (("status", np.zeros(1, dtype=np.uint8)), ("variant", [0])):
        with pytest.raises(TypeError, match=f"{name} is given for one state"):
            arm.forward_dynamics(x.q, x.v, **{name: value})
    q, v = arm.random_states(2)
    algorithm = arm.algorithm("c-aba", variants=[arm, arm])
    with pytest.raises(esp.UnknownName, match=r"variant\[1\] is 0.5, expected a whole number"):
        algorithm(q, v, variant=[0, 0.5])


# The same on trees and on loops.


def called(model, problem):
    """What a problem gives for positions alone, or None."""
    try:
        return getattr(model, problem.replace("-", "_"))(model.random_state(1).q)
    except (esp.Unsupported, esp.UnknownName, esp.SizeMismatch, TypeError):
        return None  # asks for more than arrays, or for another robot


def test_the_type_of_a_result_does_not_depend_on_the_robot(models, arm):
    loops = models("four_bar_leg.yaml")
    pendulum = esp.from_dict({
        "name": "pendulum", "links": {"ceiling": {}, "rod": {"mass": 1, "com": [0, 0, -1]}},
        "joints": {"hinge": {"type": "revolute", "parent": "ceiling", "child": "rod",
                             "axis": [0, 1, 0]}},
    }).compile()
    compared = 0
    # Their results are named after links and joints, or after what is measured.
    by_part = {"jacobian", "joint-wrenches", "kinematics-derivatives", "subsystem-matrices",
               "sensor-dynamics"}
    for problem in esp.problems():
        given = [called(model, problem) for model in (arm, loops, pendulum)]
        if any(x is None for x in given):
            continue
        assert len({isinstance(x, dict) for x in given}) == 1, problem
        if isinstance(given[0], dict) and problem not in by_part:
            assert list(given[0]) == list(given[1]) == list(given[2]), problem
        assert not isinstance(given[1], dict) or "singularity_margin" not in given[1], problem
        compared += 1
    assert compared >= 20
    assert list(pendulum.joint_wrenches(np.zeros(1), np.zeros(1), np.zeros(1))) == ["wrench of hinge"]


def test_margin_of_derivatives_is_given_by_name(models):
    leg = models("four_bar_leg.yaml")
    q, v = leg.random_states(5)
    gradient = leg.design_derivatives(q[0], v[0], v[0])
    assert isinstance(gradient, np.ndarray)
    assert np.array_equal(gradient, leg.design_derivatives("design_gradient", q[0], v[0], v[0]))
    margin = leg.design_derivatives("singularity_margin", q[0], v[0], v[0])
    assert 0 < margin <= leg.examine(q[0]).margin * (1 + 1e-9)  # a lower bound
    assert leg.design_derivatives("near_dead_point", q[0], v[0], v[0]) == 0
    margins = leg.design_derivatives("singularity_margin", q, v, v)
    assert margins.shape == (5,) and margins[0] == pytest.approx(margin, rel=1e-9)
    assert leg.design_derivatives(q, v, v).shape == (5, len(gradient))
    by_name = leg.inverse_dynamics_derivatives(q[0], v[0], v[0])
    assert "singularity_margin" not in by_name and len(by_name.unpack()) == len(by_name)


def test_near_a_dead_point_derivatives_warn():
    """A crank-rocker whose rocker leads, its coupler nearly in line with its crank."""
    rods = {"crank": 0.2, "coupler": 0.5, "rocker": 0.4}

    def revolute(parent, child, x, **more):
        return {"type": "revolute", "parent": parent, "child": child, "axis": [0, 0, 1],
                "xyz": [x, 0, 0], **more}

    robot = esp.from_dict({
        "name": "crank-rocker",
        "links": {"ground": {}, **{
            name + "_link": {"mass": a, "com": [a / 2, 0, 0],
                             "inertia": [1e-4, a**3 / 12 + 1e-4, a**3 / 12 + 1e-4, 0, 0, 0]}
            for name, a in rods.items()}},
        "joints": {
            "crank": revolute("ground", "crank_link", 0),
            "coupler": revolute("crank_link", "coupler_link", rods["crank"]),
            "rocker": revolute("ground", "rocker_link", 0.6, independent=True)},
        "loops": {"pin": {
            "type": "revolute", "axis": [0, 0, 1],
            "predecessor": {"link": "coupler_link", "xyz": [rods["coupler"], 0, 0]},
            "successor": {"link": "rocker_link", "xyz": [rods["rocker"], 0, 0]}}},
    }).compile()
    # Of the coupler's end, seen from the crank's pivot: distance and direction.
    end = rods["crank"] + rods["coupler"] * np.exp(1e-9j)
    way = np.arccos((abs(end) ** 2 + 0.6**2 - rods["rocker"] ** 2) / (2 * abs(end) * 0.6))
    end *= np.exp(1j * (way - np.angle(end)))
    positions = {"crank": way - np.angle(rods["crank"] + rods["coupler"] * np.exp(1e-9j)),
                 "coupler": 1e-9, "rocker": np.angle(end - 0.6)}
    q = np.array([positions[name] for name in robot.joints])
    v = np.zeros(1)
    assert robot.design_derivatives("near_dead_point", q, v, v) == 1
    text = "near_dead_point is 1, expected 0"
    with pytest.warns(UserWarning, match=text) as caught:
        robot.design_derivatives(q, v, v)
    assert caught[0].filename == __file__
    batch = np.stack([q, q])
    with pytest.warns(UserWarning, match=text):
        robot.inverse_dynamics_derivatives(batch, v, v)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        robot.algorithm("adjoint-design")(q, v, v)  # checks nothing
        robot.inverse_dynamics_derivatives(batch, v, v, status=np.zeros(2, dtype=np.uint8))
        with pytest.raises(UserWarning, match=text):
            robot.design_derivatives(q, v, v)


def test_dlpack_goes_in_and_out(arm):
    class Foreign:  # what has nothing of an array but the protocol
        def __init__(self, array):
            self.array = array

        def __dlpack__(self, stream=None):
            return self.array.__dlpack__()

        def __dlpack_device__(self):
            return self.array.__dlpack_device__()

    x = arm.random_state(1)
    got = arm.forward_dynamics(Foreign(x.q), Foreign(x.v))
    assert np.array_equal(np.from_dlpack(got), arm.forward_dynamics(x.q, x.v))
