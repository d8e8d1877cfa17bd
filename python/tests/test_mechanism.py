"""Mechanisms in Python are laws of the kernel."""

import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from conftest import ROOT

import espalier as esp
from espalier import _core

LEG = ROOT / "examples" / "external_plugin" / "screw_leg.yaml"


CALLS = []


@esp.mechanism
class PythonScrew:
    """The law of examples/external_plugin/screw_knee.cpp."""

    positions = 2
    parameters = {"a": None, "b": None, "length": None, "lead": 0.01}
    sample = {"a": 0.05, "b": 0.22, "length": 0.19767}

    def phi(self, q):
        CALLS.append(len(q))
        screw = self.lead / (2 * np.pi) * q[0] + self.length
        return self.a**2 + self.b**2 - 2 * self.a * self.b * np.cos(q[1]) - screw**2


def leg(law="python_screw"):
    text = LEG.read_text().replace("type: screw_knee", f"type: {law}")
    return esp.read_text(text)


def screw_plugin():
    """The file of the same law in C++."""
    plugin = Path(esp._core.__file__).resolve().parents[2] / "examples" / "screw_knee.so"
    if plugin.is_file():
        return plugin
    # Another build: made by the tests of C++ only.
    return Path(os.environ["ESPALIER_BINARY_DIR"]) / "examples" / "screw_knee.so"


def test_law_of_a_plugin_is_not_taken_for_one_of_python():
    """Where another host has one of the same name."""
    host = esp.Host()
    host.load_plugin(str(screw_plugin()))
    define_screw = type("ScrewKnee", (), {"positions": 2, "phi": lambda self, q: q[0] - q[1]})
    esp.mechanism(define_screw)  # in the default host
    robot = esp.read_text(LEG.read_text(), host=host).compile()
    assert not robot._laws and not robot.description._laws()


def values(cls, parameters, q, qd):
    host = esp.default_host()
    phi, K, k = _core.evaluate_law(host, cls.name, parameters, q, qd)
    return np.array(phi), np.array(K).reshape(len(phi), -1), np.array(k)


def test_agrees_with_the_same_law_in_cpp():
    plugin = screw_plugin()
    host = esp.Host()  # of its own: the doctest of `mechanism` uses the same name
    host.load_plugin(str(plugin))
    cpp = esp.read_text(LEG.read_text(), host=host).compile()
    python = leg().compile()
    q, v = cpp.random_states(50)
    tau = np.ones_like(v)
    for k in range(50):
        a = cpp.forward_dynamics(q[k], v[k], tau[k])
        # The same equation in another order of operations, both in doubles.
        assert np.allclose(python.forward_dynamics(q[k], v[k], tau[k]), a, rtol=1e-11)
    assert np.allclose(
        python.forward_dynamics(q, v, tau), cpp.forward_dynamics(q, v, tau), rtol=1e-11
    )


def test_every_algorithm_for_loops_agrees():
    robot = leg().compile()
    assert robot.compare(samples=10) and robot.compare("inverse-dynamics", samples=10)
    assert len(robot.compare(samples=2).differences) >= 5


def test_python_is_not_called_at_run_time():
    robot = leg().compile()
    before = len(CALLS)
    q, v = robot.random_states(20)
    robot.forward_dynamics(q, v)
    robot.simulate(duration=0.05, dt=1e-3)
    assert len(CALLS) == before > 0


def test_floats_and_counting_run_on_it():
    robot = leg().compile()
    q, v = robot.random_states(16)
    exact = robot.forward_dynamics(q, v)
    floats = robot.forward_dynamics(q, v, precision="float")
    assert np.max(np.abs(floats - exact)) < 1e-3 * np.max(np.abs(exact))  # digits of a float


@esp.mechanism
class Everything:
    """All operations, in three equations between five positions."""

    positions = 5
    parameters = {"p": 0.7, "r": 1.3}

    def phi(self, q):
        a = np.sqrt(1 + q[0] ** 2) + np.sin(q[1]) * np.cos(q[1]) / (2 + self.p * q[2])
        b = np.arctan2(q[1] + self.r, 2 + q[2]) - np.tan(q[3]) + abs(q[0] - 0.1) ** 3
        c = esp.where(q[4] < self.p, q[4] ** 2, self.r * q[4]) + np.hypot(q[3], self.r)
        c = c + np.arcsin(q[1] / 3) + np.arccos(q[2] / 3) + np.arctan(q[0]) - (2 + q[0]) ** -1.5
        return [a, b - q[4], np.dot(np.array([c, a]), [1.0, -0.5])]


def test_derivatives_are_those_of_finite_differences(random):
    h = 1e-5
    for _ in range(10):
        q, qd = random.uniform(-0.6, 0.6, 5), random.uniform(-1, 1, 5)
        phi, K, k = values(Everything, {}, q, qd)
        for j in range(5):
            e = h * np.eye(5)[j]
            up, down = values(Everything, {}, q + e, qd)[0], values(Everything, {}, q - e, qd)[0]
            # Central differences: h² f''' and rounding over h.
            assert np.allclose((up - down) / (2 * h), K[:, j], atol=1e-7)
        K_up = values(Everything, {}, q + h * qd, qd)[1]
        K_down = values(Everything, {}, q - h * qd, qd)[1]
        assert np.allclose(k, -(K_up - K_down) / (2 * h) @ qd, atol=1e-7)


def test_parameters_are_those_of_the_instance():
    parameters = {"p": 0.2, "r": 0.9}
    q = np.array([0.1, 0.2, -0.3, 0.4, 0.5])
    phi = values(Everything, parameters, q, q)[0]
    own = Everything.__new__(Everything)
    own.p, own.r = 0.2, 0.9
    assert np.allclose(phi, np.array(own.phi(q), dtype=float), atol=1e-14)


def test_explicit_law_drives_a_robot():
    @esp.mechanism
    class RoundCam:
        independent = 1
        parameters = {"lift": 0.02}

        def gamma(self, y):
            return self.lift * (1 - np.cos(y[0]))

    d = esp.Description("cam")
    d.add_link("base")
    d.add_link("shaft", mass=1, inertia=np.eye(3) * 0.01)
    d.add_link("follower", mass=0.5, inertia=np.eye(3) * 0.001)
    d.add_joint("turn", "continuous", "base", "shaft", axis=[0, 0, 1])
    d.add_joint("slide", "prismatic", "base", "follower", axis=[0, 0, 1])
    d.add_law("cam", "round_cam", ["turn", "slide"], lift=0.1)
    robot = d.compile()
    x = robot.state({"turn": 0.7})
    assert x["slide"] == pytest.approx(0.1 * (1 - np.cos(0.7)), abs=1e-12)
    # I + m (dz/dq)², by hand.
    assert robot.mass_matrix(x.q)[0, 0] == pytest.approx(0.01 + 0.5 * (0.1 * np.sin(0.7)) ** 2)


def test_defined_again_it_is_replaced_for_new_robots():
    def gear(ratio):
        @esp.mechanism
        class Again:
            independent = 1

            def gamma(self, y):
                return ratio * y[0]

        return Again

    d = esp.Description("gear")
    d.add_link("base")
    for name in ("one", "two"):
        d.add_link(name, mass=1, inertia=np.eye(3))
        d.add_joint(f"j_{name}", "revolute", "base", name, axis=[0, 0, 1])
    gear(2.0)
    d.add_law("gear", "again", ["j_one", "j_two"])
    first = d.compile()
    gear(3.0)
    second = d.compile()
    assert first.mass_matrix([0, 0])[0, 0] == pytest.approx(1 + 4)
    assert second.mass_matrix([0, 0])[0, 0] == pytest.approx(1 + 9)


def test_defined_again_it_stays_what_it_was_in_models_descriptions_and_pickles():
    def gear(ratio):
        @esp.mechanism
        class Changing:
            independent = 1

            def gamma(self, y):
                return ratio * y[0]

        return Changing

    gear(2.0)
    d = esp.from_dict({
        "name": "gear",
        "links": {"base": {}, **{n: {"mass": 1, "inertia": [1, 1, 1, 0, 0, 0]} for n in "ab"}},
        "joints": {f"j_{n}": {"type": "revolute", "parent": "base", "child": n} for n in "ab"},
        "laws": {"gear": {"type": "changing", "joints": ["j_a", "j_b"]}},
    })
    old = d.compile()
    pickled = pickle.dumps(old)
    gear(3.0)
    new = d.compile()

    def ratio(robot):
        return robot.state({"j_a": 0.1})["j_b"] / 0.1

    assert ratio(old) == pytest.approx(2) and ratio(new) == pytest.approx(3)
    again = [
        pickle.loads(pickle.dumps(old)), pickle.loads(pickled), old.description.compile(),
        old.description.copy().compile(), pickle.loads(pickle.dumps(old.description)).compile(),
    ]
    for robot in again:
        assert ratio(robot) == pytest.approx(2)
        assert robot == old and robot != new
    assert old.description != new.description and old.description == again[0].description
    # None of this brought the old law back.
    assert ratio(d.compile()) == pytest.approx(3)
    assert ratio(esp.read_text(d.text()).compile()) == pytest.approx(3)
    assert d.compile() == new


def test_pickled_model_takes_its_law_along():
    robot = leg().compile()
    x = robot.random_state(1)
    expected = robot.forward_dynamics(x.q, x.v)
    program = (
        "import sys, pickle, numpy as np\n"
        "robot, x, expected = pickle.load(sys.stdin.buffer)\n"
        "assert 'conftest' not in sys.modules and 'test_mechanism' not in sys.modules\n"
        "assert np.array_equal(robot.forward_dynamics(x.q, x.v), expected)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], input=pickle.dumps((robot, x, expected)),
        capture_output=True, check=False,
    )
    assert done.returncode == 0, done.stderr.decode()


def define(**members):
    return esp.mechanism(type("Bad", (), members))


def test_what_cannot_be_traced_is_refused():
    with pytest.raises(TypeError, match="espalier.where"):
        define(positions=2, phi=lambda self, q: q[0] if q[0] < q[1] else q[1])
    for asks in (lambda x: x == 0, lambda x: x != 0, lambda x: x in (0, 1)):
        with pytest.raises(TypeError, match="espalier.where"):
            define(positions=2, phi=lambda self, q, asks=asks: q[0] if asks(q[1]) else q[1])
    with pytest.raises(NotImplementedError, match="divisor is 0, expected another"):
        define(positions=2, phi=lambda self, q: q[0] / 0 - q[1])
    with pytest.raises(TypeError, match="np.sin, not math.sin"):
        import math

        define(positions=2, phi=lambda self, q: math.sin(q[0]) - q[1])
    with pytest.raises(NotImplementedError, match="np.exp"):
        define(positions=2, phi=lambda self, q: np.exp(q[0]) - q[1])
    with pytest.raises(NotImplementedError, match="power"):
        define(positions=2, phi=lambda self, q: q[0] ** 0.3 - q[1])
    for operation in (lambda x: x % 2, lambda x: 2 // x, lambda x: 2**x):
        with pytest.raises(NotImplementedError, match=r"operation is .*, expected laws made of"):
            define(positions=2, phi=lambda self, q, f=operation: f(q[0]) - q[1])
    with pytest.raises(TypeError, match="an equation of phi is {}, expected an expression"):
        define(positions=2, phi=lambda self, q: {})
    with pytest.raises(ValueError, match="number of equations is 2, expected 1 to 1"):
        define(positions=2, phi=lambda self, q: [q[0], q[1]])
    with pytest.raises(ValueError, match="depends on no position"):
        define(positions=2, phi=lambda self, q: 1.0)
    with pytest.raises(ValueError, match="positions and independent"):
        define(phi=lambda self, q: q[0])
    with pytest.raises(ValueError, match="attribute of the class"):
        define(positions=2, parameters={"phi": 1.0}, phi=lambda self, q: q[0] - q[1])
    with pytest.raises(ValueError, match="as the class computes it in floats"):
        define(
            positions=2,
            phi=lambda self, q: q[0] - q[1] if isinstance(q[0], float) else q[0] - 2 * q[1],
        )


@pytest.mark.parametrize("law", [
    lambda q: np.cos(0.5) * q[0] - q[1], lambda q: np.float64(0.3) + q[0] - np.float64(0.3) - q[1],
    lambda q: np.float64(2) / (q[0] + 2) - 1 + q[1], lambda q: np.int64(2) * q[0] - q[1],
    lambda q: np.deg2rad(30) - q[0] - q[1] - np.deg2rad(30), lambda q: np.array([2.0])[0] * q[0] - q[1],
    lambda q: np.array(0.5) * q[0] - q[1],
])
def test_numbers_of_numpy_stand_on_either_side(law):
    define(positions=2, phi=lambda self, q: law(q))  # compares what was traced with floats


def test_missing_parameter_names_the_law():
    d = leg()
    d.laws["screw"].parameters = {"a": 0.05, "b": 0.22}
    with pytest.raises(esp.InvalidModel, match="length"):
        d.compile()


def test_a_registered_name_of_cpp_is_not_taken():
    laws = esp.default_host().entries("law")
    taken = next(e["name"] for e in laws if "espalier_subsystems" in e["origin"])
    with pytest.raises(esp.DuplicateName, match="registered by .*espalier_subsystems.* already"):
        define(name=taken, positions=2, phi=lambda self, q: q[0] - q[1])


@pytest.mark.parametrize(
    "fields, text",
    [
        ({"positions": 2.5}, "positions is 2.5, expected a whole number from 0"),
        ({"positions": "two"}, "positions is 'two'"),
        ({"positions": 10**9}, "positions is 1000000000, expected a whole number from 0 to 10000"),
        ({"parameters": ["a"]}, r"parameters is \['a'\], expected a dict"),
        ({"parameters": {"a": "x"}}, "parameter 'a' is 'x', expected a number"),
        ({"parameters": {3: 1.0}}, "parameter is 3, expected a name"),
        ({"phi": 3}, "phi is 3, expected a method"),
        ({"phi": lambda self, q: "a"}, "an equation of phi is 'a', expected an expression"),
        ({"phi": lambda self, q: [q[0], None]}, "an equation of phi is None"),
    ],
)
def test_members_of_another_type_are_named(fields, text):
    members = {"positions": 2, "parameters": {"a": 1.0}, "phi": lambda self, q: q[0] - q[1]}
    with pytest.raises(TypeError, match=f"mechanism 'Wrong': {text}"):
        esp.mechanism(type("Wrong", (), {**members, **fields}))
