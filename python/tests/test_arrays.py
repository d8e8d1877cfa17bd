"""Arrays in, arrays out: shapes, strides, dtypes, batches."""

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
