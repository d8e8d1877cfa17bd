"""What functions of a model take besides states, and of whom."""

import numpy as np

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
