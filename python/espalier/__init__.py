"""Espalier: dynamics of robots whose limbs contain gears, differentials, belts and four-bars.

>>> import espalier as esp
>>> import numpy as np
>>> robot = esp.load(esp.robot_file("mini_cheetah_geared.yaml"), root="floating")
>>> x = robot.random_state(1)
>>> vdot = robot.forward_dynamics(x.q, x.v, np.zeros(robot.nv))
>>> vdot.shape
(18,)
"""

from __future__ import annotations

import os as _os
from importlib import import_module as _import_module
from pathlib import Path as _Path
from typing import Any as _Any

from .comparison import Comparison
from .contact import ContactBatch
from .description import Composer, Description, from_dict, read, read_text
from .errors import (
    DuplicateName,
    Error,
    InvalidModel,
    InvalidState,
    PluginError,
    SingularMechanism,
    SizeMismatch,
    UnknownName,
    Unsupported,
)
from .host import Host, algorithms, default_host, load_plugin, plugins, problems
from .mechanism import Mechanism, mechanism, where
from .model import Model, load
from .parts import (
    ControlContact,
    ControlLimit,
    ControlMotor,
    ControlTask,
    EndEffector,
    Group,
    Input,
    Sensor,
)
from .problem import Problem
from .results import Results
from .simulation import Constant, Pd, Run
from .state import State
from .sweeps import Sweep, sweep
from .vector_env import VectorEnv
from .viewer import View

__all__ = [
    "Comparison", "Composer", "Constant", "ContactBatch", "ControlContact", "ControlLimit",
    "ControlMotor", "ControlTask", "Description", "DuplicateName", "EndEffector", "Error",
    "Group", "Host", "Input", "InvalidModel", "InvalidState", "Mechanism", "Model", "Pd",
    "PluginError", "Problem", "Results", "Run", "Sensor", "SingularMechanism", "SizeMismatch",
    "State", "Sweep", "UnknownName", "Unsupported", "VectorEnv", "View", "algorithms",
    "default_host", "from_dict", "load", "load_plugin", "mechanism", "plugins", "problems",
    "read", "read_text", "robot_file", "sweep", "where",
]


def __getattr__(name: str) -> _Any:
    """espalier.torch, which is imported when it is first asked for."""
    if name == "torch":
        return _import_module("espalier.torch")
    from .errors import unknown

    if name.startswith("_"):
        raise AttributeError(f"module 'espalier' has no attribute '{name}'")
    raise AttributeError(str(unknown("module 'espalier'", "attribute", name, [*__all__, "torch"])))


def robot_file(name: str) -> str:
    """Path of one of the robots that come with Espalier: ``robot_file("tello.yaml")``."""
    here = _Path(__file__).resolve().parent
    # In a wheel; beside an installed module (share/espalier); in the source tree.
    folders = [here / "robots"]
    for up in here.parents:
        folders += [up / "share" / "espalier" / "robots", up / "robots"]
    for folder in folders:
        if (folder / name).is_file():
            return _os.fspath(folder / name)
    raise UnknownName(f"robot_file: name is '{name}', expected a file of the folder robots")
