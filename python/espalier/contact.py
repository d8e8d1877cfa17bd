"""Many robots on rigid ground."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core
from .errors import (
    InvalidModel, SizeMismatch, expect_array, expect_dict, expect_names, expect_number, expect_numbers,
    expect_vector, expect_whole, unknown,
)
from .model import Model
from .simulation import warn_of_shapes

Array = NDArray[np.float64]

#: What ContactBatch.status counts.
STATUSES = ("ok", "contact_unsolved", "too_deep", "loop_open", "not_finite")
_GAINS = ("kp", "kd", "most", "stall", "no_load_rate")
_FRICTION = ("rows", "implicit", "none")


class ContactBatch:
    """N copies of a robot on rigid ground, eight in the lanes of a register on every core.

    Contact is hard with Coulomb's friction, loops stay closed exactly; see docs/contact.md. Robots
    touch the ground by the collision shapes of their file (`collisions`; a warning names those that
    touch nothing, as meshes that are missing), and by `balls`,
    ``{link: radius}`` or ``{link: (radius, (x, y, z))}``, or lists of these. `ground` is "plane",
    an array (rows, columns) of heights `spacing` apart whose first stands at `origin`, or None.
    `friction` to `rolling_friction` are of the ground, of balls, and of shapes whose file says no
    other; the last two are lengths [m], by which a moment may be as large as the normal force.
    `drives` are PD motors, implicit, ``{joint: {"kp": 3, "kd": 0.2, "most": 2.5}}``, whose targets
    are the actions of a learner: set_targets(). `passive`: damping, springs and dry friction of
    joints act. `dry_friction` of joints: "rows" (exact), "implicit" (creeps at rest) or "none"; left out,
    "rows", or "none" without `passive`. Arrays are (N, n).

    >>> import espalier as esp
    >>> import numpy as np
    >>> robot = esp.load(esp.robot_file("solo12.urdf"), root="floating")
    >>> legs = ("front_left", "front_right", "hind_left", "hind_right")
    >>> drives = {leg + "_knee": {"kp": 3, "kd": 0.2} for leg in legs}
    >>> feet = {leg + "_foot": 0.016 for leg in legs}
    >>> batch = esp.ContactBatch(robot, balls=feet, drives=drives)
    >>> q = np.tile(robot.state().q, (16, 1))
    >>> q[:, 2] = 0.34
    >>> batch.start(q)
    >>> batch.randomize(friction=np.linspace(0.5, 1.2, 16),
    ...                 masses={"trunk": np.linspace(0.8, 1.2, 16)},
    ...                 ground=np.linspace(-0.02, 0, 16))
    >>> batch.step(2e-3, steps=10)
    >>> batch.q.shape, sorted(set(batch.status.tolist()))
    ((16, 19), [0])
    """

    def __init__(
        self,
        model: Model,
        *,
        ground: Union[str, ArrayLike, None] = "plane",
        spacing: float = 1.0,
        origin: Sequence[float] = (0.0, 0.0, 0.0),
        collisions: bool = True,
        self_collision: bool = False,
        balls: Mapping[str, Any] | None = None,
        friction: float = 0.7,
        restitution: float = 0.0,
        stiffness: float = 0.0,
        damping: float = 0.0,
        torsional_friction: float = 0.0,
        rolling_friction: float = 0.0,
        drives: Mapping[str, Mapping[str, float]] | None = None,
        dry_friction: str | None = None,
        limits: bool = True,
        passive: bool = True,
        tolerance: float = 1e-6,
        threads: int = 0,
    ):
        who = f"contact batch of '{model.name}'"
        if isinstance(ground, str):
            if ground != "plane":
                raise InvalidModel(
                    f"{who}: ground is '{ground}', expected 'plane', heights or None"
                )
        elif ground is not None:
            ground = expect_array(who, "ground", ground)
            if ground.ndim != 2:
                raise SizeMismatch(
                    f"{who}: shape of ground is {ground.shape}, expected (rows, columns)"
                )
        for what, given, of in (("balls", balls, "radii by link"),
                                ("drives", drives, "gains by joint")):
            if given is not None:
                expect_dict(who, what, given, of)
                for name in given:
                    expect_names(who, **{f"a name in {what}": name})
        if dry_friction is None:
            dry_friction = "rows" if passive else "none"
        if dry_friction not in _FRICTION:
            raise unknown(who, "dry_friction", dry_friction, list(_FRICTION))
        self.model = model
        self.drives = list(drives or {})
        self._core = _core.ContactRobots(model._core, {
            **{name: expect_number(who, name, x) for name, x in {
                "spacing": spacing, "friction": friction, "restitution": restitution,
                "stiffness": stiffness, "damping": damping,
                "torsional_friction": torsional_friction, "rolling_friction": rolling_friction,
                "tolerance": tolerance}.items()},
            "ground": ground, "origin": expect_vector(who, "origin", origin),
            "collisions": bool(collisions), "self_collision": bool(self_collision),
            "balls": _balls(who, balls or {}),
            "drives": [(name, _gains(who, name, gains)) for name, gains in (drives or {}).items()],
            "dry_friction": dry_friction, "limits": bool(limits), "passive": bool(passive),
            "threads": expect_whole(who, "threads", threads, 0),
        })
        found = {"left_out": self._core.left_out, "hollow": self._core.hollow, "overlap": None}
        warn_of_shapes(who, found, "`balls`, or in the robot's file", 3)

    def start(self, q: ArrayLike, v: ArrayLike | None = None, t: float = 0.0) -> None:
        """Where the robots start, as many as q has rows; at rest without v; targets are zero.

        What randomize() set stays, unless their number is another.
        """
        who = f"contact batch of '{self.model.name}'"
        positions = expect_array(who, "q", q)
        if positions.ndim != 2:
            raise SizeMismatch(
                f"{who}: shape of q is {positions.shape}, expected (batch, {self.model.nq})"
            )
        rates = np.zeros((len(positions), self.model.nv)) if v is None else v
        self._core.start(positions, rates, expect_number(who, "t", t))

    def reset(self, mask: ArrayLike, q: ArrayLike, v: ArrayLike | None = None) -> None:
        """Puts those elsewhere for which the mask (N,) holds, without impulses from before.

        q and v have a row for each of them, or one for all. What randomize() set stays.
        """
        chosen = np.asarray(mask)
        N = len(self._core.status)
        if chosen.dtype != bool:
            raise TypeError(
                f"contact batch of '{self.model.name}': mask is {mask!r}, expected {N} times True "
                "or False"
            )
        if chosen.shape != (N,):
            raise SizeMismatch(
                f"contact batch of '{self.model.name}': shape of mask is {chosen.shape}, "
                f"expected ({N},)"
            )
        robots = np.flatnonzero(chosen)
        who = f"contact batch of '{self.model.name}'"
        positions = expect_array(who, "q", q)
        rates = np.zeros(self.model.nv) if v is None else expect_array(who, "v", v)
        if positions.ndim == 1:
            positions = np.tile(positions, (len(robots), 1))
        if rates.ndim == 1:
            rates = np.tile(rates, (len(robots), 1))
        self._core.reset(robots.tolist(), positions, rates)

    def randomize(
        self,
        *,
        friction: ArrayLike | None = None,
        masses: Mapping[str, ArrayLike] | None = None,
        ground: ArrayLike | None = None,
    ) -> None:
        """Domain randomization, after start(): what is left out stays as it is.

        friction: (N,) factors on all coefficients. masses: {link: (N,) factors} on links with all
        that is welded to them, mass and inertia alike, exact through loops and gears; replaces what
        was set before, {} takes it back. ground: (N,) heights, or (N, 3) offsets along x, y and z
        [m], of all that is fixed to the ground.
        """
        who = f"contact batch of '{self.model.name}'"
        if friction is not None:
            self._core.set_friction(friction)
        if masses is not None:
            N = len(self._core.status)
            expect_dict(who, "masses", masses, "factors by link")
            columns = [
                expect_array(who, f"masses of link '{link}'", factors)
                for link, factors in masses.items()
            ]
            for link, column in zip(masses, columns):
                if column.shape != (N,):
                    raise SizeMismatch(
                        f"{who}: shape of masses of link '{link}' is {column.shape}, "
                        f"expected ({N},)"
                    )
            self._core.set_masses(
                list(masses), np.stack(columns, axis=1) if columns else np.zeros((N, 0))
            )
        if ground is not None:
            self._core.set_ground(ground)

    def set_targets(
        self,
        positions: ArrayLike | None = None,
        rates: ArrayLike | None = None,
        torques: ArrayLike | None = None,
    ) -> None:
        """Targets of the drives, each (N, len(drives)), in their order; None keeps what it was."""
        self._core.set_targets(positions, rates, torques)

    def set_forces(self, tau: ArrayLike) -> None:
        """Forces on independent rates besides (N, nv), until they are set again."""
        self._core.set_forces(tau)

    def set_gravity(self, gravity: Sequence[float]) -> None:
        """Gravity for what follows [m/s^2], world axes."""
        who = f"contact batch of '{self.model.name}'"
        self._core.set_gravity(expect_vector(who, "gravity", gravity))

    def step(self, dt: float, steps: int = 1) -> None:
        """Steps of length dt [s]; other Python threads run meanwhile."""
        who = f"contact batch of '{self.model.name}'"
        self._core.step(expect_number(who, "dt", dt), expect_whole(who, "steps", steps, 1))

    @property
    def q(self) -> Array:
        """Positions (N, nq)."""
        return self._core.q

    @property
    def v(self) -> Array:
        """Independent rates (N, nv)."""
        return self._core.v

    @property
    def t(self) -> float:
        """Time [s]."""
        return self._core.t

    @property
    def shapes(self) -> list[str]:
        """Names of all shapes that may touch, in the order of forces."""
        return self._core.shapes

    @property
    def forces(self) -> Array:
        """Force of the last step on every shape (N, shapes, 3), world axes [N]."""
        return self._core.forces

    @property
    def residuals(self) -> Array:
        """Natural residual of every robot's last step (N,) [m/s]."""
        return self._core.residuals

    @property
    def status(self) -> NDArray[np.uint8]:
        """What became of every robot in the last step: index into STATUSES, 0 is ok."""
        return self._core.status

    def save(self, robot: int) -> Array:
        """What one robot's next step depends on besides what is set for it."""
        return self._core.save(self._numbered(robot))

    def restore(self, robot: int, saved: ArrayLike) -> None:
        """Puts back what save() returned."""
        self._core.restore(self._numbered(robot), saved)

    def _numbered(self, robot: int) -> int:
        return expect_whole(f"contact batch of '{self.model.name}'", "robot", robot, 0)

    def __repr__(self) -> str:
        return (f"<espalier.ContactBatch of '{self.model.name}': {len(self._core.status)} robots, "
                f"{len(self.shapes)} shapes, {len(self.drives)} drives>")


def _gains(who: str, joint: str, gains: Mapping[str, float]) -> list[float]:
    drive = f"{who}: drive of joint '{joint}'"
    if not isinstance(gains, Mapping):
        raise TypeError(f"{drive}: gains are {gains!r}, expected a dict of {', '.join(_GAINS)}")
    for key in gains:
        if key not in _GAINS:
            raise unknown(drive, "gain", key, list(_GAINS))
    usual = {"most": float("inf")}
    return [expect_number(drive, key, gains.get(key, usual.get(key, 0.0))) for key in _GAINS]


def _balls(who: str, balls: Mapping[str, Any]) -> list[tuple[str, float, list[float]]]:
    out = []
    for link, given in balls.items():
        for ball in given if isinstance(given, list) else [given]:
            if isinstance(ball, tuple) and len(ball) != 2:
                raise SizeMismatch(
                    f"{who}: a ball of link '{link}' is {ball!r}, expected a radius or "
                    "(radius, (x, y, z))"
                )
            radius, at = ball if isinstance(ball, tuple) else (ball, (0.0, 0.0, 0.0))
            place = expect_numbers(who, f"place of a ball of link '{link}'", at)
            if len(place) != 3:
                raise SizeMismatch(
                    f"{who}: place of a ball of link '{link}' has {len(place)} numbers, expected 3"
                )
            out.append((link, expect_number(who, f"radius of a ball of link '{link}'", radius), place))
    return out
