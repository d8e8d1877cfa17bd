"""Robots as they are computed on."""

from __future__ import annotations

import os
import threading
import warnings
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core
from .comparison import Comparison, compare
from .description import Description
from .errors import InvalidState, Unsupported, expect_options, unknown
from .host import Host
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
from .problem import PREFERRED, Problem
from .results import Results
from .simulation import OPTIONS, AnyController, Run, simulate
from .state import State
from .svg import cluster_tree
from .viewer import View, view

Array = NDArray[np.float64]

class Model:
    """A robot that algorithms compute on: validated, immutable, shared by threads.

    Every problem that has algorithms is a function of it, those of plugins too:
    ``robot.forward_dynamics(q, v, tau)``, ``robot.mass_matrix(q)``, ``robot.jacobian("foot", q)``.
    ``dir(robot)`` lists them and ``help(robot.mass_matrix)`` explains.

    >>> import espalier as esp
    >>> import numpy as np
    >>> robot = esp.load(esp.robot_file("ur5.urdf"))
    >>> x = robot.state({"elbow": 0.4})
    >>> vdot = robot.forward_dynamics(x.q, x.v, np.zeros(robot.nv))
    >>> tau = robot.inverse_dynamics(x.q, x.v, vdot)
    >>> bool(np.allclose(tau, 0, atol=1e-9))
    True
    """

    def __init__(self, core: Any):
        self._core = core
        self._local = threading.local()

    # What it is.

    @property
    def host(self) -> Host:
        """The registry that it was compiled with."""
        return self._core.host

    @property
    def name(self) -> str:
        """Of the robot."""
        return self._core.name

    @property
    def nq(self) -> int:
        """Number of positions, of all joints of the spanning tree."""
        return self._core.nq

    @property
    def nv(self) -> int:
        """Number of independent rates."""
        return self._core.nv

    @property
    def mass(self) -> float:
        """Of everything that moves [kg]."""
        return self._core.mass

    @property
    def gravity(self) -> tuple[float, float, float]:
        """[m/s²], world axes."""
        return self._core.gravity

    @cached_property
    def _joint_by_name(self) -> dict[str, dict[str, Any]]:
        return {j["name"]: j for j in self._core.joints()}

    @cached_property
    def joints(self) -> list[str]:
        """Names of the joints that move, in the order of q."""
        return list(self._joint_by_name)

    @cached_property
    def links(self) -> list[str]:
        """Names of the links, in the order of forward kinematics and of wrenches."""
        return [link["name"] for link in self._core.links()]

    @cached_property
    def coordinates(self) -> list[str]:
        """Names of the independent coordinates, a joint of several rates once, in the order of v."""
        return [c[0] for c in self._core.coordinates()]

    @cached_property
    def clusters(self) -> list[dict[str, Any]]:
        """The cluster tree: name, parent, joints, constraints, nv, what each was recognised as."""
        return self._core.clusters()

    @property
    def tips(self) -> list[str]:
        """Links that move and carry no other."""
        return self._core.tips()

    @property
    def description(self) -> Description:
        """A copy of what it was compiled from, to be edited."""
        return Description(host=self.host, _core_object=self._core.description)

    @property
    def options(self) -> dict[str, str]:
        """How it was compiled: root, mimic, rotors."""
        return self._core.options

    def joint(self, name: str) -> dict[str, Any]:
        """Type, limits and places in q and v of a joint."""
        if name not in self._joint_by_name:
            raise unknown(f"model '{self.name}'", "joint", name, self.joints)
        return self._joint_by_name[name]

    # States.

    def state(
        self,
        positions: Mapping[str, Any] | None = None,
        rates: Mapping[str, Any] | None = None,
        *,
        q: ArrayLike | None = None,
        v: ArrayLike | None = None,
    ) -> State:
        """A state whose loops are closed: neutral and at rest but for what is given by name."""
        x = State(self, q, v)
        if q is not None and not self._core.is_tree:
            closure = self._core.examine(x.q)[1]
            if not closure["residual"] <= 1e-6:
                raise InvalidState(
                    f"state of '{self.name}': {closure['text']}, expected closed loops "
                    "(robot.close() closes them)"
                )
        for what, given in (("positions", positions), ("rates", rates)):
            if given is not None and not isinstance(given, Mapping):
                raise TypeError(
                    f"state of '{self.name}': {what} are {given!r}, expected {{joint: number}} "
                    "(or arrays by name: q=, v=)"
                )
        if positions:
            x.update(positions)
        for name, value in (rates or {}).items():
            x.rate[name] = value
        return x

    def random_state(self, seed: int = 1) -> State:
        """A random state of the seed, the same as that of ``espalier eval --random``."""
        if not isinstance(seed, (int, np.integer)) or seed < 0:
            raise TypeError(
                f"random_state of '{self.name}': seed is {seed!r}, expected a whole number from 0"
            )
        return State(self, self._core.random(seed), _core.uniform(seed, self.nv))

    def random_states(self, count: int, seed: int = 1) -> tuple[Array, Array]:
        """Positions (count, nq) and rates (count, nv) of random states of seeds from `seed` on."""
        q = np.empty((count, self.nq))
        v = np.empty((count, self.nv))
        for k in range(count):
            q[k] = self._core.random(seed + k)
            v[k] = _core.uniform(seed + k, self.nv)
        return q, v

    def close(self, q: ArrayLike, *, start: ArrayLike | None = None, branch: int = 0) -> Array:
        """Positions with the loops closed, dependent ones from the independent ones.

        start: assembled positions from which the dependent joints follow, so that the branch is
        kept; the neutral ones if left out. branch: number of the assembly at these independent
        positions, 0 the one that start leads to, others in the order of their distance from it.
        Raises InvalidState where loops do not reach, at dead points, and where there are fewer
        branches.
        """
        core = self._core
        first, closure = core.close(core.neutral() if start is None else start, q)
        if closure["verdict"] != "closed":
            raise InvalidState(
                f"close '{self.name}': {closure['text']}, expected independent positions that "
                "the loops reach"
            )
        if branch == 0:
            return first
        found = self._branches(first)
        if not 0 <= branch < len(found):
            raise InvalidState(
                f"close '{self.name}': branch is {branch}, expected 0 to {len(found) - 1} (the "
                "assemblies found at these independent positions)"
            )
        return found[branch]

    def _branches(self, first: Array) -> list[Array]:
        """Assemblies with the independent positions of `first`, by starts from random guesses."""
        core = self._core
        keep = np.zeros(self.nq, dtype=bool)
        for j in self._joint_by_name.values():
            if j["independent"] is not None:
                keep[j["q"] : j["q"] + j["nq"]] = True
        found = [first]
        turns = np.random.default_rng(1)
        for _ in range(40 * (1 + int(np.sum(~keep)))):
            guess = core.normalize(np.where(keep, first, turns.uniform(-np.pi, np.pi, self.nq)))
            q, closure = core.project(guess)
            if closure["verdict"] != "closed" or not np.all(np.isfinite(q)):
                continue
            if all(np.max(np.abs(self._turned(q, other))) > 1e-6 for other in found):
                found.append(q)
        distance = [float(np.linalg.norm(self._turned(first, q))) for q in found]
        return [found[k] for k in np.argsort(distance, kind="stable")]

    def _turned(self, a: Array, b: Array) -> Array:
        """Difference b - a, angles to less than half a turn."""
        d = self._core.difference(a, b)
        revolute = np.zeros(len(d), dtype=bool)
        for j in self._joint_by_name.values():
            if j["nv"] == 1 and j["type"] in ("revolute", "continuous"):
                revolute[j["rate"]] = True
        return np.where(revolute, np.remainder(d + np.pi, 2 * np.pi) - np.pi, d)

    def assemble(self, q: ArrayLike) -> Array:
        """First assembly from any guess; independent positions may move."""
        out, closure = self._core.assemble(q)
        if closure["verdict"] != "closed":
            raise InvalidState(f"assemble '{self.name}': {closure['text']}, expected a guess nearby")
        return out

    def examine(self, q: ArrayLike) -> Results:
        """Residual and singularity margin of the loops at a position."""
        return Results(self._core.examine(q)[1])

    def integrate(self, q: ArrayLike, spanning_rates: ArrayLike) -> Array:
        """Positions moved by constant rates of all joints for unit time."""
        return self._core.integrate(q, spanning_rates)

    def difference(self, q0: ArrayLike, q1: ArrayLike) -> Array:
        """The rates of all joints with integrate(q0, rates) = q1."""
        return self._core.difference(q0, q1)

    def spanning_rates(self, q: ArrayLike, v: ArrayLike) -> Array:
        """Rates of all joints, dependent ones too."""
        return self._core.spanning_rates(q, v)

    def passive_forces(self, q: ArrayLike, v: ArrayLike) -> Array:
        """Of dampers, dry friction and springs in the joints, on the independent rates."""
        return self._core.passive_forces(q, v)

    def pose(self, link: str, q: ArrayLike) -> Array:
        """Placement of a link in the world as a homogeneous 4 x 4 matrix, or (batch, 4, 4)."""
        row = np.asarray(self.forward_kinematics(link, q))
        x, y, z, w = (row[..., 3 + k] for k in range(4))
        out = np.zeros((*row.shape[:-1], 4, 4))
        out[..., 0, 0] = 1 - 2 * (y * y + z * z)
        out[..., 0, 1] = 2 * (x * y - z * w)
        out[..., 0, 2] = 2 * (x * z + y * w)
        out[..., 1, 0] = 2 * (x * y + z * w)
        out[..., 1, 1] = 1 - 2 * (x * x + z * z)
        out[..., 1, 2] = 2 * (y * z - x * w)
        out[..., 2, 0] = 2 * (x * z - y * w)
        out[..., 2, 1] = 2 * (y * z + x * w)
        out[..., 2, 2] = 1 - 2 * (x * x + y * y)
        out[..., :3, 3] = row[..., :3]
        out[..., 3, 3] = 1
        return out

    # Algorithms.

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
        variants: Sequence[Model] = (),
    ) -> Any:
        """An algorithm with its workspace, for whoever calls it often: ``algo(q, v, tau, out=vdot)``.

        It belongs to one thread at a time; others wait. It checks shapes; open loops and results
        that are not finite raise with check=True only. precision: of batches, "double" or "float"
        (left out: as q is). threads: of batches, 0: all cores. variants: robots of the same joints
        and links and other numbers, among which `variant` of a batch chooses.
        """
        for what, word in (("name", name), ("problem", problem)):
            if word is not None and not isinstance(word, str):
                raise TypeError(f"algorithm of '{self.name}': {what} is {word!r}, expected a name")
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
            check,
            [variant._core for variant in variants],
        )
        if gravity is not None:
            bound.gravity = [float(x) for x in gravity]
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
            inputs = [Input(joint=c[1]) for c in self._core.coordinates() if c[3] < 6]
        if sensors is None and problem in ("sensor-dynamics", "hybrid-dynamics"):
            sensors = [Sensor("torque", joint=c[1]) for c in self._core.coordinates() if c[4] == 0]
        return {"end_effectors": end_effectors, "inputs": inputs, "sensors": sensors}

    def _problem(self, name: str) -> str:
        known = self.host.problems()
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
            variants = tuple(id(m) for m in setup.get("variants", ()))
            key = (problem, name, repr((sorted((k, v) for k, v in setup.items()
                                               if k != "variants"), variants)))
        bound = cache.get(key)
        if bound is None:
            if len(cache) >= 64:
                cache.clear()
            options: dict[str, Any] = {"check": True, **setup}
            bound = self.algorithm(name, problem, **options)
            cache[key] = bound
            cache[(key, "keeps")] = setup.get("variants")
        return bound

    def __getattr__(self, name: str) -> Problem:
        if name.startswith("_"):
            raise AttributeError(name)
        if name.replace("_", "-") not in self.host.problems():
            solves = [a["problem"] for a in self.host.algorithms("")
                      if a["name"] == name.replace("_", "-")]
            if solves:
                algorithm = name.replace("_", "-")
                call = f"robot.{solves[0].replace('-', '_')}(..., algorithm='{algorithm}')"
                raise AttributeError(
                    f"model '{self.name}': attribute is '{name}', expected a problem ('{name}' is "
                    f"an algorithm: {call})"
                )
            known = [p.replace("-", "_") for p in self.host.problems()]
            text = str(unknown(f"model '{self.name}'", "attribute", name, known + _PUBLIC))
            raise AttributeError(text)
        problem = Problem(self, name.replace("_", "-"))
        self.__dict__[name] = problem
        return problem

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *(p.replace("-", "_") for p in self.host.problems())]

    def compare(
        self,
        problem: str = "forward-dynamics",
        *,
        samples: int = 20,
        seed: int = 1,
        tolerance: float = 1e-9,
        **setup: Any,
    ) -> Comparison:
        """Runs all algorithms for a problem on the same random states.

        Differences are the largest entry of x - reference over the largest of the reference, or
        over one if that is larger; the reference is "dense" where it can run, else the first exact
        algorithm.
        """
        return compare(self, problem, samples, seed, tolerance, setup)

    def simulate(
        self,
        state: State | None = None,
        *,
        duration: float,
        dt: float,
        controller: AnyController | Sequence[AnyController] | None = None,
        ground: Any = None,
        **options: Any,
    ) -> Run:
        """Integrates the robot's motion from a state (default: neutral).

        controller: f(t, q, v) that gives forces on the independent rates (nv) or {joint: force}, a
        Pd or Constant, or several of these. Further options: tau (constant forces), algorithm,
        integrator ("rk4", ...), options (of the integrator), every (rows: one every so many
        steps), passive, friction_rate, gravity, progress (a bar; None: on terminals).

        ground: rigid contact, as ``espalier simulate --ground`` has it: "plane" for z = 0, a dict
        of the keys of a ground file, or such a file. Steps of length dt by Moreau's method take
        the place of algorithm, integrator, options and friction_rate; solver names that of the
        impulses. ``run.contact`` has the forces on the robot's shapes.
        """
        x = self.state() if state is None else state
        if x.model != self:
            raise Unsupported(
                f"simulate '{self.name}': state is of '{x.model.name}', expected one of this robot"
            )
        words = ["state", "duration", "dt", "controller", "ground", *OPTIONS]
        expect_options(f"simulate '{self.name}'", options, words)
        return simulate(x, duration, dt, controller=controller, ground=ground, **options)

    def view(self, sweep: str | None = None) -> View:
        """The robot in the viewer, with sliders through sampled poses; sweep: a coordinate to play.

        A notebook shows it, .show() opens a browser, .save() writes a file.
        """
        return view(self, sweep=sweep)

    # As an object.

    def graph(self, which: str = "clusters") -> str:
        """Graphviz of the "connectivity" graph, the spanning "tree" or the "clusters"."""
        return self._core.dot(which)

    def svg(self) -> str:
        """The cluster tree as SVG."""
        return cluster_tree(self.name, self.clusters)

    def _repr_html_(self) -> str:
        from html import escape

        return f"<pre>{escape(str(self))}</pre>{self.svg()}"

    def __str__(self) -> str:
        lines = [
            repr(self)[1:-1],
            f"  links: {', '.join(self.links)}",
            "  joints: "
            + ", ".join(
                f"{j['name']} ({j['type']}{'' if j['independent'] is not None else ', dependent'})"
                for j in self._joint_by_name.values()
            ),
        ]
        tied = [c for c in self.clusters if c["constrained"]]
        for c in tied:
            lines.append(
                f"  cluster {c['name']}: nv {c['nv']}, tied by {', '.join(c['constraints'])}"
            )
        return "\n".join(lines)

    def __repr__(self) -> str:
        return (
            f"<espalier.Model '{self.name}': nq {self.nq}, nv {self.nv}, "
            f"{self._core.body_count} bodies in {len(self.clusters)} clusters, {self.mass:.6g} kg>"
        )

    def __reduce__(self) -> Any:
        return _unpickle, (self.description, self.options)

    def __copy__(self) -> Model:
        return self  # immutable

    def __deepcopy__(self, memo: Any) -> Model:
        return self

    @cached_property
    def _text(self) -> str:
        return self.description.text()

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return (
            isinstance(other, Model) and self.options == other.options and self._text == other._text
        )

    def __hash__(self) -> int:
        return hash((self.name, self.nq, self.nv))


_PUBLIC = [name for name in vars(Model) if not name.startswith("_")]


def _unpickle(description: Description, options: dict[str, str]) -> Model:
    return description.compile(**options)


def load(
    path: str | os.PathLike[str],
    *,
    root: str | None = None,
    mimic: str = "honour",
    rotors: str = "fold",
    host: Host | None = None,
) -> Model:
    """Reads and compiles a robot, by the format of the file's ending.

    root: "fixed", or "floating": the root link hangs on a floating joint named "root"; as the file
    says unless it is given. mimic: "honour" or "ignore". rotors: "fold" axisymmetric ones (exact)
    or "keep" them. What of the file is left out, and what is doubtful in it, is a warning.
    """
    from .description import read

    model = read(path, host=host).compile(root=root, mimic=mimic, rotors=rotors)
    for text in model.host.warnings(model._core):
        warnings.warn(text, stacklevel=2)
    return model
