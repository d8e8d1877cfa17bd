"""Joints of several rates, of which some are independent and some depend on others in a loop."""

import numpy as np
import pytest

import espalier as esp


def closed_by_a_rod(type, **joint):
    """Two links on the ground, a rod of one metre from the tip of one to that of the other."""
    link = {"mass": 1, "com": [0, 0, 0.2], "inertia": [0.1, 0.2, 0.3, 0, 0, 0]}
    return esp.from_dict({
        "name": "partly",
        "links": {"ground": {}, "crank": link, "slide": link},
        "joints": {
            "hinge": {"type": "revolute", "parent": "ground", "child": "crank", "axis": [0, 1, 0],
                      "independent": True},
            "joint": {"type": type, "parent": "ground", "child": "slide", "xyz": [1, 0.1, 0],
                      **joint},
        },
        "loops": {"rod": {
            "type": "rod", "predecessor": {"link": "crank", "xyz": [0.1, 0, 0.4]},
            "successor": {"link": "slide", "xyz": [0.2, 0, 0.5]}, "parameters": {"length": [1.1]},
        }},
    }).compile()


@pytest.fixture(scope="module")
def sliding():
    return closed_by_a_rod("cylindrical", axis=[0.3, 0, 1])


@pytest.fixture(scope="module")
def ball():
    return closed_by_a_rod("spherical")


def test_position_of_an_independent_rate_is_set_by_its_name(sliding):
    (name,) = (c for c in sliding.coordinates if c.startswith("joint["))
    x = sliding.state()
    before = x["joint"]
    x[name] = before[int(name[-2])] + 0.05
    assert x[name] == pytest.approx(before[int(name[-2])] + 0.05, abs=1e-15)
    assert x.residual < 1e-9
    assert not np.isclose(*(x["joint"] - before), atol=1e-3)  # the other one followed
    assert sliding.state({name: x[name]})[name] == x[name]


def test_message_names_what_can_be_set(sliding, ball):
    x = sliding.state()
    (name,) = (c for c in sliding.coordinates if c.startswith("joint["))
    known = f"expected one of .*joint\\[{name[-2]}\\].*some rates of the joint depend on others"
    for get in (lambda: x.update({"joint": [0, 0]}), lambda: x.rate["joint"]):
        with pytest.raises(esp.Unsupported, match=known):
            get()
    other = f"joint[{1 - int(name[-2])}]"
    with pytest.raises(esp.UnknownName, match=r"expected one of hinge, joint, joint\["):
        x[other]
    first = next(c for c in ball.coordinates if c.startswith("joint["))
    with pytest.raises(esp.Unsupported, match=r"expected one of hinge \(a rate without a position"):
        ball.state()[first] = 0.1


@pytest.mark.parametrize("which", ["sliding", "ball"])
def test_what_is_printed_tells_rate_by_rate(which, request):
    robot = request.getfixturevalue(which)
    joint = robot.joint("joint")
    assert joint["independent"] is None
    x = robot.random_state()
    where = [c for c in robot._core.coordinates() if c[1] == "joint"]
    expected = ["dependent"] * joint["nv"]
    for name, _, start, _, component in where:
        assert joint["rates"][component] == start
        expected[component] = f"{x.rate[name]:.6g}"
    assert "v " + " ".join(expected) in repr(x)
    assert "(%s, dependent in part)" % joint["type"] in str(robot)


def test_other_branches_have_the_same_independent_positions(sliding, ball):
    x = sliding.random_state(3)
    rates = sliding._core.independent_rates()
    for branch in (0, 1):
        q = sliding.close(x.q, start=x.q, branch=branch)
        assert np.allclose(sliding.difference(x.q, q)[rates], 0, atol=1e-12)
        assert sliding.examine(q).residual < 1e-9
    assert not np.allclose(q, x.q, atol=1e-3)
    with pytest.raises(esp.InvalidState, match="expected 0 to 1"):
        sliding.close(x.q, start=x.q, branch=2)
    with pytest.raises(esp.Unsupported, match=r"rate 'joint\[.\]' has no position of its own"):
        ball.close(ball.state().q, branch=1)


@pytest.mark.parametrize("which", ["sliding", "ball"])
def test_gradients_of_tensors_have_their_share(which, request):
    torch = pytest.importorskip("torch")
    robot = request.getfixturevalue(which)
    x = robot.random_state(2)
    q, v, tau = (torch.tensor(a) for a in (x.q, x.v, np.ones(robot.nv)))
    q.requires_grad_(True)
    esp.torch.wrap(robot).forward_dynamics(q, v, tau).sum().backward()
    h = 1e-4
    for d in np.eye(robot.nv):
        rates = robot.spanning_rates(x.q, d)

        def moved(e, rates=rates):
            q = robot.close(robot.integrate(x.q, e * rates), start=x.q)
            return robot.forward_dynamics(q, x.v, tau.numpy()).sum()

        along = (robot.integrate(x.q, h * rates) - robot.integrate(x.q, -h * rates)) / (2 * h)
        wanted = (moved(h) - moved(-h)) / (2 * h)
        # Differences of second order.
        assert q.grad.numpy() @ along == pytest.approx(wanted, rel=1e-5, abs=1e-5)


@pytest.mark.parametrize("which", ["sliding", "ball"])
def test_motors_and_sensors_that_nobody_names_are_one_for_each_joint(which, request):
    robot = request.getfixturevalue(which)
    x = robot.random_state(3)
    found = robot.input_matrix(x.q, x.v)
    joints = {c[1] for c in robot._core.coordinates()}
    # A motor on a joint acts on all of its rates, dependent ones too.
    assert found.input_matrix.shape == (robot.nv, sum(robot.joint(j)["nv"] for j in joints))
    free = robot.forward_dynamics(x.q, x.v)
    assert np.allclose(found.free_acceleration, free, atol=1e-9 * np.max(np.abs(free)))
    tau = np.linspace(-1, 1, robot.nv)
    wanted = robot.forward_dynamics(x.q, x.v, tau)
    measured = robot.sensor_dynamics("vdot", x.q, x.v, tau)
    assert np.allclose(measured, wanted, atol=1e-9 * np.max(np.abs(wanted)))
    assert robot.compare("input-matrix", samples=3).agree
