"""Tensors in, tensors out, and gradients. Needs PyTorch; ``import espalier`` does not.

Functions of a model take and give tensors of the CPU, without copies where their dtype is float64.
`forward_dynamics` and `inverse_dynamics` have gradients, by the kernel's adjoints: O(n) a state,
exact through loops. A gradient by positions is that along the motions the robot can make: of a
loop it stands at the independent joints (zeros at the dependent ones), and of a quaternion it is
tangent to the unit sphere. Other functions compute forwards only: backward() through them raises,
as it does through arguments that have no gradient here (wrenches, gravity) and through algorithms
that approximate.

    import espalier as esp, espalier.torch as est
    robot = est.wrap(esp.load("tello.yaml"))
    vdot = robot.forward_dynamics(q, v, tau)      # tensors, (nv,) or (batch, nv)
    vdot.sum().backward()                         # tau.grad is M^-1 times ones
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import torch

from .errors import Unsupported
from .model import Model
from .results import Results


def to_array(x: Any) -> Any:
    """Tensors, in dicts and lists too, as arrays that share their memory; other things as they are."""
    if isinstance(x, Mapping):
        return {key: to_array(value) for key, value in x.items()}
    if isinstance(x, (list, tuple)):
        return type(x)(map(to_array, x))
    if not isinstance(x, torch.Tensor):
        return x
    if x.device.type != "cpu":
        raise Unsupported(
            f"espalier.torch: device of a tensor is {x.device}, expected cpu (x.cpu() copies it)"
        )
    return x.detach().numpy()


def to_tensor(x: Any) -> Any:
    """An array as a tensor that shares its memory; results by name too."""
    if isinstance(x, Results):
        return Results({name: to_tensor(value) for name, value in x.items()})
    if isinstance(x, np.ndarray):
        return torch.from_numpy(x)
    return torch.tensor(x, dtype=torch.float64) if isinstance(x, float) else x


def _tensors(x: Any) -> Iterator[torch.Tensor]:
    """All tensors in dicts and lists."""
    if isinstance(x, torch.Tensor):
        yield x
    elif isinstance(x, (Mapping, list, tuple)):
        for each in x.values() if isinstance(x, Mapping) else x:
            yield from _tensors(each)


def _position_gradient(model: Model, q: np.ndarray, by_rates: np.ndarray) -> np.ndarray:
    """Gradients by positions g (..., nq) from those along independent rates: g . qd = by_rates . v."""
    g = np.zeros(np.broadcast_shapes(q.shape[:-1], by_rates.shape[:-1]) + (model.nq,))
    for joint in model._joint_by_name.values():
        rates = joint["rates"]
        if all(rate is None for rate in rates):
            continue
        at, kind = joint["q"], joint["type"]
        # Rates that depend on others move nothing by themselves.
        x = np.stack(
            [np.zeros(by_rates.shape[:-1]) if k is None else by_rates[..., k] for k in rates], axis=-1
        )
        if kind == "floating":
            g[..., at : at + 3] = _rotated(q[..., at + 3 : at + 7], x[..., 3:])
            g[..., at + 3 : at + 7] = _quaternion_gradient(q[..., at + 3 : at + 7], x[..., :3])
        elif kind == "spherical":
            g[..., at : at + 4] = _quaternion_gradient(q[..., at : at + 4], x)
        elif kind == "planar":  # rates: of the angle, then along the body's axes
            s, c = np.sin(q[..., at + 2]), np.cos(q[..., at + 2])
            g[..., at] = c * x[..., 1] - s * x[..., 2]
            g[..., at + 1] = s * x[..., 1] + c * x[..., 2]
            g[..., at + 2] = x[..., 0]
        elif kind in ("revolute", "continuous", "prismatic", "helical", "cylindrical", "universal"):
            g[..., at : at + joint["nq"]] = x
        else:
            raise Unsupported(
                f"espalier.torch: joint '{joint['name']}' of '{model.name}' is of type '{kind}', "
                "expected one whose positions' rates are known here (take gradients by the problem "
                "forward-dynamics-adjoint)"
            )
    return g


def _rotated(quaternion: np.ndarray, x: np.ndarray) -> np.ndarray:
    """From body axes to the parent's; x y z w."""
    u, w = quaternion[..., :3], quaternion[..., 3:]
    twice = 2.0 * np.cross(u, x)
    return x + w * twice + np.cross(u, twice)


def _quaternion_gradient(quaternion: np.ndarray, by_rate: np.ndarray) -> np.ndarray:
    """The tangent g with g . qd = by_rate . omega, where qd = quaternion (omega, 0) / 2."""
    u, w = quaternion[..., :3], quaternion[..., 3:]
    g = np.concatenate(
        [w * by_rate + np.cross(u, by_rate), -np.sum(u * by_rate, axis=-1, keepdims=True)], axis=-1
    )
    return 2.0 * g / np.sum(quaternion**2, axis=-1, keepdims=True)


#: Functions with an adjoint, and the roles of their arguments.
_ADJOINTS = {
    "forward_dynamics": ("q", "v", "tau"),
    "inverse_dynamics": ("q", "v", "vdot"),
}


class _Solve(torch.autograd.Function):
    """A call as a node of autograd's graph: tensors in, the tensors of its result out.

    Those behind the positional arguments have no gradients; they are here so that the result has the
    node that says so.
    """

    @staticmethod
    def forward(ctx: Any, *args: Any, **kwargs: Any) -> Any:
        function, ctx.model, ctx.name, ctx.obstacle, count, *tensors = args
        arrays = tensors[:count]
        ctx.save_for_backward(*(x for x in arrays if isinstance(x, torch.Tensor)))
        ctx.plain = [None if isinstance(x, torch.Tensor) else x for x in arrays]
        ctx.unread = len(tensors) - count
        return function(*arrays)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, *gradients: Any) -> Any:
        if ctx.obstacle:
            raise Unsupported(
                f"espalier.torch: gradient of {ctx.obstacle} is wanted, expected forward_dynamics or "
                "inverse_dynamics of q, v and forces or accelerations alone, by an exact algorithm "
                "(use detach() or torch.no_grad())"
            )
        saved = iter(ctx.saved_tensors)
        arrays = [np.asarray(to_array(next(saved)) if x is None else x, float) for x in ctx.plain]
        roles = _ADJOINTS[ctx.name]
        weights = gradients[0].detach().numpy()
        if weights.ndim == 2:  # arguments that all states share
            arrays[0] = np.broadcast_to(arrays[0], (len(weights), arrays[0].shape[-1]))
        adjoint = getattr(ctx.model, ctx.name + "_adjoint")
        found = adjoint(*arrays, multipliers=np.ascontiguousarray(weights, float))
        out: list[Any] = [None] * 5
        for role, array, plain, wanted in zip(
            roles, arrays, ctx.plain, ctx.needs_input_grad[5:], strict=False
        ):
            if plain is not None or not wanted:
                out.append(None)
                continue
            g = found["by_" + role]
            g = _position_gradient(ctx.model, arrays[0], g) if role == "q" else g
            out.append(torch.from_numpy(np.ascontiguousarray(g)))
        # A shared argument collects the gradients of all states.
        for k, tensor in zip(
            [5 + i for i, x in enumerate(ctx.plain) if x is None], ctx.saved_tensors, strict=True
        ):
            if out[k] is None:
                continue
            if out[k].ndim > tensor.ndim:
                out[k] = out[k].sum(0)
            out[k] = out[k].to(tensor.dtype)
        return (*out, *[None] * ctx.unread)


class TensorModel:
    """A model whose problems take and give tensors; all else is the model's."""

    def __init__(self, model: Model):
        self.model = model

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.model, name)
        if name.startswith("_") or name.replace("_", "-") not in self.model.host.problems():
            return found

        def call(*arrays: Any, **given: Any) -> Any:
            for role in _ADJOINTS.get(name, ())[len(arrays):]:  # by name or not is the same
                if role not in given:
                    break
                arrays = (*arrays, given.pop(role))
            if torch.is_grad_enabled() and any(
                x.requires_grad for x in _tensors([*arrays, given])
            ):
                return self._solve_tracked(found, name, arrays, given)
            out = given.get("out")
            result = to_tensor(found(*to_array(arrays), **to_array(given)))
            return out if isinstance(out, torch.Tensor) else result

        call.__name__, call.__doc__ = name, found.__doc__
        return call

    def _solve_tracked(
        self, function: Any, name: str, arrays: tuple[Any, ...], given: dict[str, Any]
    ) -> Any:
        if next(_tensors(given.get("out")), None) is not None:
            raise Unsupported(
                f"espalier.torch: out of {name} is given and arguments require gradients, expected no "
                "out (gradients do not pass through it; use detach() or torch.no_grad())"
            )
        named: dict[str, Any] = {}

        def solve(*values: Any) -> Any:
            result = to_tensor(function(*to_array(values), **to_array(given)))
            if not isinstance(result, Results):
                return result
            named.update(result)
            return tuple(x for x in result.values() if isinstance(x, torch.Tensor))

        obstacle = self._obstacle(name, given)
        found = _Solve.apply(
            solve, self.model, name, obstacle, len(arrays), *arrays, *_tensors(given)
        )
        if not named:
            return found
        tracked = iter(found)
        return Results(
            {k: next(tracked) if isinstance(x, torch.Tensor) else x for k, x in named.items()}
        )

    def _obstacle(self, name: str, given: dict[str, Any]) -> str:
        """What has no gradient; empty where it has one."""
        if name not in _ADJOINTS:
            return name
        unread = sorted(set(given) - {"out", "algorithm"})
        if unread:
            return f"{name} with {', '.join(unread)}"
        algorithm = given.get("algorithm")
        if algorithm is None:  # the best that there is, which is exact
            return ""
        for a in self.model.host.algorithms(name.replace("_", "-"), self.model._core):
            if a["name"] == algorithm and not a["exact"]:
                return f"{name} by '{algorithm}'"
        return ""

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *dir(self.model)]

    def __repr__(self) -> str:
        return f"<espalier.torch of {self.model!r}>"


def wrap(model: Model) -> TensorModel:
    """The model for tensors."""
    return TensorModel(model)
