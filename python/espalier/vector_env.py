"""Many robots in time for learning: reset(mask), step(actions), as gymnasium has it, without it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core
from .errors import (
    InvalidModel, SizeMismatch, expect_array, expect_names, expect_number, expect_seed,
    expect_whole, is_list,
)
from .model import Model

Array = NDArray[np.float64]


class VectorEnv:
    """N copies of a robot that move together, eight in the lanes of a register on every core.

    A step holds the actions, forces on the independent rates (N, nv), or on those named in
    `actuated`, for `substeps` steps of `dt`. Observations are q and v side by side, unless
    `observe(q, v)` makes others. `reward(q, v, actions)` -> (N,), `done(q, v)` -> (N,) bools.
    Robots that are done, that leave the numbers or whose loops do not close, are `terminated`;
    after `horizon` steps they are `truncated`; both start anew in the next step() with
    `autoreset`, as gymnasium's vector environments do.

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
            for name in actuated:
                if name not in rates:
                    from .errors import unknown

                    raise unknown(f"environment of '{model.name}'", "actuated joint", name,
                                  list(rates))
            self._columns = np.array([k for name in actuated for k in rates[name]], dtype=int)
        self.action_size = len(self._columns)
        self._run = _core.ManyRobots(
            model._core, algorithm, integrator, threads, bool(passive), 0.05
        )
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
        """Positions (N, nq)."""
        return self._run.q

    @property
    def v(self) -> Array:
        """Independent rates (N, nv)."""
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
        chosen = np.ones(self.num_envs, dtype=bool) if mask is None else np.asarray(mask, dtype=bool)
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
        who = f"environment of '{self.model.name}'"
        new_q, new_v = (
            expect_array(who, what, x)
            for what, x in zip(("initial q", "initial v"), self._initial(self._random, count))
        )
        if self._started:
            q, v, t = self._run.q, self._run.v, self._run.t
        else:
            q, v = np.empty((self.num_envs, self.model.nq)), np.empty((self.num_envs, self.model.nv))
            t = 0.0
        q[chosen], v[chosen] = new_q, new_v
        self._run.start(q, v, t)
        self._steps[chosen] = 0
        self._over[chosen] = False
        self._started = True

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
        if not self._started or (self.autoreset and self._over.any()):
            self._restart(self._over.copy())
        tau = np.zeros((self.num_envs, self.model.nv))
        tau[:, self._columns] = u
        self._run.step(tau, self.dt, self.substeps)
        self._steps += 1
        q, v, status = self._run.q, self._run.v, self._run.status
        terminated = np.asarray(self._done(q, v), dtype=bool) | (status != 0)
        truncated = np.zeros(self.num_envs, dtype=bool)
        if self.horizon is not None:
            truncated = self._steps >= self.horizon
        self._over = terminated | truncated
        info = {"status": status, "t": self._run.t}
        return self._observe(q, v), self._reward(q, v, u), terminated, truncated, info

    def close(self) -> None:
        """Does nothing: there is nothing to be closed. For those who call it."""
