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
