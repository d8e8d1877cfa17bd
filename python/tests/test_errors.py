"""Bad input is a clear exception."""

import pickle
import subprocess
import sys

import numpy as np
import pytest

import espalier as esp


@pytest.fixture
def x(arm):
    return arm.random_state(1)


def test_wrong_shape_names_argument_robot_got_and_expected(arm, x):
    with pytest.raises(ValueError) as caught:
        arm.forward_dynamics(x.q[:3], x.v)
    assert isinstance(caught.value, esp.SizeMismatch)
    assert str(caught.value) == (
        "forward-dynamics by c-aba on 'ur5': shape of q is (3,), expected (6,) or (batch, 6)"
    )
    for bad in (np.zeros((2, 2, 6)), 1.0, np.zeros((6, 1)), np.zeros(0)):
        with pytest.raises(ValueError, match="shape of v"):
            arm.forward_dynamics(x.q, bad)
    with pytest.raises(ValueError, match="shape of out"):
        arm.forward_dynamics(x.q, x.v, out=np.zeros(5))
    with pytest.raises(ValueError, match="number of states of v is 3, expected 2"):
        arm.forward_dynamics(np.zeros((2, 6)), np.zeros((3, 6)))
    with pytest.raises(ValueError, match="shape of out"):
        arm.forward_dynamics(np.zeros((2, 6)), x.v, out=np.zeros((3, 6)))
    with pytest.raises(ValueError, match="wrenches"):
        arm.forward_dynamics(x.q, x.v, wrenches=np.zeros((2, 6)))


@pytest.mark.parametrize(
    "bad",
    [np.zeros(6, dtype=complex), np.zeros(6, dtype=bool), np.array(["a"] * 6),
     np.array([object()] * 6), object(), {"q": 1}],
)
def test_wrong_dtype_is_a_type_error(arm, x, bad):
    with pytest.raises(TypeError, match="expected"):
        arm.forward_dynamics(x.q, bad)


def test_input_without_an_answer_is_named(arm, x):
    tau = np.zeros(6)
    tau[2] = np.nan
    with pytest.raises(esp.SingularMechanism, match=r"tau\[2\] is nan, expected a finite number"):
        arm.forward_dynamics(x.q, x.v, tau)
    with pytest.raises(esp.SingularMechanism, match=r"vdot\[2\] is nan"):
        arm.inverse_dynamics(x.q, x.v, tau)
    ball = esp.load(esp.robot_file("mini_cheetah.urdf"), root="floating")
    with pytest.raises(esp.SingularMechanism, match="quaternion of joint 'root' has length 0"):
        ball.forward_dynamics(np.zeros(ball.nq), np.zeros(ball.nv), np.zeros(ball.nv))


def test_algorithms_that_are_taken_for_problems_are_told(arm, x):
    with pytest.raises(AttributeError, match=r"robot.mass_matrix\(..., algorithm='crba'\)"):
        arm.crba(x.q)
    with pytest.raises(esp.UnknownName, match="did you mean 'c-aba'?"):
        arm.algorithm("caba")


def test_words_of_another_type_are_refused_in_a_sentence(arm):
    file = esp.robot_file("ur5.urdf")
    for given, text in (
        ({"root": True}, "compile 'ur5': root is True, expected 'fixed' or 'floating'"),
        ({"mimic": 3}, "compile 'ur5': mimic is 3, expected 'honour' or 'ignore'"),
        ({"rotors": None}, "compile 'ur5': rotors is None, expected 'fold' or 'keep'"),
    ):
        with pytest.raises(TypeError) as caught:
            esp.load(file, **given)
        assert str(caught.value) == text
    with pytest.raises(KeyError, match="root is 'float'.*did you mean 'floating'"):
        esp.load(file, root="float")
    with pytest.raises(TypeError, match="read: file is 3, expected a path"):
        esp.load(3)
    with pytest.raises(TypeError, match="seed is 'a', expected a whole number"):
        arm.random_state("a")
    with pytest.raises(TypeError, match="positions are 3, expected {joint: number}"):
        arm.state(3)
    with pytest.raises(TypeError, match="name is 3, expected a name"):
        arm.algorithm(3)
    with pytest.raises(TypeError, match="did you mean 'algorithm'"):
        arm.mass_matrix(arm.state().q, algoritm="crba")


def test_arguments_of_parts_that_do_not_exist_are_named():
    with pytest.raises(TypeError, match="EndEffector: argument is 'offst'.*mean 'offset'"):
        esp.EndEffector("foot", offst=[0, 0, 1])
    with pytest.raises(TypeError, match="Sensor: argument is 'jiont'.*mean 'joint'"):
        esp.Sensor("torque", jiont="knee")
    with pytest.raises(TypeError, match="'link'"):  # Python says itself what is missing
        esp.EndEffector()
    end = pickle.loads(pickle.dumps(esp.EndEffector("foot", "3d")))
    assert end == esp.EndEffector("foot", "3d")


def test_fields_that_do_not_exist_are_named(arm):
    robot = arm.description
    link, joint = robot.links["forearm"], robot.joints["elbow"]
    with pytest.raises(AttributeError, match="link 'forearm': field is 'mas'.*mean 'mass'"):
        link.mas = 3
    with pytest.raises(AttributeError, match="link 'forearm': field is 'mas'"):
        link.mas
    with pytest.raises(AttributeError, match="joint 'elbow': field is 'axi'.*mean 'axis'"):
        joint.axi = [1, 0, 0]
    with pytest.raises(AttributeError, match="Description: attribute is 'gravty'.*mean 'gravity'"):
        robot.gravty = [0, 0, 0]
    with pytest.raises(AttributeError, match="State: attribute is 'Q'"):
        arm.state().Q = 1
    with pytest.raises(AttributeError, match="module 'espalier': attribute is 'lod'"):
        esp.lod
    link.mass = 3
    assert robot.links["forearm"].mass == 3 and not hasattr(link, "nothing")


def test_robots_float_as_their_file_says():
    tello = esp.robot_file("tello.yaml")
    assert esp.load(tello).options["root"] == "floating"
    assert esp.load(tello, root="fixed").nv == esp.load(tello).nv - 6


def test_out_of_a_wrong_kind_is_refused(arm, x):
    read_only = np.zeros(6)
    read_only.flags.writeable = False
    with pytest.raises(esp.InvalidModel, match="read-only"):
        arm.forward_dynamics(x.q, x.v, out=read_only)
    with pytest.raises(TypeError, match="out"):
        arm.forward_dynamics(x.q, x.v, out=[0.0] * 6)
    with pytest.raises(TypeError, match="dtype of out"):
        arm.forward_dynamics(x.q, x.v, out=np.zeros(6, dtype=int))
    with pytest.raises(TypeError, match="several results"):
        arm.energy(x.q, x.v, out=np.zeros(2))


def test_arguments_are_counted_and_named(arm, x):
    with pytest.raises(TypeError, match=r"number of arrays is 4, expected at most 3 \(q, v, tau"):
        arm.forward_dynamics(x.q, x.v, x.v, x.v)
    with pytest.raises(TypeError, match="did you mean 'tau'"):
        arm.forward_dynamics(x.q, x.v, tauu=x.v)
    with pytest.raises(TypeError, match="given twice"):
        arm.forward_dynamics(x.q, x.v, v=x.v)
    with pytest.raises(TypeError, match="q is missing"):
        arm.forward_dynamics(v=x.v)


def test_not_a_number_is_refused_unless_wanted(arm, x):
    v = x.v * np.nan
    with pytest.raises(ArithmeticError, match=r": v\[0\] is nan"):
        arm.forward_dynamics(x.q, v)
    assert np.isnan(arm.forward_dynamics(x.q, v, check=False)).all()
    assert np.isnan(arm.algorithm("aba")(x.q, v)).all()


def test_open_loops_are_refused(tello):
    q = tello.state().q + 0.5
    with pytest.raises(esp.InvalidState, match="expected closed loops"):
        tello.forward_dynamics(q)
    algo = tello.algorithm("c-aba", check=True)
    with pytest.raises(esp.InvalidState):
        algo(q)
    algo.check = False
    assert algo(q).shape == (tello.nv,)


def test_a_quaternion_without_direction_is_refused(tello):
    x = tello.state()
    before = x.q.copy()
    with pytest.raises(esp.InvalidState, match="quaternion of joint 'root' is 0"):
        x["root"] = [0, 0, 1, 0, 0, 0, 0]
    assert np.array_equal(x.q, before)
    x["root"] = [0, 0, 1, 0, 0, 0, 5]
    assert x["root"][6] == 1


def test_unknown_names_are_key_errors_with_suggestions(arm, x):
    with pytest.raises(KeyError, match="did you mean 'aba'") as caught:
        arm.forward_dynamics(x.q, x.v, algorithm="abaa")
    assert not str(caught.value).startswith('"')  # as KeyError alone would have it
    with pytest.raises(KeyError, match="did you mean 'wrist_3'"):
        arm.jacobian("wrst_3", x.q)
    with pytest.raises(KeyError, match="wrist"):
        arm.inverse_dynamics(x.q, wrenches={"wristt": np.zeros(6)})
    with pytest.raises(KeyError, match="did you mean 'forward-dynamics'"):
        arm.compare("forward-dynamic")
    with pytest.raises(KeyError, match="did you mean 'rows'"):
        arm.operational_space(x.q, end_effectors=[{"link": "x", "row": "6d"}])


def test_unknown_attribute_is_an_attribute_error(arm):
    with pytest.raises(AttributeError, match="did you mean 'forward_dynamics'"):
        arm.fordward_dynamics
    assert not hasattr(arm, "nothing_of_the_kind")


def test_algorithm_that_cannot_says_what_stands_in_its_way(tello):
    with pytest.raises(NotImplementedError, match="left.hip_clamp"):
        tello.forward_dynamics(tello.state().q, algorithm="aba")


def test_bad_files_are_value_errors(tmp_path):
    with pytest.raises(esp.InvalidModel, match="missing"):
        esp.load(tmp_path / "nothing.urdf")
    bad = tmp_path / "bad.yaml"
    bad.write_text("espalier: 1\nlinks: [")
    with pytest.raises(ValueError, match="bad.yaml"):
        esp.load(bad)
    other = tmp_path / "robot.xyz"
    other.write_text("")
    with pytest.raises(KeyError, match="ending"):
        esp.load(other)
    with pytest.raises(ImportError, match="nothing.so"):
        esp.load_plugin(tmp_path / "nothing.so")


def test_hosts_say_what_is_wrong_with_what_they_are_given(arm):
    host = esp.Host()
    for call, words in (
        (lambda: esp.Host(3), "plugin_folders is 3, expected a list of folders"),
        (lambda: esp.Host("plugins"), "plugin_folders is 'plugins', expected a list"),
        (lambda: esp.Host([3]), "file is 3, expected a path"),
        (lambda: esp.Host([], 1), "search is 1, expected True or False"),
        (lambda: esp.Host([], True, 1), "number of arguments of __init__ is 3, expected at most 2"),
        (lambda: esp.Host(plugin_folder=[]), "'plugin_folder'.*did you mean 'plugin_folders'"),
        (lambda: host.algorithms(3), "problem is 3, expected a name"),
        (lambda: host.algorithms(robot=3), "robot is 3, expected a model"),
        (lambda: host.entries(3), "kind is 3, expected a name"),
        (lambda: host.read(3), "file is 3, expected a path"),
        (lambda: host.read_text(3, "x.urdf"), "text is 3, expected a text"),
        (lambda: host.load_plugin(3), "file is 3, expected a path"),
    ):
        with pytest.raises(TypeError, match=words):
            call()
    for call in (host.algorithms, esp.algorithms):
        with pytest.raises(KeyError, match="problem is 'forward'.*expected one of .*forward-dynamics"):
            call("forward")
        assert {a["name"] for a in call("mass-matrix")} >= {"crba", "c-crba"}
    can = {a["name"]: a["can"] for a in esp.algorithms("mass-matrix", arm)}
    assert can == {a["name"]: a["can"] for a in host.algorithms("mass-matrix", robot=arm)}


def test_compile_options_are_words(arm):
    with pytest.raises(KeyError, match="floating"):
        arm.description.compile(root="floatin")


def test_model_outlives_its_host():
    host = esp.Host()
    robot = esp.load(esp.robot_file("ur5.urdf"), host=host)
    algo = robot.algorithm("aba")
    q = robot.random_state(1).q
    expected = algo(q)
    del robot, host
    import gc

    gc.collect()
    assert np.array_equal(algo(q), expected)


def run(program, timeout=120):
    return subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=timeout,
        check=False,
    )


def test_fork_goes_on_with_what_it_has():
    program = """
import os, sys, numpy as np, espalier as esp
robot = esp.load(esp.robot_file("tello.yaml"))
q, v = robot.random_states(200)
before = robot.forward_dynamics(q, v)
child = os.fork()
if child == 0:
    after = robot.forward_dynamics(q, v)
    one = robot.forward_dynamics(q[0], v[0])
    os._exit(0 if np.array_equal(before, after) and np.isfinite(one).all() else 3)
status = os.waitpid(child, 0)[1]
assert np.array_equal(robot.forward_dynamics(q, v), before)
sys.exit(os.waitstatus_to_exitcode(status))
"""
    done = run(program)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("turn", range(3))
def test_interpreter_ends_while_threads_compute(turn):
    program = """
import threading, time, espalier as esp
robot = esp.load(esp.robot_file("tello.yaml"))
q, v = robot.random_states(3000)
def work():
    algo = robot.algorithm("c-aba")
    while True:
        algo(q, v)
for _ in range(4):
    threading.Thread(target=work, daemon=True).start()
def slow(t, q, v):
    return None
def move():
    while True:
        robot.simulate(duration=1, dt=1e-3, controller=slow, progress=False)
threading.Thread(target=move, daemon=True).start()
time.sleep(0.3)
"""
    done = run(program)
    assert done.returncode == 0, done.stderr
    assert "FATAL" not in done.stderr and "terminate" not in done.stderr


def test_numbers_beyond_what_fits_are_refused_by_name(arm, models):
    for call, text in (
        (lambda: arm.random_state(2**64), "random_state of 'ur5': seed is 18446744073709551616"),
        (lambda: arm.random_states(2, 2**64 - 1), "random_states of 'ur5': seed is 184467440737"),
        (lambda: arm.compare(seed=2**64), "compare 'ur5': seed is"),
        (lambda: arm.simulate(duration=1, dt=0.1, every=10**12),
         "every is 1000000000000, expected a whole number from 1 to 2147483647"),
        (lambda: models("four_bar_leg.yaml").close(arm.state().q, branch=1.5),
         "branch is 1.5, expected a whole number from 0"),
        (lambda: arm.algorithm("c-aba", threads=2**31), "threads is 2147483648"),
        (lambda: esp.ContactBatch(arm, threads=10**12), "threads is 1000000000000"),
        (lambda: esp.VectorEnv(arm, 10**12), "num_envs is 1000000000000"),
    ):
        with pytest.raises(TypeError) as caught:
            call()
        assert text in str(caught.value)
    assert arm.random_state(2**64 - 1) == arm.random_state(2**64 - 1)


def test_positions_that_are_no_numbers_are_named_on_loops_too(models):
    leg = models("four_bar_leg.yaml")
    q = leg.state().q
    q[3] = np.nan
    v = np.zeros(leg.nv)
    with pytest.raises(esp.SingularMechanism, match=r"q\[3\] is nan, expected a finite number"):
        leg.forward_dynamics(q, v)
    with pytest.raises(esp.SingularMechanism, match=r"q\[3\] is nan"):
        leg.algorithm("c-aba", check=True)(q, v)
    with pytest.raises(esp.SingularMechanism, match=r"q\[0, 3\] is nan"):
        leg.forward_dynamics(q[None, :], v)
    for call in (lambda: leg.state(q=q), lambda: leg.close(q), lambda: leg.assemble(q),
                 lambda: leg.close(leg.state().q, start=q)):
        with pytest.raises(esp.InvalidState, match=r"\[3\] is nan, expected a finite number"):
            call()


WRONG = ("x", object(), [[1]], {"a": 1}, 1j)


def test_arguments_of_another_type_are_named(arm):
    """Every argument that is a number or a vector: who asks, and for what."""
    q = arm.state().q
    ball = {"flange": 0.1}
    batch = esp.ContactBatch(arm, balls=ball)
    batch.start(q[None, :])
    for name, call in (
        ("duration", lambda x: arm.simulate(duration=x, dt=0.1)),
        ("dt", lambda x: arm.simulate(duration=1, dt=x)),
        ("friction_rate", lambda x: arm.simulate(duration=1, dt=0.1, friction_rate=x)),
        ("options", lambda x: arm.simulate(duration=1, dt=0.1, options={"tolerance": x})),
        ("state", lambda x: arm.simulate(x, duration=1, dt=0.1)),
        ("kp", lambda x: esp.Pd({"elbow": {"kp": x}})),
        ("elbow", lambda x: esp.Constant({"elbow": x})),
        ("time_step", lambda x: arm.forward_dynamics(q, time_step=x)),
        ("loop_tolerance", lambda x: arm.algorithm("c-aba", loop_tolerance=x)),
        ("threads", lambda x: arm.algorithm("c-aba", threads=x)),
        ("gravity", lambda x: setattr(arm.algorithm("c-aba"), "gravity", x)),
        ("elbow", lambda x: arm.state({"elbow": x})),
        ("elbow", lambda x: arm.state(rates={"elbow": x})),
        ("point", lambda x: arm.jacobian("flange", q, point=x)),
        ("friction", lambda x: esp.ContactBatch(arm, friction=x)),
        ("origin", lambda x: esp.ContactBatch(arm, origin=x)),
        ("radius", lambda x: esp.ContactBatch(arm, balls={"flange": (x, (0, 0, 0))})),
        ("place", lambda x: esp.ContactBatch(arm, balls={"flange": (1, x)})),
        ("kp", lambda x: esp.ContactBatch(arm, drives={"elbow": {"kp": x}})),
        ("dt", lambda x: batch.step(x)),
        ("masses", lambda x: batch.randomize(masses={"flange": x})),
        ("robot", lambda x: batch.save(x)),
        ("dt", lambda x: esp.VectorEnv(arm, 1, dt=x)),
        ("actions", lambda x: esp.VectorEnv(arm, 1).step(x)),
        ("link", lambda x: arm.inverse_osim(q, end_effectors=[{"link": x}])),
        ("offset", lambda x: esp.EndEffector("flange", offset=x)),
        ("frame", lambda x: arm.jacobian("flange", q, frame=x)),
        ("which", lambda x: arm.graph(x)),
        ("format", lambda x: arm.description.text(x)),
        ("robot", lambda x: esp.from_dict(x) if not isinstance(x, dict) else esp.from_dict(3)),
        ("definition", lambda x: esp.Composer("a").define("b", 3)),
        ("problem", lambda x: esp.algorithms(3)),
        ("problem", lambda x: arm.compare(x)),
        ("tolerance", lambda x: arm.compare(tolerance=x)),
        ("positions", lambda x: arm.state().update(3)),
        ("link", lambda x: arm.description.links[3]),
        ("joint", lambda x: arm.description.joints[3]),
        ("shape", lambda x: esp.Sweep([{"a": np.ones(2)}, {"a": np.ones(3)}]).table()),
        ("parameters", lambda x: esp.sweep(max, 3)),
    ):
        for value in WRONG:
            try:
                call(value)
                message = "nothing"
            except (esp.Error, TypeError) as error:
                message = str(error)
            assert name in message and "expected" in message, (name, value, message)
            assert "incompatible" not in message, (name, value, message)


def test_text_is_read_by_an_ending_alone(arm):
    text = arm.description.text()
    for origin in (".yaml", "robot.yaml", ".yml"):
        assert esp.read_text(text, origin) == arm.description
    with pytest.raises(esp.UnknownName, match="ending '.yaaml' is unknown.*did you mean '.yaml'"):
        esp.read_text(text, ".yaaml")
    with pytest.raises(TypeError, match="origin is of type int, expected a text"):
        esp.read_text(text, 3)


def test_a_file_has_a_name_before_its_ending(arm, tmp_path):
    with pytest.raises(esp.InvalidModel, match="an ending alone, expected a name before it"):
        arm.description.write(tmp_path / ".yaml")
    assert not list(tmp_path.iterdir())
