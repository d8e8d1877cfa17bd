"""Plugins, and what they register."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import Any

from . import _core
from .errors import expect_name, file_name, is_list, name_fields, unknown

name_fields(_core.Host, lambda host: "host")


def _folders(what: str, value: Any) -> list[str]:
    if not is_list(value):
        raise TypeError(f"host: {what} is {value!r}, expected a list of folders, as ['plugins']")
    return [file_name("host", folder) for folder in value]


def _yes_or_no(what: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeError(f"host: {what} is {value!r}, expected True or False")
    return value


def _name(what: str, value: Any) -> str:
    return expect_name("host", what, value)


def _text(what: str, value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"host: {what} is {value!r}, expected a text")
    return value


def _file(what: str, value: Any) -> str:
    return file_name("host", value)


def _robot(what: str, value: Any) -> Any:
    if value is None or isinstance(value, _core.Robot):
        return value
    if not isinstance(getattr(value, "_core", None), _core.Robot):
        raise TypeError(f"host: {what} is {value!r}, expected a model, or None")
    return value._core


def _look_at_arguments(cls: Any, method: str, **arguments: Callable[[str, Any], Any]) -> None:
    """Makes a method say what is wrong with its arguments, where C++ has its signature alone."""
    core = getattr(cls, method)

    def call(self: Any, *args: Any, **named: Any) -> Any:
        for name in named:
            if name not in arguments:
                raise TypeError(str(unknown("host", "argument", name, list(arguments))))
        if len(args) > len(arguments):
            raise TypeError(
                f"host: number of arguments of {method} is {len(args)}, expected at most "
                f"{len(arguments)} ({', '.join(arguments)})"
            )
        looked = [look(name, x) for (name, look), x in zip(arguments.items(), args)]
        return core(self, *looked, **{name: arguments[name](name, x) for name, x in named.items()})

    call.__name__, call.__doc__ = method, core.__doc__
    setattr(cls, method, call)


_look_at_arguments(_core.Host, "__init__", plugin_folders=_folders, search=_yes_or_no)
_look_at_arguments(_core.Host, "load_plugin", file=_file)
_look_at_arguments(_core.Host, "algorithms", problem=_name, robot=_robot)
_look_at_arguments(_core.Host, "entries", kind=_name)
_look_at_arguments(_core.Host, "read", path=_file)
_look_at_arguments(_core.Host, "read_text", text=_text, origin=_name)

#: Compiled by C++: ``Host(plugin_folders=[...])`` is a registry of its own.
Host = _core.Host

#: Files of plugins that were loaded by name: what is pickled says so, for other processes.
loaded_by_hand: set[str] = set()

_lock = threading.Lock()
_default: Host | None = None


def default_host() -> Host:
    """The host of ``espalier.load`` and the like, made with its plugins on first use.

    Plugins are found in ESPALIER_PLUGIN_PATH and beside the library.
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
