"""Vector environments move many robots."""

import warnings

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


def test_episodes_begin_with_the_observation_of_their_start(pendulum):
    """gymnasium's NEXT_STEP: the action that was chosen for the old episode's end does nothing."""
    starts = []

    def initial(random, n):
        q, v = random.uniform(-1, 1, (n, 2)), random.uniform(-1, 1, (n, 2))
        starts.append((q, v))
        return q, v

    env = esp.VectorEnv(pendulum, 3, horizon=2, initial=initial,
                        reward=lambda q, v, u: np.sum(u, axis=1))
    env.reset(seed=1)
    env.reset([False, True, False])  # one episode ends a step later
    u = np.ones((3, 2))
    ends = [env.step(u)[3].tolist()]
    observation, reward, terminated, truncated, info = env.step(u)
    ends.append(truncated.tolist())
    assert ends == [[False] * 3, [True] * 3]
    observation, reward, terminated, truncated, info = env.step(u)
    q, v = starts[-1]
    assert np.array_equal(observation, np.hstack([q, v])) and len(starts) == 3
    assert not reward.any() and not terminated.any() and not truncated.any()
    observation, reward, *_ = env.step(u)
    assert reward.tolist() == [2, 2, 2] and not np.array_equal(observation, np.hstack([q, v]))
    assert env.step(u)[3].all()  # two steps after the start


def test_restarts_do_not_change_the_bits_of_others(tello):
    """Nor free a neighbour that stands still with open loops."""
    open_loops = tello.state().q + np.concatenate([np.zeros(7), 0.3 * np.arange(tello.nq - 7)])

    def start(random, n):
        q = np.tile(tello.state().q, (n, 1))
        if n == 5:
            q[4] = open_loops
        return q, random.uniform(-0.1, 0.1, (n, tello.nv))

    def run(ends):
        step = iter(range(1, 100))
        env = esp.VectorEnv(
            tello, 5, initial=start, autoreset=False,
            done=lambda q, v: np.array([False, ends and next(step) % 4 == 0, *[False] * 3]),
        )
        env.reset(seed=1)
        actions = np.random.default_rng(0)
        for _ in range(12):
            over = env.step(actions.uniform(-1, 1, (5, tello.nv)))[2]
            if over[1]:
                env.reset(over & [True, True, True, True, False])
        return env

    a, b = run(False), run(True)
    others = [0, 2, 3, 4]
    assert np.array_equal(a.q[others], b.q[others]) and np.array_equal(a.v[others], b.v[others])
    assert not np.array_equal(a.q[1], b.q[1])
    assert a._run.status.tolist() == b._run.status.tolist() == [0, 0, 0, 0, 2]


def test_what_starts_and_ends_robots_is_looked_at(pendulum):
    def env(**options):
        return esp.VectorEnv(pendulum, 3, **options)

    name = pendulum.coordinates[0]
    with pytest.raises(esp.DuplicateName, match=f"actuated joint '{name}' is given twice"):
        env(actuated=[name, pendulum.coordinates[1], name])
    with pytest.raises(TypeError, match="actuated joint is 3, expected a name"):
        env(actuated=[3])
    for mask in ([0, 1, 2], [1, 0, 0], ["a", "b", "c"], [0.5, 0, 0]):
        with pytest.raises(TypeError, match="mask is .*, expected 3 times True or False"):
            env().reset(mask)
    ones = np.ones((3, 2))
    for q, v, error, text in (
        (np.full((3, 2), np.nan), ones, esp.InvalidState, r"initial q\[0, 0\] is nan"),
        (ones, [[0, 0], [0, np.inf], [0, 0]], esp.InvalidState, r"initial v\[1, 1\] is inf"),
        (np.ones((3, 1)), ones, esp.SizeMismatch, r"shape of initial q is \(3, 1\), expected \(3, 2\)"),
        (ones[:2], ones, esp.SizeMismatch, r"shape of initial q is \(2, 2\)"),
    ):
        with pytest.raises(error, match=text):
            env(initial=lambda random, n, q=q, v=v: (q, v)).reset()
    for wrong in (lambda random, n: ones, lambda random, n: (ones, ones, ones), lambda random, n: 3):
        with pytest.raises(TypeError, match=r"initial gave .*, expected two arrays, \(q, v\)"):
            env(initial=wrong).reset()
    one_for_all = env(initial=lambda random, n: ([0.1, 0.2], [0, 0])).reset()[0]
    assert one_for_all.tolist() == [[0.1, 0.2, 0, 0]] * 3
    with pytest.raises(esp.SizeMismatch, match=r"shape of reward is \(2,\), expected \(3,\)"):
        env(reward=lambda q, v, u: [1, 2]).step(ones)
    with pytest.raises(esp.SizeMismatch, match=r"shape of done is \(3, 1\), expected \(3,\)"):
        env(done=lambda q, v: np.zeros((3, 1))).step(ones)


@pytest.mark.parametrize("field, value, text", [
    ("damping", 5.0, "damping decays with .* expected steps below"),
    ("friction", 10.0, "dry friction, which drives it about rest, .* a friction_rate above"),
])
def test_what_the_integrator_does_not_bear_is_told(field, value, text):
    arm = esp.read(esp.robot_file("ur5.urdf"))
    for joint in arm.joints.values():
        if joint.type in ("revolute", "continuous"):
            setattr(joint, field, value)
    robot = arm.compile()
    with pytest.warns(UserWarning, match=f"joint 'wrist_3.*': {text}"):
        esp.VectorEnv(robot, 2, dt=1e-3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        esp.VectorEnv(robot, 2, dt=1e-7)
        esp.VectorEnv(robot, 2, dt=1e-3, passive=False)
        if field == "friction":
            esp.VectorEnv(robot, 2, dt=1e-3, friction_rate=1e4)
