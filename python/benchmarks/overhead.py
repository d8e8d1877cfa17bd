#!/usr/bin/env python3
"""What Python adds: to single calls, and to batches of 4096 states.

overhead.py [ROBOT...]: beside Pinocchio's loop where its module is installed.
"""

import sys
import time

import numpy as np

import espalier as esp


def seconds(call, count, rounds=7):
    """Of one call in the processor's time of this thread, the best of some rounds."""
    best = float("inf")
    for _ in range(rounds):
        start = time.thread_time()
        for _ in range(count):
            call()
        best = min(best, (time.thread_time() - start) / count)
    return best


def single(robot, name, problem):
    """Nanoseconds: in C++, from Python, and what lies between them."""
    algo = robot.algorithm(name, problem)
    x = robot.random_state(1)
    tau, out = np.ones(robot.nv), np.empty(robot.nv)
    for _ in range(20):  # it settles whether to let the lock go
        algo(x.q, x.v, tau, out=out)
    q, v = x.q, x.v

    def calls():
        for _ in range(1000):
            algo(q, v, tau, out=out)

    def nothing():
        for _ in range(1000):
            pass

    inside = algo._seconds_per_solve(1000, 15)
    outside = (seconds(calls, 1, 60) - seconds(nothing, 1, 60)) / 1000
    return 1e9 * inside, 1e9 * outside


def batch(robot, name, problem, count, precision, threads):
    """Nanoseconds a state: of C++ with structures of arrays, and of Python with its own.

    On one thread both are the processor's time of that thread, which others do not lengthen.
    """
    clock = time.thread_time if threads == 1 else time.perf_counter
    algo = robot.algorithm(name, problem, precision=precision, check=False, threads=threads)
    x = robot.random_state(1)
    algo(x.q, x.v, np.ones(robot.nv))
    q, v, tau = (np.tile(a, (count, 1)) for a in (x.q, x.v, np.ones(robot.nv)))
    out = np.empty((count, robot.nv))
    algo(q, v, tau, out=out)
    outside = inside = float("inf")
    for _ in range(30):  # in turns, four calls each: the first finds the other's numbers in caches
        inside = min(inside, algo._seconds_per_batch(count, 4))
        for _ in range(4):
            start = clock()
            algo(q, v, tau, out=out)
            outside = min(outside, clock() - start)
    return 1e9 * inside / count, 1e9 * outside / count


def pinocchio_loop(path, robot, count):
    """Nanoseconds a state of a loop over Pinocchio's aba, or None."""
    try:
        import pinocchio
    except ImportError:
        return None
    model = pinocchio.buildModelFromUrdf(path)
    data = model.createData()
    q = pinocchio.neutral(model)
    zero = np.zeros(model.nv)
    return 1e9 * seconds(lambda: [pinocchio.aba(model, data, q, zero, zero)
                                  for _ in range(count)], 1) / count


def main():
    robots = sys.argv[1:] or ["ur5.urdf", "humanoid.urdf", "tello.yaml"]
    print("| robot | call | C++ | Python | overhead |\n| --- | --- | --- | --- | --- |")
    for name in robots:
        robot = esp.load(esp.robot_file(name), root="fixed" if name == "ur5.urdf" else "floating")
        for algorithm, problem in (("c-aba", "forward-dynamics"), ("c-rnea", "inverse-dynamics")):
            a, b = single(robot, algorithm, problem)
            print(f"| {robot.name} | {algorithm}, one state, ns | {a:.0f} | {b:.0f} | {b - a:.0f} |")
        for precision in ("double", "float"):
            for threads, where in ((1, "one core"), (0, "all cores")):
                a, b = batch(robot, "c-aba", "forward-dynamics", 4096, precision, threads)
                print(f"| {robot.name} | c-aba, 4096 states of {precision}s, {where}, ns a state | "
                      f"{a:.1f} | {b:.1f} | {100 * (b / a - 1):+.1f} % |")
        loop = pinocchio_loop(esp.robot_file(name), robot, 200) if name.endswith("urdf") else None
        if loop is not None:
            print(f"| {robot.name} | Pinocchio's loop, ns a state | | {loop:.0f} | |")


if __name__ == "__main__":
    main()
