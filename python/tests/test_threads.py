"""Objects that threads share: one at a time, others wait."""

import threading

import espalier as esp
import numpy as np
import pytest


def in_threads(work, arguments):
    threads = [threading.Thread(target=work, args=a) for a in arguments]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_one_task_control_answers_each_thread_as_if_alone(tello):
    q, v = tello.random_states(4)
    control = tello.task_control([{"name": "posture"}])
    alone = [control(q[k], v[k]) for k in range(4)]
    wrong = []

    def work(k):
        for _ in range(60):
            answer = control(q[k], v[k])
            if not (
                np.array_equal(answer.inputs, alone[k].inputs)
                and np.array_equal(answer.forces, alone[k].forces)
            ):
                wrong.append(k)

    in_threads(work, [(k,) for k in range(4)])
    assert wrong == []


def test_two_threads_move_a_vector_env_as_one_does(models):
    robot = models("tello.yaml", root="fixed")
    zero = np.zeros((32, robot.nv))

    def started():
        env = esp.VectorEnv(robot, 32, dt=1e-4, autoreset=False, threads=1)
        env.reset(seed=1)
        return env

    def steps(env, number):
        for _ in range(number):
            env.step(zero)

    one, two = started(), started()
    steps(one, 120)
    in_threads(steps, [(two, 60), (two, 60)])
    np.testing.assert_array_equal(two.q, one.q)


def test_task_control_refuses_open_loops(models):
    robot = models("rod_ankle.yaml")
    control = robot.task_control([{"name": "a"}])
    state = robot.state()
    control(state.q, state.v)
    with pytest.raises(esp.InvalidState, match="loop"):
        control(state.q + 0.05 * np.arange(robot.nq), state.v)
