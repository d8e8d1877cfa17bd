"""Errors. Each is also of the built-in type that Python programs expect there."""

from __future__ import annotations

import operator
import os
import threading
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: What counts in C++ hold.
LARGEST_INT = 2**31 - 1


class Error(Exception):
    """Base of all errors of Espalier: ``<who>: <what> is <got>, expected <wanted>``."""

    def __str__(self) -> str:  # also where a base is KeyError, which would put it into quotes
        return str(self.args[0]) if self.args else ""


class InvalidModel(Error, ValueError):
    """The robot is not one that can be computed."""


class InvalidState(Error, ValueError):
    """The state does not close the robot's loops."""


class SizeMismatch(Error, ValueError):
    """An array has another shape than the robot asks for."""


class SingularMechanism(Error, ArithmeticError):
    """The answer does not exist at this state."""


class UnknownName(Error, KeyError):
    """A name is not among the known ones; the message lists them."""


class DuplicateName(Error, ValueError):
    """A name is given twice."""


class PluginError(Error, ImportError):
    """A plugin cannot be used."""


class Unsupported(Error, NotImplementedError):
    """An algorithm is asked for something that it cannot do exactly."""


def unknown(who: str, what: str, name: Any, known: list[str]) -> UnknownName | TypeError:
    """The error for a name that is none of the known ones, with a near one where there is one."""
    from . import _core

    if not isinstance(name, str):
        return TypeError(f"{who}: {what} is {name!r}, expected a name")
    return UnknownName(f"{who}: {what} is '{name}'{_core._suggest(name, list(known))}")


def expect_whole(
    who: str, what: str, value: Any, least: int, most: int = LARGEST_INT
) -> int:
    """The value as an int. Raises TypeError for what is no whole number from `least` to `most`."""
    try:
        whole = operator.index(value)
    except TypeError:
        whole = least - 1
    if not least <= whole <= most or isinstance(value, bool):
        limit = f" to {most}" if whole > most else ""
        raise TypeError(f"{who}: {what} is {value!r}, expected a whole number from {least}{limit}")
    return whole


def expect_seed(who: str, seed: Any, count: int = 1) -> int:
    """The first of `count` seeds of random states, as an int. Raises TypeError."""
    return expect_whole(who, "seed", seed, 0, 2**64 - max(count, 1))


def expect_number(who: str, what: str, value: Any) -> float:
    """The value as a float. Raises TypeError for what is no number."""
    try:
        if not isinstance(value, (str, bytes)):  # which float() would read
            return float(value)
    except (TypeError, ValueError, OverflowError):
        pass
    raise TypeError(f"{who}: {what} is {value!r}, expected a number")


def expect_names(who: str, **given: Any) -> None:
    """Raises TypeError for what is neither a text nor None."""
    for what, name in given.items():
        if name is not None:
            expect_name(who, what, name)


def expect_name(who: str, what: str, name: Any) -> str:
    """The name. Raises TypeError for what is no text."""
    if not isinstance(name, str):
        raise TypeError(f"{who}: {what} is {name!r}, expected a name")
    return name


def expect_dict(who: str, what: str, given: Any, of: str) -> None:
    """Raises TypeError for what is no dict."""
    if not isinstance(given, Mapping):
        raise TypeError(f"{who}: {what} is {given!r}, expected a dict of {of}")


def is_list(values: Any) -> bool:
    """Whether it has items in an order: no text, no dict, no array that is one number."""
    return (
        isinstance(values, Iterable) and not isinstance(values, (str, bytes, Mapping))
        and getattr(values, "ndim", 1) > 0
    )


def expect_numbers(who: str, what: str, values: Any) -> list[float]:
    """The values as floats. Raises TypeError for what is no list of numbers."""
    if not is_list(values):
        raise TypeError(f"{who}: {what} is {values!r}, expected a list of numbers")
    return [expect_number(who, f"{what}[{k}]", x) for k, x in enumerate(values)]


def expect_array(who: str, what: str, values: Any) -> NDArray[np.float64]:
    """The values as an array of float64, themselves if they are one. Raises TypeError."""
    from . import _core

    return _core._real_array(values, what, who)


def expect_vector(who: str, what: str, value: Any) -> list[float]:
    """The value as x, y, z. Raises TypeError for anything else."""
    try:
        numbers = expect_numbers(who, what, value)
    except TypeError:
        numbers = []
    if len(numbers) != 3:
        raise TypeError(f"{who}: {what} is {value!r}, expected three numbers x, y, z")
    return numbers


def expect_word(who: str, what: str, value: Any, known: list[str]) -> None:
    """Raises TypeError for what is no text, UnknownName for another one than the known."""
    if not isinstance(value, str):
        words = " or ".join(f"'{k}'" for k in known)
        raise TypeError(f"{who}: {what} is {value!r}, expected {words}")
    if value not in known:
        raise unknown(who, what, value, known)


def expect_options(who: str, given: Iterable[str], known: list[str]) -> None:
    """Raises TypeError for an argument by name that is none of the known."""
    for name in given:
        if name not in known:
            raise TypeError(str(unknown(who, "argument", name, known)))


def file_name(who: str, path: Any) -> str:
    """A path as a text. Raises TypeError for what is no path, or has a name that is no text."""
    try:
        name = os.fsdecode(path)
        name.encode()
    except TypeError:
        raise TypeError(f"{who}: file is {path!r}, expected a path") from None
    except UnicodeEncodeError:
        raise TypeError(f"{who}: file is {path!r}, expected a path in UTF-8") from None
    if "\0" in name:
        raise TypeError(f"{who}: file is {path!r}, expected a path without a zero character")
    return name


def part_name(path: str | os.PathLike[str]) -> str:
    """Of a file beside another one, which takes its place when it is whole: no two writers share it."""
    return f"{os.fspath(path)}.{os.getpid()}.{threading.get_ident()}.part"


class OnlyKnown:
    """A class whose objects refuse attributes that it does not have: a typo is no new attribute."""

    _kept: tuple[str, ...] = ()  #: attributes besides those of the class

    def __setattr__(self, name: str, value: Any) -> None:
        cls = type(self)
        if not name.startswith("_") and name not in self._kept and not hasattr(cls, name):
            known = [k for k in [*dir(cls), *self._kept] if not k.startswith("_")]
            raise AttributeError(str(unknown(cls.__name__, "attribute", name, known)))
        object.__setattr__(self, name, value)


def name_fields(cls: Any, who: Callable[[Any], str]) -> None:
    """Makes a class of _core name its fields where another one is asked for or set."""
    fields = [name for name in dir(cls) if not name.startswith("_")]

    def missing(self: Any, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        raise AttributeError(str(unknown(who(self), "field", name, fields)))

    def put(self: Any, name: str, value: Any) -> None:
        if name not in fields:
            missing(self, name)
        object.__setattr__(self, name, value)

    cls.__getattr__ = missing
    cls.__setattr__ = put
