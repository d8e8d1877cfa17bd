"""Plugins, and what they register."""

from __future__ import annotations

import os
import threading
from typing import Any

from . import _core
from .errors import expect_name, file_name, name_fields

name_fields(_core.Host, lambda host: "host")

#: Compiled by C++: ``Host(plugin_folders=[...])`` is a registry of its own.
Host = _core.Host

#: Files of plugins that were loaded by name: what is pickled says so, for other processes.
loaded_by_hand: set[str] = set()

_lock = threading.Lock()
_default: Host | None = None


def default_host() -> Host:
    """The host of ``espalier.load`` and the like, made with its plugins on first use.

    Plugins are found beside the library, in ESPALIER_PLUGIN_PATH, and in the build tree.
    """
    global _default
    with _lock:
        if _default is None:
            _default = Host()
        return _default


def load_plugin(file: str | os.PathLike[str]) -> None:
    """Loads one plugin library: its joints, mechanisms and algorithms appear everywhere."""
    host = default_host()
    before = {p["file"] for p in host.plugins()}
    host.load_plugin(file_name("load_plugin", file))
    loaded_by_hand.update(p["file"] for p in host.plugins() if p["file"] not in before)


def plugins() -> list[dict[str, str]]:
    """Name, version, file and instruction set of the plugins that are loaded."""
    return default_host().plugins()


def problems() -> list[str]:
    """Names of the problems that have algorithms."""
    return default_host().problems()


def algorithms(problem: str = "", robot: Any = None) -> list[dict[str, Any]]:
    """What is registered for a problem ("": all), and whether it can run on a robot."""
    expect_name("algorithms", "problem", problem)
    if robot is not None and not hasattr(robot, "_core"):
        raise TypeError(f"algorithms: robot is {robot!r}, expected a model")
    core = None if robot is None else robot._core
    host = default_host() if robot is None else robot.host
    return host.algorithms(problem, core)
