"""Positions of a robot on its loops."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core
from .errors import InvalidState, Unsupported, expect_array, expect_seed, expect_whole
from .facts import Facts
from .results import Results

Array = NDArray[np.float64]


class Positions(Facts):
    """A compiled robot's positions: closed, assembled, moved and compared."""

    def random_states(self, count: int, seed: int = 1) -> tuple[Array, Array]:
        """Positions (count, nq) and rates (count, nv) of random states of seeds from `seed` on."""
        who = f"random_states of '{self.name}'"
        count = expect_whole(who, "count", count, 0)
        seed = expect_seed(who, seed, count)
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
        branch = expect_whole(f"close '{self.name}'", "branch", branch, 0)
        self._expect_finite("close", q=q, start=start)
        first, closure = core.close(core.neutral() if start is None else start, q)
        if closure["verdict"] != "closed":
            raise InvalidState(
                f"close '{self.name}': {closure['text']}, expected independent positions that "
                "the loops reach"
            )
        if branch == 0:
            return first
        found = self._branches(first)
        if branch >= len(found):
            raise InvalidState(
                f"close '{self.name}': branch is {branch}, expected 0 to {len(found) - 1} (the "
                "assemblies found at these independent positions)"
            )
        return found[branch]

    def _expect_finite(self, what: str, **arrays: ArrayLike | None) -> None:
        """Raises InvalidState for positions that are no numbers."""
        for name, given in arrays.items():
            if given is None:
                continue
            x = expect_array(f"{what} '{self.name}'", name, given)
            wrong = np.argwhere(~np.isfinite(x))
            if len(wrong):
                index = ", ".join(str(k) for k in wrong[0])
                raise InvalidState(
                    f"{what} '{self.name}': {name}[{index}] is {x[tuple(wrong[0])]}, expected a "
                    "finite number"
                )

    def _branches(self, first: Array) -> list[Array]:
        """Assemblies with the independent positions of `first`, by starts from random guesses."""
        core = self._core
        for name in self.coordinates:
            if name not in self._independent_positions:
                raise Unsupported(
                    f"close '{self.name}': independent rate '{name}' has no position of its own, "
                    "expected one for each (assemblies at the same independent positions are "
                    "defined with these; start= leads to others)"
                )
        keep = np.zeros(self.nq, dtype=bool)
        for where in self._independent_positions.values():
            keep[where] = True
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
        self._expect_finite("assemble", q=q)
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
