"""Problems of the registry as functions of a model."""

from __future__ import annotations

import inspect
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .errors import (
    SingularMechanism, SizeMismatch, Unsupported, expect_array, expect_options, unknown,
)

if TYPE_CHECKING:
    from .model import Model

Array = NDArray[np.float64]

#: What a function of the model takes where nobody says which algorithm: exact, for all robots, and
#: the fastest. For other problems, those of plugins too: the first exact one that can.
PREFERRED = {
    "forward-dynamics": "c-aba",
    "inverse-dynamics": "c-rnea",
    "bias-force": "c-rnea",
    "mass-matrix": "c-crba",
    "input-matrix": "iim",
    "inverse-osim": "c-pv-osimr",
    "constrained-dynamics": "pv",
    "sensor-dynamics": "sparse-lu",
}


def _docs() -> dict[str, str]:
    path = Path(__file__).with_name("problems.json")
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}


class Problem:
    """A problem of the registry as a function of a model.

    Call it with arrays of one state, (n,), or of many, (batch, n). A text in front chooses one
    result, or a row of it by its link or joint. Further arguments by name: algorithm (any
    registered name), out, wrenches, acceleration, measurements, multipliers (of adjoints and Hessian
    products; ones without), direction (of Hessian products: {"q": dq, "v": dv, "tau": dtau}, of
    inverse dynamics "vdot", each (nv,) or (batch, nv), zeros where one is left out; ones without),
    time_step (of steps), status, gravity, end_effectors, inputs, sensors, groups, precision
    ("double", "float"), threads, check. The Jacobian of a link also takes frame ("local": the
    link's axes, "local_world_aligned", "world") and point, in the link's axes [m].
    """

    _setup = ("end_effectors", "inputs", "sensors", "groups", "gravity", "precision", "threads",
              "check", "loop_tolerance", "symbolic", "variants")
    _arguments = ["q", "v", "tau", "vdot", "out", "wrenches", "acceleration", "measurements",
                  "multipliers", "direction", "time_step", "status", "variant", "frame", "point",
                  "algorithm", *_setup]

    def __init__(self, model: Model, name: str):
        self.model, self.name = model, name
        self.__name__ = name.replace("-", "_")
        self.__doc__ = self._document()

    @property
    def algorithms(self) -> list[str]:
        """Names of the algorithms that can run on the model, the one that is preferred first."""
        can = [a["name"] for a in self.model.host.algorithms(self.name, self.model._core) if a["can"]]
        first = self.model._preferred(self.name)
        return [first, *(name for name in can if name != first)]

    def __call__(self, *arrays: Any, algorithm: str | None = None, **given: Any) -> Any:
        setup = {key: given.pop(key) for key in self._setup if key in given}
        expect_options(f"{self.name} on '{self.model.name}'", given, self._arguments)
        if self.name == "jacobian" and ("frame" in given or "point" in given):
            return self._jacobian_in(*arrays, algorithm=algorithm, setup=setup, **given)
        bound = self.model._bound(self.name, algorithm, setup)
        if self.name == "hybrid-dynamics" and setup.get("sensors") and "vdot" not in given:
            if sum(not isinstance(a, str) for a in arrays) < 4:
                raise TypeError(
                    f"{self.name} on '{self.model.name}': vdot is missing, expected the accelerations "
                    "of the joints that sensors name (other joints' are not looked at)"
                )
        try:
            return bound(*arrays, **given)
        except SingularMechanism:
            self._blame_input([a for a in arrays if not isinstance(a, str)])
            raise

    def _blame_input(self, arrays: Sequence[Any]) -> None:
        """Raises for input that no answer can follow from, in place of what became of it."""
        who = f"{self.name} on '{self.model.name}'"
        third = "vdot" if self.name.startswith("inverse-dynamics") else "tau"
        for name, given in zip(("q", "v", third), arrays):
            values = np.asarray(given, dtype=float)
            wrong = np.argwhere(~np.isfinite(values))
            if len(wrong):
                at = tuple(wrong[0])
                index = ", ".join(str(k) for k in at)
                raise SingularMechanism(
                    f"{who}: {name}[{index}] is {values[at]}, expected a finite number"
                )
        if not arrays:
            return
        q = np.asarray(arrays[0], dtype=float)
        for joint in self.model._joint_by_name.values():
            if joint["nq"] == joint["nv"]:
                continue
            quaternion = q[..., joint["q"] + joint["nq"] - 4 : joint["q"] + joint["nq"]]
            if np.any(np.all(quaternion == 0.0, axis=-1)):
                raise SingularMechanism(
                    f"{who}: quaternion of joint '{joint['name']}' has length 0, expected x y z w "
                    "of length 1 (robot.state() has the neutral one)"
                )

    def _jacobian_in(
        self,
        link: Any,
        q: Any = None,
        *,
        algorithm: str | None,
        setup: dict[str, Any],
        frame: str = "local",
        point: ArrayLike | None = None,
        out: Any = None,
        **others: Any,
    ) -> Array:
        """The Jacobian of a link in other axes and about another point than its own."""
        who = f"jacobian on '{self.model.name}'"
        for name, value in others.items():
            if value is not None:
                raise TypeError(
                    f"{who}: argument '{name}' is given, expected one of q, frame, point, out, "
                    "algorithm (with frame, point)"
                )
        frames = ["local", "local_world_aligned", "world"]
        if not isinstance(frame, str) or frame not in frames:
            raise unknown(who, "frame", frame, frames)
        if not isinstance(link, str) or q is None:
            raise TypeError(f"{who}: link is missing, expected its name before q (with frame, point)")
        if point is not None and frame == "world":
            raise Unsupported(
                f"{who}: point is given with frame 'world', expected 'local' or "
                "'local_world_aligned' (the Jacobian in 'world' is about the world's origin)"
            )
        p = np.zeros(3) if point is None else expect_array(who, "point", point)
        if p.shape != (3,) or not np.all(np.isfinite(p)):
            raise SizeMismatch(f"{who}: point is {point!r}, expected three finite numbers")
        J = np.array(self(link, q, algorithm=algorithm, **setup))
        angular, linear = J[..., :3, :], J[..., 3:, :]
        linear = linear + np.cross(angular, p[:, None], axis=-2)  # v + w x p
        if frame != "local":
            pose = self.model.pose(link, q)
            R = pose[..., :3, :3]
            angular, linear = R @ angular, R @ linear
            if frame == "world":  # of the point of the link that is at the origin
                linear = linear - np.cross(angular, pose[..., :3, 3:], axis=-2)
        J = np.concatenate((angular, linear), axis=-2)
        if out is None:
            return J
        if not isinstance(out, np.ndarray) or out.dtype.kind != "f":
            raise TypeError(f"{who}: out is no array of float64 or float32, expected one")
        if out.shape != J.shape or not out.flags.writeable:
            raise SizeMismatch(
                f"{who}: shape of out is {out.shape}, expected {J.shape}, to be written to"
            )
        out[...] = J
        return out

    def _document(self) -> str:
        lines = []
        found = _docs().get(self.name)
        lines.append(found if found else f"The problem {self.name}.")
        if self.name == "hybrid-dynamics":
            lines.append("")
            lines.append("In Python `known` is two arrays, tau and vdot: each number counts where its")
            lines.append("joint's torque, or its acceleration, is the one that is known.")
        lines.append("")
        lines.append(inspect.cleandoc(Problem.__doc__ or "").partition("\n\n")[2])
        lines.append("")
        lines.append("Algorithms:")
        for a in self.model.host.algorithms(self.name, self.model._core):
            cannot = "" if a["can"] else "; cannot here: " + a["obstacle"]
            source = f" [{a['source']}]" if a["source"] else ""
            lines.append(f"  {a['name']}: {a['summary']}, {a['cost']}{source}{cannot}")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<espalier problem {self.name} on '{self.model.name}'>"
