"""Positions and rates of a robot, by array and by name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .errors import (
    InvalidState, OnlyKnown, SizeMismatch, Unsupported, expect_array, expect_dict, unknown,
)

if TYPE_CHECKING:
    from .model import Model


class State(OnlyKnown):
    """A robot's positions q (nq, spanning) and rates v (nv, independent).

    The arrays go into every algorithm and may be written to. ``x["knee"]`` is a joint's position;
    setting it closes the loops and couplings on their branch. ``x.rate["knee"]`` is its rate. Of a
    joint of which some rates depend on others, ``x["slide[0]"]`` is the position of one that does
    not, if it has one of its own.

    >>> import espalier as esp
    >>> robot = esp.load(esp.robot_file("four_bar_leg.yaml"))
    >>> x = robot.state()
    >>> name = robot.coordinates[0]
    >>> x[name] += 0.1
    >>> x.residual < 1e-9
    True
    """

    _kept = ("model", "q", "v")

    def __init__(self, model: Model, q: ArrayLike | None = None, v: ArrayLike | None = None):
        self.model = model
        core = model._core
        who = f"state of '{model.name}'"
        self.q: NDArray[np.float64] = expect_array(who, "q", core.neutral() if q is None else q).copy()
        self.v: NDArray[np.float64] = expect_array(who, "v", np.zeros(core.nv) if v is None else v).copy()

    def __setattr__(self, name: str, value: Any) -> None:
        if name in ("q", "v"):
            value = expect_array(f"state of '{self.model.name}'", name, value)
            size = self.model.nq if name == "q" else self.model.nv
            if value.shape != (size,):
                raise SizeMismatch(
                    f"state of '{self.model.name}': shape of {name} is {value.shape}, "
                    f"expected ({size},)"
                )
        super().__setattr__(name, value)

    # Positions by name.

    def _joint(self, name: Any) -> dict[str, Any]:
        joint = self.model._joint_by_name.get(name)
        if joint is None:
            known = dict.fromkeys([*self.model._joint_by_name, *self.model._independent_positions])
            raise unknown(f"state of '{self.model.name}'", "joint", name, list(known))
        return joint

    def __getitem__(self, joint: str) -> Any:
        where = self.model._independent_positions.get(joint)
        if where is None:
            j = self._joint(joint)
            where = slice(j["q"], j["q"] + j["nq"])
        q = self.q[where]
        return float(q[0]) if len(q) == 1 else q.copy()

    def _settable(self, name: str) -> slice:
        """Where an independent position stands in q."""
        where = self.model._independent_positions.get(name)
        if where is None:
            if name not in self.model._joint_by_name and name in self.model.coordinates:
                why = "a rate without a position of its own: x.rate sets it"
            elif all(place is None for place in self._joint(name)["rates"]):
                why = (
                    "the joint depends on others; 'independent: true' in the robot's file chooses it "
                    "instead"
                )
            else:
                why = "some rates of the joint depend on others"
            raise Unsupported(
                f"state of '{self.model.name}': position of joint '{name}' is set, expected one of "
                f"{', '.join(self.model._independent_positions)} ({why})"
            )
        return where

    def __setitem__(self, joint: str, value: Any) -> None:
        self.update({joint: value})

    def __contains__(self, joint: object) -> bool:
        return joint in self.model._joint_by_name

    def __iter__(self) -> Iterator[str]:
        return iter(self.model._joint_by_name)

    def keys(self) -> list[str]:
        """Names of the joints."""
        return list(self.model._joint_by_name)

    def update(self, positions: Mapping[str, Any]) -> None:
        """Sets positions of independent joints; the others follow on the branch they are on.

        Raises InvalidState where the loops do not reach that far; the state then stays as it was.
        """
        expect_dict(f"state of '{self.model.name}'", "positions", positions, "numbers by joint")
        start = self.q.copy()
        q = self.q.copy()
        for name, value in positions.items():
            where = self._settable(name)
            q[where] = _numbers(value, where.stop - where.start, f"position of '{name}'")
            kind = self.model._joint_by_name.get(name, {}).get("type")
            if kind in ("floating", "spherical") and not np.any(q[where.stop - 4 : where.stop]):
                raise InvalidState(
                    f"state of '{self.model.name}': length of the quaternion of joint '{name}' is "
                    "0, expected x y z w of length 1"
                )
        if not np.all(np.isfinite(q)):
            raise InvalidState(
                f"state of '{self.model.name}': a position is not finite, expected numbers"
            )
        core = self.model._core
        q = core.couple(core.normalize(q))
        if core.has_loops:
            q, closure = core.close(start, q)
            if closure["verdict"] != "closed":
                raise InvalidState(
                    f"state of '{self.model.name}': {closure['text']}, expected positions that "
                    "its loops reach"
                )
        self.q[:] = q

    @property
    def rate(self) -> _Rates:
        """Rates of independent joints by name: ``x.rate["knee"] = 2``."""
        return _Rates(self)

    @property
    def residual(self) -> float:
        """How far the loops are open [m, rad or cosine]."""
        return float(self.model._core.examine(self.q)[1]["residual"])

    def copy(self) -> State:
        """A state of its own."""
        return State(self.model, self.q, self.v)

    __copy__ = copy

    def __deepcopy__(self, memo: Any) -> State:
        return self.copy()

    def __reduce__(self) -> Any:
        return State, (self.model, self.q, self.v)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, State)
            and self.model == other.model
            and np.array_equal(self.q, other.q)
            and np.array_equal(self.v, other.v)
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        lines = [f"State of '{self.model.name}'"]
        width = max((len(name) for name in self), default=0)
        for name, j in self.model._joint_by_name.items():
            q = " ".join(f"{x:.6g}" for x in self.q[j["q"] : j["q"] + j["nq"]])
            rate = "dependent"
            if any(place is not None for place in j["rates"]):
                rate = " ".join(
                    "dependent" if k is None else f"{self.v[k]:.6g}" for k in j["rates"]
                )
            lines.append(f"  {name:<{width}}  q {q:<12} v {rate}")
        return "\n".join(lines)


class _Rates:
    """Rates of a state's independent joints."""

    def __init__(self, state: State):
        self._state = state

    def _slice(self, name: str) -> slice:
        model = self._state.model
        for coordinate, _, start, size, _ in model._core.coordinates():
            if coordinate == name:
                return slice(start, start + size)
        j = self._state._joint(name)
        if j["independent"] is None:
            why = (
                "the joint depends on others; 'independent: true' in the robot's file chooses it "
                "instead"
                if all(place is None for place in j["rates"])
                else "some rates of the joint depend on others"
            )
            raise Unsupported(
                f"state of '{model.name}': rate of joint '{name}' is wanted, expected one of "
                f"{', '.join(model.coordinates)} ({why})"
            )
        return slice(j["independent"], j["independent"] + j["nv"])

    def __getitem__(self, name: str) -> Any:
        v = self._state.v[self._slice(name)]
        return float(v[0]) if len(v) == 1 else v.copy()

    def __setitem__(self, name: str, value: Any) -> None:
        where = self._slice(name)
        self._state.v[where] = _numbers(value, where.stop - where.start, f"rate of '{name}'")


def _numbers(value: Any, size: int, what: str) -> NDArray[np.float64]:
    x = np.atleast_1d(expect_array("state", what, value))
    if x.shape != (size,):
        raise SizeMismatch(f"state: shape of {what} is {x.shape}, expected ({size},)")
    return x
