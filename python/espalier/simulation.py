"""A robot in time."""

from __future__ import annotations

import json
import os
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core
from .errors import (
    DuplicateName, InvalidModel, SizeMismatch, Unsupported, expect_array, expect_dict, expect_names, expect_number,
    expect_vector, expect_whole, file_name, is_list, unknown,
)
from .results import PlainNumbers
from .viewer import View, view

if TYPE_CHECKING:
    from .model import Model
    from .state import State


class Pd:
    """Proportional-derivative control to constant targets, without Python at run time.

    ``Pd({"knee": {"kp": 100, "kd": 1, "target": 0.4}})`` on joints of one rate:
    force = kp (target - q) + kd (target_rate - qd).
    """

    _fields = ("kp", "kd", "target", "target_rate")

    def __init__(self, joints: Mapping[str, Mapping[str, float]]):
        expect_dict("Pd", "joints", joints, "gains by joint")
        for name, gains in joints.items():
            if not isinstance(gains, Mapping):
                raise TypeError(
                    f"Pd: gains of joint '{name}' are {gains!r}, expected a dict of "
                    f"{', '.join(self._fields)}"
                )
            for key in gains:
                if key not in self._fields:
                    raise unknown(f"Pd: joint '{name}'", "gain", key, list(self._fields))
        self.joints = {
            name: tuple(
                expect_number(f"Pd: joint '{name}'", key, gains.get(key, 0.0))
                for key in self._fields
            )
            for name, gains in joints.items()
        }

    def _native(self) -> tuple[str, dict[str, Any]]:
        return "pd", self.joints


class Constant:
    """Constant forces on joints, dependent ones and rotors too: ``Constant({"motor": 0.1})``."""

    def __init__(self, forces: Mapping[str, ArrayLike]):
        expect_dict("Constant", "forces", forces, "forces by joint")
        self.forces = {}
        for name, value in forces.items():
            x = np.atleast_1d(expect_array("Constant", f"force of joint '{name}'", value))
            if x.ndim != 1:
                raise SizeMismatch(
                    f"Constant: shape of force of joint '{name}' is {x.shape}, expected a number "
                    "or a list of them"
                )
            self.forces[name] = x.tolist()

    def _native(self) -> tuple[str, dict[str, Any]]:
        return "constant", self.forces


#: f(t, q, v) -> forces on the independent rates (nv), or {joint: force} on any joints, or None.
PythonController = Callable[
    [float, NDArray[np.float64], NDArray[np.float64]],
    Union[ArrayLike, Mapping[str, ArrayLike], None],
]
AnyController = Union[Pd, Constant, PythonController]


@dataclass
class Contact:
    """What touched during a run on rigid ground; times are those of the run's rows.

    forces: on each shape of the robot by its name (n, 3) [N], world axes, means of the step before.
    points: how many bear load (n,). residual: of the solver of impulses (n,) [m/s].
    unsolved_steps: not solved to 1e-6 m/s. deep_steps: with solids too deep in each other.
    """

    forces: dict[str, NDArray[np.float64]]
    points: NDArray[np.float64]
    residual: NDArray[np.float64]
    unsolved_steps: int
    deep_steps: int


class Run:
    """A motion: arrays over time.

    t (n,) [s], q (n, nq), v (n, nv), kinetic, potential (of gravity), springs and their sum energy
    (n,) [J], residual (n,) of the loops, least_margin: the smallest singularity margin on the way.
    contact: what touched, or None without ground.
    """

    def __init__(self, model: Model, arrays: Mapping[str, Any]):
        self.model = model
        self.t: NDArray[np.float64] = arrays["t"]
        self.q: NDArray[np.float64] = arrays["q"]
        self.v: NDArray[np.float64] = arrays["v"]
        self.kinetic: NDArray[np.float64] = arrays["kinetic"]
        self.potential: NDArray[np.float64] = arrays["gravity"]
        self.springs: NDArray[np.float64] = arrays["springs"]
        self.residual: NDArray[np.float64] = arrays["residual"]
        self.least_margin: float = arrays["least_margin"]
        self.contact = Contact(**arrays["contact"]) if "contact" in arrays else None

    @property
    def energy(self) -> NDArray[np.float64]:
        """Kinetic and potential energy and that of the springs [J]."""
        return self.kinetic + self.potential + self.springs

    def __len__(self) -> int:
        return len(self.t)

    def __getitem__(self, joint: str) -> NDArray[np.float64]:
        """Positions of a joint over time: (n,), or (n, nq) for one of several."""
        j = self.model._joint_by_name.get(joint)
        if j is None:
            raise unknown("run", "joint", joint, list(self.model._joint_by_name))
        columns = self.q[:, j["q"] : j["q"] + j["nq"]]
        return columns[:, 0] if j["nq"] == 1 else columns

    @property
    def final(self) -> State:
        """The last state."""
        from .state import State

        return State(self.model, self.q[-1], self.v[-1])

    def to_pandas(self) -> Any:
        """A pandas.DataFrame over time, with columns q.<joint>, v.<joint> and the energies."""
        import pandas

        columns: dict[str, Any] = {}
        for name, j in self.model._joint_by_name.items():
            for k in range(j["nq"]):
                index = "" if j["nq"] == 1 else f"[{k}]"
                columns[f"q.{name}{index}"] = self.q[:, j["q"] + k]
        for name, _, start, size, _ in self.model._core.coordinates():
            for k in range(size):
                index = "" if size == 1 else f"[{k}]"
                columns[f"v.{name}{index}"] = self.v[:, start + k]
        columns.update(
            kinetic=self.kinetic,
            gravity=self.potential,
            springs=self.springs,
            energy=self.energy,
            loop_residual=self.residual,
        )
        if self.contact is not None:
            for name, force in self.contact.forces.items():
                for k, axis in enumerate("xyz"):
                    columns[f"contact.{name}.f{axis}"] = force[:, k]
            columns.update(contacts=self.contact.points, contact_residual=self.contact.residual)
        return pandas.DataFrame(columns, index=pandas.Index(self.t, name="time"))

    def plot(self, joints: Sequence[str] | None = None, axes: Any = None) -> Any:
        """Positions and energies over time by matplotlib; returns the axes."""
        import matplotlib.pyplot as plt

        if axes is None:
            _, axes = plt.subplots(2, 1, sharex=True, figsize=(8, 6))
        names = joints
        if names is not None and not is_list(names):
            raise TypeError(f"run: joints are {names!r}, expected a list of names")
        if names is None:
            scalar = self.model._joint_by_name
            names = [n for n in dict.fromkeys(c[1] for c in self.model._core.coordinates())
                     if scalar[n]["nq"] == 1][:12]
        for name in names:
            axes[0].plot(self.t, self[name], label=name)
        axes[0].set_ylabel("position [rad, m]")
        if names:
            axes[0].legend(fontsize="small", ncols=2)
        for label, values in (
            ("kinetic", self.kinetic),
            ("potential", self.potential),
            ("sum", self.energy),
        ):
            axes[1].plot(self.t, values, label=label)
        axes[1].set_ylabel("energy [J]")
        axes[1].set_xlabel("time [s]")
        axes[1].legend(fontsize="small")
        return axes

    def view(self) -> View:
        """The motion in the viewer: a notebook shows it, .show() opens a browser, .save() a file.

        It is drawn by the command line (``espalier``, where the viewer is built).
        """
        return view(self.model, run=self)

    def __repr__(self) -> str:
        drift = float(np.max(np.abs(self.energy - self.energy[0]))) if len(self) else 0.0
        return (
            f"<espalier.Run of '{self.model.name}': {len(self)} rows to {self.t[-1]:g} s, "
            f"largest change of energy {drift:.3g} J>"
        )


def _bar(label: str, wanted: bool | None) -> Any:
    """A progress bar on standard error, or None; None: where that is a terminal."""
    if wanted is None:
        wanted = sys.stderr.isatty()
    if not wanted:
        return None
    width = 30

    def show(part: float) -> None:
        full = int(width * min(max(part, 0.0), 1.0))
        bar = "#" * full + "." * (width - full)
        print(f"\r{label} [{bar}] {100 * part:3.0f} %", end="", file=sys.stderr, flush=True)

    return show


#: What Model.simulate takes by name besides state, duration, dt, controller and ground.
OPTIONS = [
    "tau", "algorithm", "integrator", "options", "every", "passive", "friction_rate", "gravity",
    "progress", "solver",
]


#: Of a ground file, as the command line has it: what does not end is no file.
LARGEST_FILE = 256 << 20


def _expect_keys_once(path: str, text: str) -> None:
    """Raises DuplicateName for JSON with a key twice, of which the parser would take the last."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, value in pairs:
            if key in found:
                raise DuplicateName(f"{path}: key '{key}' is given twice, expected once")
            found[key] = value
        return found

    try:
        json.loads(text, object_pairs_hook=once)
    except (json.JSONDecodeError, RecursionError):
        pass  # C++ says what is wrong, and where


def _ground_text(who: str, ground: Any) -> tuple[str | None, str]:
    """A ground as JSON, or None for the plane, and the file that it is from."""
    if isinstance(ground, Mapping):
        try:
            return json.dumps(ground, cls=PlainNumbers, allow_nan=False), "ground"
        except ValueError:
            raise InvalidModel(
                f"{who}: ground has a number that is not finite, expected finite ones: {ground!r}"
            ) from None
    if isinstance(ground, str) and ground == "plane":
        return None, ""
    if not isinstance(ground, (str, os.PathLike)):
        raise TypeError(
            f"{who}: ground is {ground!r}, expected 'plane', a dict of the keys of a ground file, "
            "or such a file"
        )
    path = file_name(who, ground)
    try:
        with open(path, "rb") as file:
            content = file.read(LARGEST_FILE + 1)
        if len(content) > LARGEST_FILE:
            raise InvalidModel(
                f"{who}: ground file '{path}' is larger than {LARGEST_FILE} bytes, expected at most "
                "so many (256 MB)"
            )
        text = content.decode("utf-8-sig")
        _expect_keys_once(path, text)
        return text, path
    except UnicodeDecodeError as error:
        raise InvalidModel(
            f"{who}: ground file '{path}' has the byte {content[error.start]:#04x} at "
            f"{error.start}, expected JSON in UTF-8"
        ) from None
    except OSError as error:
        known = ["plane"]
        raise (
            InvalidModel(f"{who}: ground file '{path}' is unreadable ({error.strerror}), expected "
                         "JSON")
            if {".", "/"} & set(path)
            else unknown(who, "ground", path, known)
        ) from None


def warn_of_shapes(
    who: str, found: Mapping[str, Any], instead: str, stacklevel: int = 4
) -> None:
    """Of what touches otherwise than the file says, and what may be given instead."""
    texts = []
    if found["left_out"]:
        texts.append(
            f"collision shapes that touch nothing are {', '.join(found['left_out'])}, expected "
            "planes, boxes, spheres, capsules, cylinders and meshes (give what is to touch as "
            f"{instead})"
        )
    if found["hollow"]:
        texts.append(
            f"meshes that are concave are {', '.join(found['hollow'])}, taken as their hull (give "
            f"convex parts as {instead})"
        )
    if found["overlap"] is not None:
        first, second, depth = found["overlap"]
        texts.append(
            f"shapes '{first}' and '{second}' overlap by {depth:.3g} m at the start, expected none "
            "to (place the robot higher: z of 'root' is its third number)"
        )
    for text in texts:
        warnings.warn(f"{who}: {text}", stacklevel=stacklevel)


def simulate(
    state: State,
    duration: float,
    dt: float,
    *,
    controller: AnyController | Sequence[AnyController] | None = None,
    ground: Any = None,
    tau: ArrayLike | None = None,
    algorithm: str | None = None,
    integrator: str | None = None,
    every: int = 1,
    passive: bool = True,
    friction_rate: float | None = None,
    gravity: Sequence[float] | None = None,
    options: Mapping[str, float] | None = None,
    solver: str | None = None,
    progress: bool | None = None,
) -> Run:
    """See Model.simulate."""
    who = f"simulate '{state.model.name}'"
    of_flight = {"algorithm": algorithm, "integrator": integrator,
                 "friction_rate": friction_rate, "options": options}
    for name, value in of_flight.items() if ground is not None else [("solver", solver)]:
        if value is not None:
            wanted = "without" if ground is not None else "with"
            raise Unsupported(f"{who}: {name} is {value!r}, expected it {wanted} ground only")
    expect_names(who, algorithm=algorithm, integrator=integrator, solver=solver)
    if options is not None:
        expect_dict(who, "options", options, "numbers by name")
    model = state.model
    given: Any = [] if controller is None else controller
    if not isinstance(given, Sequence):
        given = [given]
    controllers = [c._native() if isinstance(c, (Pd, Constant)) else c for c in given]
    for c in controllers:
        if not isinstance(c, tuple) and not callable(c):
            raise TypeError(
                f"simulate '{model.name}': controller is of type {type(c).__name__}, expected "
                "f(t, q, v), Pd or Constant"
            )
    show = _bar(f"simulate {model.name}", progress)
    rows = expect_whole(who, "every", every, 1)
    length, h = expect_number(who, "duration", duration), expect_number(who, "dt", dt)
    start = (model._core, state.q, state.v, length, h, rows, controllers, tau)
    weight = None if gravity is None else expect_vector(who, "gravity", gravity)
    if ground is None:
        arrays = _core.simulate(
            *start, algorithm or "c-aba", integrator or "rk4",
            {name: expect_number(who, f"options['{name}']", x) for name, x in (options or {}).items()},
            bool(passive),
            0.05 if friction_rate is None else expect_number(who, "friction_rate", friction_rate),
            weight, show,
        )
    else:
        text, origin = _ground_text(who, ground)
        arrays = _core.simulate_on_ground(
            *start, text, origin, solver or "gauss-seidel-newton", bool(passive), weight, show
        )
        warn_of_shapes(who, arrays, '"shapes" of the ground')
    if show is not None:
        show(1.0)
        print(file=sys.stderr)
    return Run(model, arrays)
