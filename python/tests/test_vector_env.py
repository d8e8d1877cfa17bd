"""Vector environments move many robots."""

import numpy as np
import pytest

import espalier as esp


@pytest.fixture
def pendulum(models):
    return models("double_pendulum.yaml")


def test_robots_move_as_one_robot_does_alone(pendulum, random):
    q, v = random.uniform(-1, 1, (12, 2)), random.uniform(-1, 1, (12, 2))
    env = esp.VectorEnv(pendulum, 12, dt=1e-3, initial=lambda r, n: (q[:n], v[:n]),
                        integrator="rk4")
    env.reset()
    actions = random.uniform(-1, 1, (12, 2))
    for _ in range(20):
        env.step(actions)
    for k in (0, 5, 11):
        run = pendulum.simulate(pendulum.state(q=q[k], v=v[k]), duration=0.02, dt=1e-3,
                                tau=actions[k])
        # Packs have a sine of their own; twenty steps amplify a few units in the last place.
        assert np.allclose(env.q[k], run.q[-1], atol=1e-12)


def test_reset_by_mask_leaves_the_others_alone(pendulum):
    env = esp.VectorEnv(pendulum, 6)
    env.reset(seed=3)
    for _ in range(5):
        env.step(env.sample())
    q, v = env.q, env.v
    mask = np.array([True, False, False, True, False, False])
    observation, info = env.reset(mask)
    assert np.array_equal(env.q[~mask], q[~mask]) and np.array_equal(env.v[~mask], v[~mask])
    assert not np.array_equal(env.v[mask], v[mask]) and not env.q[mask].any()
    assert observation.shape == (6, 4) and info == {}


def test_seed_makes_the_same_start(pendulum):
    a, b = esp.VectorEnv(pendulum, 4), esp.VectorEnv(pendulum, 4)
    assert np.array_equal(a.reset(seed=5)[0], b.reset(seed=5)[0])
    assert not np.array_equal(a.reset(seed=5)[0], b.reset(seed=6)[0])


def test_horizon_and_done_end_episodes_which_start_anew(pendulum):
    env = esp.VectorEnv(
        pendulum, 3, dt=1e-2, horizon=4,
        done=lambda q, v: np.array([True, False, False]),
        reward=lambda q, v, u: np.sum(u, axis=1),
    )
    env.reset(seed=1)
    _, reward, terminated, truncated, info = env.step(np.ones((3, 2)))
    assert reward.tolist() == [2, 2, 2] and info["status"].tolist() == [0, 0, 0]
    assert terminated.tolist() == [True, False, False] and not truncated.any()
    for _ in range(3):
        truncated = env.step(np.zeros((3, 2)))[3]
    assert truncated.tolist() == [False, True, True]
    env.step(np.zeros((3, 2)))
    assert np.max(np.abs(env.q)) < 0.01  # all of them began again: one step from the neutral state


def test_actuated_joints_alone_take_actions(pendulum):
    name = pendulum.coordinates[1]
    env = esp.VectorEnv(pendulum, 2, actuated=[name])
    env.reset()
    assert env.action_size == 1
    env.step(np.zeros((2, 1)))
    with pytest.raises(ValueError, match=r"shape of actions is \(2, 2\), expected \(2, 1\)"):
        env.step(np.zeros((2, 2)))
    with pytest.raises(KeyError, match="actuated joint"):
        esp.VectorEnv(pendulum, 2, actuated=["none"])
    with pytest.raises(ValueError, match="mask"):
        env.reset([True])


def test_robot_that_leaves_the_numbers_is_terminated_alone(pendulum):
    def start(random, n):
        v = np.zeros((n, 2))
        if n == 3:
            v[1] = 1e200
        return np.zeros((n, 2)), v

    env = esp.VectorEnv(pendulum, 3, initial=start, autoreset=False)
    env.reset()
    for _ in range(3):
        _, _, terminated, _, info = env.step(np.zeros((3, 2)))
    assert terminated.tolist() == [False, True, False] and info["status"][1] == 1
