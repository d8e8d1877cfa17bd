"""Tensors in, tensors out. Needs PyTorch; ``import espalier`` does not.

Functions of a model take and give tensors of the CPU, without copies where their dtype is float64.
They compute forwards only: a result that gradients are wanted of raises in backward(), with what
is missing. Gradients come with the derivatives of the kernel; the place for them is `_Solve`.

    import espalier as esp, espalier.torch as est
    robot = est.wrap(esp.load("tello.yaml"))
    vdot = robot.forward_dynamics(q, v, tau)      # tensors, (nv,) or (batch, nv)
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from .errors import Unsupported
from .model import Model
from .results import Results


def to_array(x: Any) -> Any:
    """A tensor as an array that shares its memory; other things as they are."""
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


class _Solve(torch.autograd.Function):
    """A call as a node of autograd's graph, so that backward() says what is missing."""

    @staticmethod
    def forward(ctx: Any, *args: Any, **kwargs: Any) -> Any:
        function, ctx.name, *tensors = args
        return to_tensor(function(*(to_array(x) for x in tensors)))

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        raise Unsupported(
            f"espalier.torch: gradient of {ctx.name} is wanted, expected forward calls only (they "
            "come with the kernel's derivatives; use detach() or torch.no_grad())"
        )


class TensorModel:
    """A model whose problems take and give tensors; all else is the model's."""

    def __init__(self, model: Model):
        self.model = model

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.model, name)
        if name.startswith("_") or name.replace("_", "-") not in self.model.host.problems():
            return found

        def call(*arrays: Any, **given: Any) -> Any:
            out = given.get("out")
            given = {key: to_array(value) for key, value in given.items()}
            tracked = torch.is_grad_enabled() and any(
                isinstance(x, torch.Tensor) and x.requires_grad for x in arrays
            )

            def solve(*values: Any) -> Any:
                return found(*values, **given)

            if not tracked:
                result = to_tensor(solve(*(to_array(x) for x in arrays)))
            else:
                result = _Solve.apply(solve, name, *arrays)
            return out if isinstance(out, torch.Tensor) else result

        call.__name__, call.__doc__ = name, found.__doc__
        return call

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *dir(self.model)]

    def __repr__(self) -> str:
        return f"<espalier.torch of {self.model!r}>"


def wrap(model: Model) -> TensorModel:
    """The model for tensors."""
    return TensorModel(model)
