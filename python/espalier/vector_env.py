"""Many robots in time for learning: reset(mask), step(actions), as gymnasium has it, without it."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core
from .errors import (
    DuplicateName, InvalidModel, InvalidState, SizeMismatch, expect_array, expect_names, expect_number,
    expect_seed, expect_whole, is_list, unknown,
)
from .model import Model

Array = NDArray[np.float64]


class VectorEnv:
    """N copies of a robot that move together, eight in the lanes of a register on every core.

    A step holds the actions, forces on the independent rates (N, nv), or on those named in
    `actuated`, for `substeps` steps of `dt`. Observations are q and v side by side, unless
    `observe(q, v)` makes others. `reward(q, v, actions)` -> (N,), `done(q, v)` -> (N,) bools.
    Robots that are done, that leave the numbers or whose loops do not close, are `terminated`;
    after `horizon` steps they are `truncated`. With `autoreset` the next step() starts both anew,
    as gymnasium's vector environments do (NEXT_STEP): it ignores their actions and returns the
    observation of their start, with reward 0 and neither of the two. What the others do does not
    depend on it, to the bit. Dry friction of a joint is friction tanh(rate / friction_rate).
    Dampers and friction that the integrator does not bear at dt are warnings (`ContactBatch` takes
    them implicitly). `initial(random, n)` -> q, v has a row for each of n robots, or one
    for all.

    >>> import espalier as esp
    >>> robot = esp.load(esp.robot_file("double_pendulum.yaml"))
    >>> env = esp.VectorEnv(robot, 16, dt=1e-2)
    >>> observation, info = env.reset(seed=1)
    >>> observation, reward, terminated, truncated, info = env.step(env.sample())
    >>> observation.shape
    (16, 4)
    """

    def __init__(
        self,
        model: Model,
        num_envs: int,
        *,
        dt: float = 1e-3,
        substeps: int = 1,
        actuated: list[str] | None = None,
        horizon: int | None = None,
        initial: Callable[[np.random.Generator, int], tuple[ArrayLike, ArrayLike]] | None = None,
        observe: Callable[[Array, Array], Array] | None = None,
        reward: Callable[[Array, Array, Array], Array] | None = None,
        done: Callable[[Array, Array], NDArray[np.bool_]] | None = None,
        autoreset: bool = True,
        algorithm: str = "c-aba",
        integrator: str = "semi-implicit-euler",
        threads: int = 0,
        passive: bool = True,
        friction_rate: float = 0.05,
    ):
        who = f"environment of '{model.name}'"
        dt = expect_number(who, "dt", dt)
        threads = expect_whole(who, "threads", threads, 0)
        if horizon is not None:
            expect_whole(who, "horizon", horizon, 0)
        expect_names(who, algorithm=algorithm, integrator=integrator)
        for what, given in (("initial", initial), ("observe", observe), ("reward", reward),
                            ("done", done)):
            if given is not None and not callable(given):
                raise TypeError(f"{who}: {what} is {given!r}, expected a function")
        if actuated is not None and not is_list(actuated):
            raise TypeError(f"{who}: actuated is {actuated!r}, expected a list of joints")
        num_envs = expect_whole(who, "num_envs", num_envs, 1)
        substeps = expect_whole(who, "substeps", substeps, 1)
        if not dt > 0:
            raise InvalidModel(f"{who}: dt is {dt}, expected a number above 0")
        self.model, self.num_envs = model, num_envs
        self.dt, self.substeps, self.horizon = dt, substeps, horizon
        self.autoreset = autoreset
        self._initial = initial or self._near_neutral
        self._observe = observe or (lambda q, v: np.concatenate([q, v], axis=1))
        self._reward = reward or (lambda q, v, actions: np.zeros(len(q)))
        self._done = done or (lambda q, v: np.zeros(len(q), dtype=bool))
        self._columns = np.arange(model.nv)
        if actuated is not None:
            rates = {c[0]: range(c[2], c[2] + c[3]) for c in model._core.coordinates()}
            actuated = list(actuated)
            for name in actuated:
                if not isinstance(name, str) or name not in rates:
                    raise unknown(who, "actuated joint", name, list(rates))
            if len(set(actuated)) < len(actuated):
                twice = next(name for name in actuated if actuated.count(name) > 1)
                raise DuplicateName(
                    f"{who}: actuated joint '{twice}' is given twice, expected once"
                )
            self._columns = np.array([k for name in actuated for k in rates[name]], dtype=int)
        self.action_size = len(self._columns)
        self._run = _core.ManyRobots(
            model._core, algorithm, integrator, threads, bool(passive),
            expect_number(who, "friction_rate", friction_rate),
        )
        for sentence in self._run.stiff_joints(dt):
            warnings.warn(f"{who}: {sentence}", stacklevel=2)
        self._random = np.random.default_rng()
        self._steps = np.zeros(num_envs, dtype=int)
        self._over = np.ones(num_envs, dtype=bool)
        self._started = False

    def _near_neutral(self, random: np.random.Generator, count: int) -> tuple[Array, Array]:
        """Neutral and nearly at rest."""
        q = np.tile(self.model._core.neutral(), (count, 1))
        return q, random.uniform(-0.1, 0.1, (count, self.model.nv))

    @property
    def q(self) -> Array:
        """A copy of the positions (N, nq)."""
        return self._run.q

    @property
    def v(self) -> Array:
        """A copy of the independent rates (N, nv)."""
        return self._run.v

    def sample(self) -> Array:
        """Random actions, each from -1 to 1."""
        return self._random.uniform(-1, 1, (self.num_envs, self.action_size))

    def reset(
        self,
        mask: ArrayLike | None = None,
        *,
        seed: int | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Array, dict[str, Any]]:
        """Starts the robots anew for which the mask (N,) holds; all of them without one."""
        if seed is not None:
            seed = expect_seed(f"environment of '{self.model.name}'", seed)
            self._random = np.random.default_rng(seed)
        if mask is None and options is not None:
            mask = options.get("reset_mask")
        chosen = np.ones(self.num_envs, dtype=bool) if mask is None else np.asarray(mask)
        if chosen.dtype != bool:
            raise TypeError(
                f"environment of '{self.model.name}': mask is {mask!r}, expected {self.num_envs} "
                "times True or False"
            )
        if chosen.shape != (self.num_envs,):
            raise SizeMismatch(
                f"environment of '{self.model.name}': shape of mask is {chosen.shape}, expected "
                f"({self.num_envs},)"
            )
        if not self._started:
            chosen = np.ones(self.num_envs, dtype=bool)
        self._restart(chosen)
        return self._observe(self.q, self.v), {}

    def _restart(self, chosen: NDArray[np.bool_]) -> None:
        count = int(np.sum(chosen))
        if count == 0:
            return
        given = self._initial(self._random, count)
        if not isinstance(given, (tuple, list)) or len(given) != 2:
            raise TypeError(
                f"environment of '{self.model.name}': initial gave {type(given).__name__}"
                f"{f' of {len(given)}' if isinstance(given, (tuple, list)) else ''}, "
                "expected two arrays, (q, v)"
            )
        q, v = (
            self._initial_rows(what, x, count, size)
            for what, x, size in zip(("initial q", "initial v"), given,
                                     (self.model.nq, self.model.nv))
        )
        if self._started:
            self._run.reset(np.flatnonzero(chosen).tolist(), q, v)
        else:  # all of them
            self._run.start(q, v)
        self._steps[chosen] = 0
        self._over[chosen] = False
        self._started = True

    def _initial_rows(self, what: str, x: ArrayLike, count: int, size: int) -> Array:
        """What `initial` gave as a row for each robot."""
        who = f"environment of '{self.model.name}'"
        rows = expect_array(who, what, x)
        if rows.shape not in ((size,), (count, size)):
            raise SizeMismatch(
                f"{who}: shape of {what} is {rows.shape}, expected ({count}, {size}) or ({size},)"
            )
        wrong = np.argwhere(~np.isfinite(rows))
        if len(wrong):
            index = ", ".join(str(k) for k in wrong[0])
            raise InvalidState(
                f"{who}: {what}[{index}] is {rows[tuple(wrong[0])]}, expected a finite number"
            )
        return np.ascontiguousarray(np.broadcast_to(rows, (count, size)))

    def _each(self, what: str, x: ArrayLike, dtype: type) -> NDArray[Any]:
        """What `reward` or `done` gave as an array of the environment's own."""
        values: NDArray[Any] = np.array(x, dtype=dtype)
        if values.shape not in ((), (self.num_envs,)):
            raise SizeMismatch(
                f"environment of '{self.model.name}': shape of {what} is {values.shape}, expected "
                f"({self.num_envs},)"
            )
        return values if values.ndim else np.full(self.num_envs, values)

    def step(
        self, actions: ArrayLike
    ) -> tuple[Array, Array, NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """Observations, rewards, terminated, truncated, info after one step."""
        u = expect_array(f"environment of '{self.model.name}'", "actions", actions)
        if u.shape != (self.num_envs, self.action_size):
            raise SizeMismatch(
                f"environment of '{self.model.name}': shape of actions is {u.shape}, expected "
                f"({self.num_envs}, {self.action_size})"
            )
        if not self._started:
            self._restart(np.ones(self.num_envs, dtype=bool))
        again = self._over.copy() if self.autoreset else np.zeros(self.num_envs, dtype=bool)
        tau = np.zeros((self.num_envs, self.model.nv))
        tau[:, self._columns] = u
        self._run.step(tau, self.dt, self.substeps)
        self._steps += 1
        q, v, status = self._run.q, self._run.v, self._run.status
        terminated = self._each("done", self._done(q, v), bool) | (status != 0)
        truncated = np.zeros(self.num_envs, dtype=bool)
        if self.horizon is not None:
            truncated = self._steps >= self.horizon
        reward = self._each("reward", self._reward(q, v, u), float)
        if again.any():
            self._restart(again)
            q, v, status = self._run.q, self._run.v, self._run.status
            terminated[again] = truncated[again] = False
            reward[again] = 0.0
        self._over = terminated | truncated
        info = {"status": status, "t": self._run.t}
        return self._observe(q, v), reward, terminated, truncated, info

    def close(self) -> None:
        """Does nothing: there is nothing to be closed. For those who call it."""
