"""What holds for every problem and algorithm that can be called with arrays: derivatives too."""

import numpy as np
import pytest

import espalier as esp


@pytest.fixture(scope="module", name="robot")
def robot_fixture():
    return esp.load(esp.robot_file("rod_ankle.yaml"))


@pytest.fixture(scope="module", name="x")
def x_fixture(robot):
    return robot.random_state(1)


def callable_algorithms(robot, x):
    """Those that answer for positions alone."""
    for entry in esp.algorithms(robot=robot):
        try:
            algorithm = robot.algorithm(entry["name"], problem=entry["problem"], check=False)
            algorithm(x.q)
        except (esp.Unsupported, esp.UnknownName, esp.SizeMismatch):
            continue  # asks for more than arrays: a world, families, contacts
        yield algorithm


WRONG_TYPES = [
    lambda n: np.zeros(n, dtype=complex), lambda n: np.zeros(n, dtype=bool), lambda n: "abc",
    lambda n: {"a": 1}, lambda n: object(), lambda n: [[1], [1, 2]],
]
WRONG_SHAPES = [
    lambda n: np.zeros(n - 1), lambda n: np.zeros(n + 1), lambda n: np.zeros((2, 2, n)),
    lambda n: 1.0, lambda n: np.zeros(0),
]


def test_wrong_types_and_shapes_name_the_argument(robot, x):
    problems = set()
    for algorithm in callable_algorithms(robot, x):
        if algorithm.problem in problems:
            continue
        problems.add(algorithm.problem)
        for name in algorithm.arguments:
            size = robot.nq if name == "q" else robot.nv
            for error, values in ((TypeError, WRONG_TYPES), (esp.SizeMismatch, WRONG_SHAPES)):
                for value in values:
                    words = {"q": x.q, name: value(size)}
                    with pytest.raises(error, match=rf"\b{name}\b"):
                        algorithm(**words)
    assert len(problems) >= 25 and "step-derivatives" in problems


def numbers(result):
    arrays = result.values() if hasattr(result, "values") else [result]
    return np.concatenate([np.ravel(np.asarray(a, dtype=float)) for a in arrays])


def test_not_a_number_leaves_nothing_behind(robot, x):
    """An algorithm keeps its workspace: NaN in one call must not reach the next one's answer."""
    compared = 0
    for algorithm in callable_algorithms(robot, x):
        before = numbers(algorithm(x.q)).copy()
        for name in algorithm.arguments:
            bad = np.full(robot.nq if name == "q" else robot.nv, np.nan)
            try:
                algorithm(**{"q": x.q, name: bad})
            except esp.Error:
                pass  # refused is right, too
            after = numbers(algorithm(x.q))
            assert np.array_equal(after, before, equal_nan=True), (algorithm.name, name)
        compared += 1
    assert compared >= 50
