"""Errors. Each is also of the built-in type that Python programs expect there."""

from __future__ import annotations


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


def unknown(who: str, what: str, name: str, known: list[str]) -> UnknownName:
    """The error for a name that is none of the known ones, with a near one where there is one."""
    from . import _core

    return UnknownName(f"{who}: {what} is '{name}'{_core._suggest(name, list(known))}")
