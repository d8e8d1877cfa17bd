"""Algorithms bound to a robot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import is_dataclass
from typing import Any

import numpy as np

from . import _core
from .errors import (
    Unsupported, expect_name, expect_names, expect_number, expect_vector, expect_whole, unknown,
)
from .facts import Facts
from .parts import (
    ControlContact,
    ControlLimit,
    ControlMotor,
    ControlTask,
    EndEffector,
    Group,
    Input,
    Sensor,
    parts,
)
from .problem import PREFERRED


class Solving(Facts):
    """A compiled robot's algorithms, with what a problem needs and nobody gave."""

    def algorithm(
        self,
        name: str | None = None,
        problem: str | None = None,
        *,
        end_effectors: Any = None,
        inputs: Any = None,
        sensors: Any = None,
        groups: Any = None,
        gravity: Sequence[float] | None = None,
        precision: str = "",
        threads: int = 0,
        check: bool = False,
        loop_tolerance: float = 1e-6,
        symbolic: str = "",
        variants: Sequence[Facts] = (),
    ) -> Any:
        """An algorithm with its workspace, for whoever calls it often: ``algo(q, v, tau, out=vdot)``.

        It belongs to one thread at a time; others wait. It checks shapes; open loops and results
        that are not finite raise with check=True only. precision: of batches, "double" or "float"
        (left out: as q is). threads: of batches, 0: all cores. variants: robots of the same joints
        and links and other numbers, among which `variant` of a batch chooses.
        """
        who = f"algorithm of '{self.name}'"
        expect_names(who, name=name, problem=problem, precision=precision, symbolic=symbolic)
        threads = expect_whole(who, "threads", threads, 0)
        loop_tolerance = expect_number(who, "loop_tolerance", loop_tolerance)
        for variant in variants:
            if not isinstance(variant, Facts):
                raise TypeError(f"{who}: one of variants is {variant!r}, expected a model")
        if problem is None:
            if name is None:
                raise TypeError(
                    f"algorithm of '{self.name}': name and problem are missing, expected one of them"
                )
            solves = [a["problem"] for a in self.host.algorithms("") if a["name"] == name]
            if not solves:
                known = sorted({a["name"] for a in self.host.algorithms("")})
                raise unknown(f"model '{self.name}'", "algorithm", name, known)
            problem = solves[0]
        problem = self._problem(problem)
        if problem == "design-variation":
            raise Unsupported(
                f"design variation on '{self.name}': number of families is 0, expected some, which "
                "Python cannot add (design_derivatives has parameters by name; 'espalier eval "
                "--problem design-variation --design NAME=TARGET,...' and C++ have families)"
            )
        if name is None:
            name = self._preferred(problem)
        setup = self._setup(problem, end_effectors, inputs, sensors)
        bound = _core.Algorithm(
            self._core,
            problem,
            name,
            parts(EndEffector, setup["end_effectors"]),
            parts(Input, setup["inputs"]),
            parts(Group, groups),
            parts(Sensor, setup["sensors"]),
            symbolic,
            threads,
            precision,
            loop_tolerance,
            bool(check),
            [variant._core for variant in variants],
        )
        if gravity is not None:
            bound.gravity = expect_vector(f"{name} of '{self.name}'", "gravity", gravity)
        return bound

    def task_control(
        self,
        tasks: Any,
        *,
        motors: Any = None,
        contacts: Any = None,
        limits: Any = None,
        solver: str | None = None,
        input_matrix: str = "iim",
    ) -> Any:
        """The inputs that accelerate tasks as wanted: ``control(q, v).inputs``.

        tasks: ControlTask objects or dicts of their fields. motors: ControlMotor objects or names
        of joints; left out: one on every joint that is independent and moves by one rate.
        contacts, limits: ControlContact and ControlLimit objects. solver: of quadratic programs,
        as "alglib"; left out: weighted least squares, which knows no ranges.
        """
        who = f"task control of '{self.name}'"
        expect_names(who, solver=solver, input_matrix=input_matrix)
        if tasks is None:
            raise TypeError(f"{who}: tasks are None, expected ControlTask objects or dicts")
        if motors is None:
            motors = [
                j["name"] for j in self._core.joints() if j["nv"] == 1 and j["independent"] is not None
            ]
        return _core.TaskControl(
            self._core,
            parts(ControlMotor, motors),
            parts(ControlContact, contacts) or [],
            parts(ControlTask, tasks),
            parts(ControlLimit, limits) or [],
            solver or "",
            input_matrix,
        )

    def _setup(
        self, problem: str, end_effectors: Any, inputs: Any, sensors: Any
    ) -> dict[str, Any]:
        """What a problem needs and nobody gave: tips, motors, torques."""
        if end_effectors is None and problem in (
            "inverse-osim", "operational-space", "constrained-dynamics",
            "constrained-dynamics-derivatives",
        ):
            end_effectors = [EndEffector(link) for link in self.tips or self.links[:1]]
        if inputs is None and problem == "input-matrix":
            inputs = [Input(joint=name) for name in self._driven() if self.joint(name)["nv"] < 6]
        if sensors is None and problem in ("sensor-dynamics", "hybrid-dynamics"):
            sensors = [Sensor("torque", joint=name) for name in self._driven()]
        return {"end_effectors": end_effectors, "inputs": inputs, "sensors": sensors}

    def _driven(self) -> list[str]:
        """Joints with independent rates, each once."""
        return list(dict.fromkeys(c[1] for c in self._core.coordinates()))

    def _problem(self, name: str) -> str:
        known = self.host.problems()
        expect_name(f"model '{self.name}'", "problem", name)
        wanted = name.replace("_", "-")
        if wanted not in known:
            raise unknown(f"model '{self.name}'", "problem", name, known)
        return wanted

    def _preferred(self, problem: str) -> str:
        can = [a for a in self.host.algorithms(problem, self._core) if a["can"]]
        if not can:
            reasons = "; ".join(
                f"{a['name']}: {a['obstacle']}" for a in self.host.algorithms(problem, self._core)
            )
            raise Unsupported(
                f"{problem} on '{self.name}': number of algorithms that can is 0, expected at "
                f"least one ({reasons})"
            )
        can.sort(
            key=lambda a: (
                a["name"] != PREFERRED.get(problem), not a["exact"], a["name"] in ("dense", "kkt")
            )
        )
        return can[0]["name"]

    def _bound(self, problem: str, name: str | None, setup: dict[str, Any]) -> Any:
        """The algorithm that functions of the model use: one for each thread and setup."""
        key: Any = (problem, name)
        cache: dict[Any, Any] = self._local.__dict__
        if setup:
            # Objects may change between calls: what they say now is the key.
            setup = {**setup}
            for option, kind in (
                ("end_effectors", EndEffector), ("inputs", Input), ("sensors", Sensor),
                ("groups", Group),
            ):
                if option in setup:
                    setup[option] = parts(kind, setup[option])
            if setup.get("gravity") is not None:
                setup["gravity"] = expect_vector(
                    f"{problem} on '{self.name}'", "gravity", setup["gravity"]
                )
            variants = tuple(id(m) for m in setup.get("variants", ()))
            key = (problem, name, _exact_key({k: v for k, v in setup.items() if k != "variants"}),
                   variants)
        bound = cache.get(key)
        if bound is None:
            if len(cache) >= 64:
                cache.clear()
            options: dict[str, Any] = {"check": True, **setup}
            bound = self.algorithm(name, problem, **options)
            cache[key] = bound
            cache[(key, "keeps")] = setup.get("variants")
        return bound


def _exact_key(x: Any) -> Any:
    """Something hashable that differs where x does, to the last bit: printed digits are rounded."""
    if isinstance(x, np.ndarray):
        return "array", x.dtype.str, x.shape, x.tobytes() if x.dtype != object else repr(x.tolist())
    if isinstance(x, Mapping):
        return "dict", tuple((_exact_key(k), _exact_key(v)) for k, v in x.items())
    if isinstance(x, (list, tuple)):
        return type(x).__name__, tuple(_exact_key(each) for each in x)
    if is_dataclass(x):
        return type(x).__name__, _exact_key(vars(x))
    return type(x).__name__, x.tobytes() if isinstance(x, np.generic) else repr(x)
