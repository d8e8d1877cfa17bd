"""Wrenches, end-effectors, inputs, sensors and groups, as plain objects; dicts do as well."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, TypeVar, Union

from .errors import (
    InvalidModel, expect_number, expect_numbers, expect_options, expect_word, is_list, unknown,
)

Vector = Sequence[float]
_UNIT = [[1.0 if i == k else 0.0 for i in range(6)] for k in range(6)]


_KINDS = (
    "acceleration", "torque", "wrench", "joint-wrench", "accelerometer", "angular-acceleration",
    "gyroscope", "motor", "contact",
)


def _three(who: str, what: str, x: Vector) -> list[float]:
    out = expect_numbers(who, what, x)
    if len(out) != 3:
        raise InvalidModel(f"{who}: size of {what} is {len(out)}, expected 3")
    return out


def _six(who: str, row: Any) -> list[float]:
    out = expect_numbers(who, "row", row)
    if len(out) != 6:
        raise InvalidModel(f"{who}: size of a row is {len(out)}, expected 6")
    return out


def _rows(who: str, rows: Any) -> list[Any]:
    """Rows of six numbers, or texts."""
    if not is_list(rows):
        raise TypeError(f"{who}: rows are {rows!r}, expected a list of rows")
    return [row if isinstance(row, str) else _six(who, row) for row in rows]


def _covariance(who: str, given: Any) -> list[float]:
    """A number, one for each row, or a matrix as one list or a list of its rows."""
    if not is_list(given):
        try:
            return [expect_number(who, "covariance", given)]
        except TypeError as error:
            raise TypeError(f"{error}, one for each row, or a square matrix") from None
    items = list(given)
    if not any(is_list(item) for item in items):
        return expect_numbers(who, "covariance", items)
    out = []
    for k, item in enumerate(items):
        row = expect_numbers(who, f"covariance[{k}]", item)
        if len(row) != len(items):
            raise InvalidModel(
                f"{who}: size of covariance[{k}] is {len(row)}, expected {len(items)} (a number, "
                "one for each row, or a square matrix)"
            )
        out += row
    return out


class _Part:
    """A dataclass that says of an argument that it does not have which one is near."""

    def __new__(cls, *values: Any, **given: Any) -> Any:
        expect_options(cls.__name__, given, [f.name for f in fields(cls)])
        return super().__new__(cls)


@dataclass
class EndEffector(_Part):
    """Rows that multiply the twist of a point of a link, angular first.

    rows: "6d" (all of the twist, link axes), "3d" (the point's velocity, world axes), or a list
    of rows of six numbers. offset: of the point from the link's origin, link axes [m]. axes: of
    the rows, "link" or "world".
    """

    link: str
    rows: Any = "6d"
    offset: Vector = (0.0, 0.0, 0.0)
    axes: str | None = None

    def __post_init__(self) -> None:
        who = f"end-effector on '{self.link}'"
        self.offset = _three(who, "offset", self.offset)
        if self.axes is None:
            self.axes = "world" if isinstance(self.rows, str) and self.rows == "3d" else "link"
        if self.axes not in ("link", "world"):
            raise unknown(who, "axes", self.axes, ["link", "world"])
        if isinstance(self.rows, str):
            if self.rows not in ("6d", "3d"):
                raise unknown(who, "rows", self.rows, ["6d", "3d"])
            self.rows = _UNIT if self.rows == "6d" else _UNIT[3:]
        self.rows = [_six(who, row) for row in _rows(who, self.rows)]


@dataclass
class Input(_Part):
    """A motor on a joint, or a contact: the wrenches that the rows of an end-effector are."""

    joint: str | None = None
    contact: EndEffector | None = None
    name: str | None = None

    def __post_init__(self) -> None:
        if self.contact is not None:
            self.contact = _made(EndEffector, self.contact)


@dataclass
class Sensor(_Part):
    """Something that is known or measured.

    kind: "acceleration", "torque", "wrench", "joint-wrench", "accelerometer",
    "angular-acceleration", "gyroscope", "motor", "contact". joint or link: where it is. xyz, rpy:
    of its frame in the link. rows: components ("fx", "mz", "wx", "ax" ...) or rows of six numbers;
    none: all of its kind. covariance: of its noise, a number, one for each row, or a matrix.
    """

    kind: str
    joint: str | None = None
    link: str | None = None
    name: str | None = None
    xyz: Vector = (0.0, 0.0, 0.0)
    rpy: Vector = (0.0, 0.0, 0.0)
    rows: Sequence[Any] = ()
    covariance: Any = ()

    def __post_init__(self) -> None:
        who = f"sensor of kind '{self.kind}'"
        expect_word("sensor", "kind", self.kind, list(_KINDS))
        self.xyz = _three(who, "xyz", self.xyz)
        self.rpy = _three(who, "rpy", self.rpy)
        self.rows = _rows(who, self.rows)
        self.covariance = _covariance(who, self.covariance)


@dataclass
class Group(_Part):
    """Bodies that form one subsystem in the sense of Bremer, by the joints they hang on."""

    name: str
    joints: list[str] = field(default_factory=list)


@dataclass
class ControlMotor(_Part):
    """A motor on any joint: independent, dependent, or a rotor behind a gear.

    lower, upper: range of its force [N·m, N]; left out: the effort in the joint's limits. weight:
    of its square, where something is left to choose.
    """

    joint: str
    lower: float | None = None
    upper: float | None = None
    weight: float = 1.0


@dataclass
class ControlContact(_Part):
    """A point at which the surroundings push, with three inputs: the force, world axes.

    name: of its inputs, "name[0]", ...; left out: the link's. offset: of the point from the
    link's origin, link axes [m]. normal: towards the robot, world axes. least, most: range of the
    normal force [N]. sides: of the pyramid inside the friction cone, 3 to 1000.
    """

    link: str
    name: str = ""
    offset: Vector = (0.0, 0.0, 0.0)
    friction: float = 0.5
    normal: Vector = (0.0, 0.0, 1.0)
    least: float = 0.0
    most: float | None = None
    sides: int = 4
    weight: float = 1.0

    def __post_init__(self) -> None:
        who = f"contact on '{self.link}'"
        self.offset = _three(who, "offset", self.offset)
        self.normal = _three(who, "normal", self.normal)


def _control_rows(who: str, rows: Any) -> Any:
    """An EndEffector, None for the centre of mass, or a list of joints."""
    if isinstance(rows, str) and rows == "center-of-mass":
        return None
    if isinstance(rows, str) and rows == "joints":
        return []
    if isinstance(rows, str) or isinstance(rows, (EndEffector, Mapping)):
        return _made(EndEffector, rows)
    if isinstance(rows, Iterable):
        return [str(joint) for joint in rows]
    raise TypeError(
        f"{who}: rows are of type {type(rows).__name__}, expected an EndEffector, "
        "'center-of-mass', 'joints', or a list of joints"
    )


@dataclass
class ControlTask(_Part):
    """Accelerations that are wanted; zero until TaskControl.want() says others.

    rows: an EndEffector, "center-of-mass", "joints" (all but free ones) or a list of joints.
    priority: a lower number goes first and is never disturbed by a higher one. weight: against
    others of its priority.
    """

    name: str
    rows: Any = "joints"
    priority: int = 0
    weight: float = 1.0

    def __post_init__(self) -> None:
        self.rows = _control_rows(f"task '{self.name}'", self.rows)


@dataclass
class ControlLimit(_Part):
    """Accelerations that stay in a range for each row, whatever the tasks are."""

    name: str
    rows: Any
    lower: Sequence[float]
    upper: Sequence[float]

    def __post_init__(self) -> None:
        self.rows = _control_rows(f"limit '{self.name}'", self.rows)
        who = f"limit '{self.name}'"
        self.lower = expect_numbers(who, "lower", self.lower)
        self.upper = expect_numbers(who, "upper", self.upper)


Part = TypeVar(
    "Part", EndEffector, Input, Sensor, Group, ControlMotor, ControlContact, ControlTask, ControlLimit
)
#: A part, a dict of its fields, or for end-effectors and motors a name alone.
Given = Union[EndEffector, Input, Sensor, Group, Mapping[str, Any], str]


def _made(kind: type[Part], item: Any) -> Part:
    if isinstance(item, kind):
        return item
    if isinstance(item, str) and kind is EndEffector:
        link, _, rows = item.rpartition(":")
        end: Any = EndEffector(link, rows) if link else EndEffector(item)
        return end
    if isinstance(item, str) and kind is ControlMotor:
        driven: Any = ControlMotor(item)
        return driven
    if isinstance(item, str) and kind is Input:
        motor: Any = Input(joint=item)
        return motor
    if isinstance(item, Mapping) and kind is Input and "link" in item:  # as in state files
        contact = {key: value for key, value in item.items() if key != "name"}
        made: Any = Input(contact=_made(EndEffector, contact), name=item.get("name"))
        return made
    if isinstance(item, Mapping):
        known = [f.name for f in fields(kind)]
        for key in item:
            if key not in known:
                raise unknown(kind.__name__, "field", key, known)
        return kind(**item)
    raise TypeError(
        f"{kind.__name__}: object is of type {type(item).__name__}, expected {kind.__name__} or a "
        "dict of its fields"
    )


def parts(kind: type[Part], given: Any) -> list[Part] | None:
    """A list of parts from parts, dicts or names."""
    if given is None:
        return None
    if kind is Group and isinstance(given, Mapping):
        for name, joints in given.items():
            if not is_list(joints):
                raise TypeError(f"Group '{name}': joints are {joints!r}, expected a list of names")
        return [Group(name, list(joints)) for name, joints in given.items()]  # type: ignore
    if isinstance(given, (str, Mapping)) or not isinstance(given, Iterable):
        given = [given]
    return [_made(kind, item) for item in given]
