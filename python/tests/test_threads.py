"""Python threads share models; an algorithm object serves them one after the other."""

import threading

import numpy as np

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


def test_models_are_compiled_and_laws_registered_by_eight_threads():
    def work(k):
        robot = esp.load(esp.robot_file("tello.yaml"))

        @esp.mechanism
        class InThread:
            independent = 1

            def gamma(self, y):
                return 2 * y[0]

        assert robot.nv == 10

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
