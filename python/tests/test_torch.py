"""Tensors; PyTorch may be absent."""

import subprocess
import sys

import numpy as np
import pytest

import espalier as esp


def test_espalier_does_not_import_torch():
    program = "import sys, espalier; assert 'torch' not in sys.modules"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_tensors_in_and_out(tello):
    torch = pytest.importorskip("torch")
    import espalier.torch as est

    robot = est.wrap(tello)
    q, v = tello.random_states(4)
    tq, tv = torch.from_numpy(q), torch.from_numpy(v)
    got = robot.forward_dynamics(tq, tv, torch.zeros_like(tv))
    assert isinstance(got, torch.Tensor) and got.dtype == torch.float64
    assert np.array_equal(got.numpy(), tello.forward_dynamics(q, v))
    out = torch.zeros(4, tello.nv, dtype=torch.float64)
    assert robot.forward_dynamics(tq, tv, out=out) is out and torch.equal(out, got)
    energy = robot.energy(tq[0], tv[0])
    assert isinstance(energy.kinetic_energy, torch.Tensor)
    assert robot.nv == tello.nv  # all else is the model's
    assert torch.equal(torch.from_dlpack(tello.forward_dynamics(q, v)), got)


def test_gradient_that_is_wanted_is_refused_in_backward_only(tello):
    torch = pytest.importorskip("torch")
    import espalier.torch as est

    robot = est.wrap(tello)
    x = tello.random_state(1)
    tau = torch.zeros(tello.nv, dtype=torch.float64, requires_grad=True)
    vdot = robot.forward_dynamics(torch.from_numpy(x.q), torch.from_numpy(x.v), tau)
    assert vdot.requires_grad
    with pytest.raises(esp.Unsupported, match="gradient of forward_dynamics"):
        vdot.sum().backward()
    with torch.no_grad():
        assert not robot.forward_dynamics(torch.from_numpy(x.q)).requires_grad
