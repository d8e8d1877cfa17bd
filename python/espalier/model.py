"""Robots as they are computed on."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core
from .comparison import Comparison, compare
from .description import Description
from .errors import InvalidState, Unsupported, expect_options, expect_seed, expect_word, unknown
from .host import Host
from .positions import Positions
from .problem import Problem
from .simulation import OPTIONS, AnyController, Run, simulate
from .solving import Solving
from .state import State
from .svg import cluster_tree
from .viewer import View, view

Array = NDArray[np.float64]


class Model(Positions, Solving):
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

    @property
    def description(self) -> Description:
        """A copy of what it was compiled from, to be edited."""
        return Description(host=self.host, _core_object=self._core.description, _laws=self._laws)

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
        self._expect_finite("state of", q=q, v=v)
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
        seed = expect_seed(f"random_state of '{self.name}'", seed)
        return State(self, self._core.random(seed), _core.uniform(seed, self.nv))

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
        if not isinstance(x, State):
            raise TypeError(f"simulate '{self.name}': state is {x!r}, expected robot.state(...)")
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
        expect_word(f"graph of '{self.name}'", "which", which,
                    ["clusters", "connectivity", "tree", "subsystems"])
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
                f"{j['name']} ({j['type']}{_dependence(j['rates'])})"
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
            and self._laws == other._laws
        )

    def __hash__(self) -> int:
        return hash((self.name, self.nq, self.nv))


def _dependence(rates: list[Any]) -> str:
    count = sum(place is None for place in rates)
    return "" if count == 0 else ", dependent" if count == len(rates) else ", dependent in part"


_PUBLIC = [name for base in Model.__mro__ for name in vars(base) if not name.startswith("_")]


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
