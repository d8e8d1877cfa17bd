"""Python threads share models; what has a workspace or robots serves them one after the other."""

import threading

import numpy as np
import pytest

import espalier as esp


def in_threads(count, work):
    errors = []

    def guarded(k):
        try:
            work(k)
        except BaseException as error:  # noqa: BLE001: handed on below
            errors.append(error)

    threads = [threading.Thread(target=guarded, args=(k,)) for k in range(count)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    if errors:
        raise errors[0]


def test_eight_threads_share_a_model(tello):
    q, v = tello.random_states(8)
    expected = [tello.forward_dynamics(q[k], v[k]) for k in range(8)]

    def work(k):
        for _ in range(200):
            assert np.array_equal(tello.forward_dynamics(q[k], v[k]), expected[k])

    in_threads(8, work)


def test_eight_threads_share_an_algorithm_object(tello):
    algo = tello.algorithm("dense")  # long enough for the lock to be let go
    q, v = tello.random_states(8)
    expected = [algo(q[k], v[k]) for k in range(8)]

    def work(k):
        for _ in range(100):
            assert np.array_equal(algo(q[k], v[k]), expected[k])

    in_threads(8, work)


def test_eight_threads_of_batches(tello):
    q, v = tello.random_states(64)
    expected = tello.forward_dynamics(q, v)
    shared = tello.algorithm("c-aba", threads=2)

    def work(k):
        own = tello.algorithm("c-aba", threads=2)
        for _ in range(20):
            assert np.array_equal(own(q, v), expected)
            assert np.array_equal(shared(q, v), expected)

    in_threads(8, work)


def test_eight_threads_of_contact_batches(models):
    """Each its own, and one that all call: it serves them one after the other."""
    robot = models("solo12.urdf", root="floating")
    feet = {f"{end}_{side}_foot": 0.016 for end in ("front", "hind") for side in ("left", "right")}
    q = np.tile(robot.state().q, (80, 1))  # two pieces: both threads work
    q[:, 2] = 0.33

    def batch():
        return esp.ContactBatch(robot, balls=feet, threads=2)

    def fall(of, seed):
        random = np.random.default_rng(seed)
        of.start(q, random.uniform(-0.5, 0.5, (80, robot.nv)))
        of.randomize(friction=random.uniform(0.5, 1.2, 80),
                     masses={"trunk": random.uniform(0.8, 1.2, 80)},
                     ground=random.uniform(-0.01, 0.0, 80))
        of.step(2e-3, steps=30)
        return of.q, of.forces

    expected = [fall(batch(), seed) for seed in range(4)]
    shared = batch()
    shared.start(q)

    def work(k):
        own = batch()
        for seed in range(4):
            moved, forces = fall(own, seed)
            assert np.array_equal(moved, expected[seed][0])
            assert np.array_equal(forces, expected[seed][1])
            shared.randomize(ground=np.full(80, -1e-3 * k))
            shared.step(2e-3, steps=2)
            assert shared.q.shape == (80, robot.nq) and shared.forces.shape == (80, 5, 3)
            assert shared.status.shape == shared.residuals.shape == (80,)

    in_threads(8, work)
    assert shared.t == pytest.approx(8 * 4 * 2 * 2e-3)


def test_models_are_compiled_and_laws_registered_by_eight_threads():
    def work(k):
        robot = esp.load(esp.robot_file("tello.yaml"))

        @esp.mechanism
        class InThread:
            independent = 1

            def gamma(self, y):
                return 2 * y[0]

        assert robot.nv == 16

    in_threads(8, work)


def test_other_threads_run_while_cpp_works(tello):
    """The lock is let go in long calls: a counter goes on meanwhile."""
    q, v = tello.random_states(2000)
    algo = tello.algorithm("kkt", threads=1)
    counted = [0]
    done = threading.Event()

    def count():
        while not done.is_set():
            counted[0] += 1

    thread = threading.Thread(target=count, daemon=True)
    thread.start()
    try:
        before = counted[0]
        algo(q, v)
        after = counted[0]
    finally:
        done.set()
        thread.join()
    assert after > before + 10


def test_one_task_control_answers_each_thread_as_if_alone(tello):
    q, v = tello.random_states(4)
    control = tello.task_control([{"name": "posture"}])
    alone = [control(q[k], v[k]) for k in range(4)]

    def work(k):
        for _ in range(60):
            answer = control(q[k], v[k])
            assert np.array_equal(answer.inputs, alone[k].inputs)
            assert np.array_equal(answer.forces, alone[k].forces)

    in_threads(4, work)


def test_two_threads_move_a_vector_env_as_one_does(models):
    robot = models("tello.yaml", root="fixed")
    zero = np.zeros((32, robot.nv))

    def started():
        env = esp.VectorEnv(robot, 32, dt=1e-4, autoreset=False, threads=1)
        env.reset(seed=1)
        return env

    one, two = started(), started()
    for _ in range(120):
        one.step(zero)

    def work(_):
        for _ in range(60):
            two.step(zero)

    in_threads(2, work)
    np.testing.assert_array_equal(two.q, one.q)
