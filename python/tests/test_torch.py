"""Tensors; PyTorch may be absent."""

import subprocess
import sys

import numpy as np
import pytest

import espalier as esp


def test_espalier_does_not_import_torch():
    program = "import sys, espalier; assert 'torch' not in sys.modules"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_it_is_there_without_an_import_of_its_own():
    pytest.importorskip("torch")
    program = "import espalier; espalier.torch.wrap"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
    with pytest.raises(AttributeError, match="attribute is 'trch', expected one of .*did you mean 'torch'"):
        esp.trch


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


def tensor(x, *, dtype="float64"):
    torch = pytest.importorskip("torch")
    return torch.tensor(np.array(x), dtype=getattr(torch, dtype), requires_grad=True)


@pytest.mark.parametrize("name", ["ur5.urdf", "double_pendulum.yaml"])
@pytest.mark.parametrize("function", ["forward_dynamics", "inverse_dynamics"])
def test_gradcheck_on_trees(models, name, function):
    torch = pytest.importorskip("torch")
    import espalier.torch as est

    model = models(name)
    f = getattr(est.wrap(model), function)
    x = model.random_state(2)
    load = tensor(np.linspace(-1.0, 1.0, model.nv))
    assert torch.autograd.gradcheck(f, (tensor(x.q), tensor(x.v), load))
    q, v = model.random_states(3)
    assert torch.autograd.gradcheck(f, (tensor(q), tensor(v), load))  # a load that states share


# gradcheck would leave the unit sphere and open loops: the motions that the robot can make instead.
@pytest.mark.parametrize("name, root", [("solo12.urdf", "floating"), ("tello.yaml", "floating"),
                                        ("four_bar_leg.yaml", "fixed")])
@pytest.mark.parametrize("function", ["forward_dynamics", "inverse_dynamics"])
def test_gradients_along_the_motions_of_loops_and_floating_roots(models, name, root, function):
    torch = pytest.importorskip("torch")
    import espalier.torch as est

    model = models(name, root=root)
    x = model.random_state(3)
    load, weights = np.linspace(-1.0, 1.0, model.nv), np.cos(np.arange(model.nv))
    q, v, tau = tensor(x.q), tensor(x.v), tensor(load)
    (getattr(est.wrap(model), function)(q, v, tau) * torch.from_numpy(weights)).sum().backward()

    f = getattr(model, function)
    scale = np.linalg.norm(np.concatenate([q.grad.numpy(), v.grad.numpy(), tau.grad.numpy()]))
    h = 1e-4
    for k in range(model.nv):
        d = np.eye(model.nv)[k]
        rates = model.spanning_rates(x.q, d)

        def moved(e, d=d, rates=rates):
            return weights @ f(model.close(model.integrate(x.q, e * rates), start=x.q), x.v, load)

        wanted = (8 * (moved(h) - moved(-h)) - (moved(2 * h) - moved(-2 * h))) / (12 * h)
        # The rates of the positions themselves, quaternions too.
        along = (model.integrate(x.q, h * rates) - model.integrate(x.q, -h * rates)) / (2 * h)
        # Differences of fourth order, and of second order in `along`.
        assert q.grad.numpy() @ along == pytest.approx(wanted, abs=1e-6 * scale)
        wanted = weights @ (f(x.q, x.v + h * d, load) - f(x.q, x.v - h * d, load)) / (2 * h)
        assert v.grad.numpy()[k] == pytest.approx(wanted, abs=1e-7 * scale)  # quadratic in v


def test_gradient_of_what_has_no_adjoint_is_refused_in_backward_only(tello):
    torch = pytest.importorskip("torch")
    import espalier.torch as est

    robot = est.wrap(tello)
    x = tello.random_state(1)
    q = tensor(x.q)
    M = robot.mass_matrix(q)
    assert M.requires_grad
    with pytest.raises(esp.Unsupported, match="gradient of mass_matrix"):
        M.sum().backward()
    with torch.no_grad():
        assert not robot.mass_matrix(q).requires_grad


def test_arguments_by_name_have_the_same_gradients(tello):
    torch = pytest.importorskip("torch")
    import espalier.torch as est

    robot = est.wrap(tello)
    x = tello.random_state(1)
    found = []
    for by_name in ((), ("tau",), ("v", "tau"), ("q", "v", "tau")):
        given = {"q": tensor(x.q), "v": tensor(x.v), "tau": tensor(np.ones(tello.nv))}
        named = {name: given[name] for name in by_name}
        plain = [given[name] for name in given if name not in named]
        (robot.forward_dynamics(*plain, **named) ** 2).sum().backward()
        found.append([given[name].grad for name in given])
    for gradients in found[1:]:
        assert all(map(torch.equal, gradients, found[0]))


# Without a node of the graph, backward() would leave their part out.
def test_no_gradient_is_left_out_without_a_word(tello):
    torch = pytest.importorskip("torch")
    import espalier.torch as est

    robot = est.wrap(tello)
    x = tello.random_state(1)
    v = tensor(x.v)
    for name, energy in robot.energy(x.q, v).items():
        assert energy.requires_grad, name
        with pytest.raises(esp.Unsupported, match="gradient of energy"):
            energy.backward()
    link, wrench = tello.links[-1], tensor(np.ones(6))
    for wrenches in ({link: wrench}, {link: list(wrench)}):
        vdot = robot.forward_dynamics(x.q, x.v, wrenches=wrenches)
        assert np.array_equal(
            vdot.detach().numpy(), tello.forward_dynamics(x.q, x.v, wrenches={link: np.ones(6)})
        )
        with pytest.raises(esp.Unsupported, match="gradient of forward_dynamics with wrenches"):
            vdot.sum().backward()
    out = torch.zeros(tello.nv, dtype=torch.float64)
    with pytest.raises(esp.Unsupported, match="out of forward_dynamics is given"):
        robot.forward_dynamics(x.q, v, out=out)
    with torch.no_grad():
        assert robot.forward_dynamics(x.q, v, out=out) is out


def test_values_and_gradients_are_by_the_same_dynamics(models):
    pytest.importorskip("torch")
    import espalier.torch as est

    geared = models("mini_cheetah_geared.yaml")
    robot, x = est.wrap(geared), geared.random_state(1)
    approximate = [a["name"] for a in geared.host.algorithms("forward-dynamics", geared._core)
                   if a["can"] and not a["exact"]]
    assert approximate
    for name in approximate:
        vdot = robot.forward_dynamics(x.q, tensor(x.v), algorithm=name)
        with pytest.raises(esp.Unsupported, match=f"gradient of forward_dynamics by '{name}'"):
            vdot.sum().backward()
    robot.forward_dynamics(x.q, tensor(x.v), algorithm="c-aba").sum().backward()


def test_adjoints_weigh_by_multipliers_one_state_or_many(tello):
    q, v = tello.random_states(5)
    weights = np.random.default_rng(1).normal(size=(5, tello.nv))
    tau = np.zeros_like(v)
    found = tello.forward_dynamics_adjoint(q, v, tau, multipliers=weights)
    M = tello.mass_matrix(q)
    for k in range(5):
        # nu^T M^-1, whatever else acts.
        assert found["by_tau"][k] == pytest.approx(np.linalg.solve(M[k], weights[k]), rel=1e-9)
    one = tello.forward_dynamics_adjoint(q[0], v[0], tau[0], multipliers=weights[0])
    assert np.array_equal(one["by_q"], found["by_q"][0])
    with pytest.raises(ValueError, match="multipliers"):
        tello.forward_dynamics_adjoint(q, v, tau, multipliers=weights[:3])
