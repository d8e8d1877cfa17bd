"""Functions that workers import."""

import os
import time
from pathlib import Path

import numpy as np

import espalier as esp


def draw(parameters, random):
    """Depends on the item's own generator."""
    return {"x": parameters["a"] + random.normal(), "row": random.normal(size=3)}


def dynamics(robot, state, random):
    """A robot and a state of it."""
    q, v = state
    return robot.forward_dynamics(q, v, random.normal(size=robot.nv))


def fails_on_three(parameters):
    if parameters == 3:
        raise ValueError("three is refused")
    return float(parameters)


def dies_once(parameters):
    """Kills its process the first time that it has item 5."""
    number, folder = parameters
    mark = Path(folder) / "died"
    if number == 5 and not mark.exists():
        mark.write_text("")
        os._exit(9)
    return float(number) ** 2


def dies_always(parameters):
    if parameters == 2:
        os._exit(9)
    return float(parameters)


def slow(parameters, random):
    time.sleep(0.05)
    return {"value": parameters + random.normal()}


def pid_of(parameters):
    """Where it ran."""
    time.sleep(0.02)
    return os.getpid()


def robot_mass(robot):
    assert isinstance(robot, esp.Model)
    return np.float64(robot.mass)
