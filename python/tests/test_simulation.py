"""Robots in time."""

import subprocess

import json
import re

import numpy as np
import pytest
from conftest import ROOT

import espalier as esp


def test_run_is_that_of_the_command_line(command_line, models, tmp_path):
    out = tmp_path / "motion.csv"
    subprocess.run(
        [command_line, "simulate", str(ROOT / "robots" / "tello.yaml"), "--duration", "0.05",
         "--dt", "0.001", "--root", "fixed", "--output", str(out)], check=True, capture_output=True,
    )
    table = np.genfromtxt(out, delimiter=",", names=True, deletechars="")
    run = models("tello.yaml", root="fixed").simulate(duration=0.05, dt=0.001)
    frame = run.to_pandas()
    assert list(frame.columns) == list(table.dtype.names)[1:]
    assert np.array_equal(frame.index.to_numpy(), table["time"])
    assert "kinetic" in frame.columns and frame["kinetic"].iloc[-1] > 0
    for name in frame.columns:
        assert np.array_equal(frame[name].to_numpy(), table[name]), name


BALL = """<robot name="ball"><link name="ball">
<inertial><mass value="2"/><inertia ixx="0.008" iyy="0.008" izz="0.008"/></inertial>
<collision><geometry><sphere radius="0.1"/></geometry></collision></link></robot>"""


@pytest.fixture
def ball():
    return esp.read_text(BALL, "ball.urdf").compile(root="floating")


def test_run_on_ground_is_that_of_the_command_line(command_line, ball, tmp_path):
    """Plane, and a ground file with a ball of its own on a slope."""
    (tmp_path / "ball.urdf").write_text(BALL)
    (tmp_path / "above.json").write_text('{"q": {"root": [0, 0, 0.3, 0, 0, 0, 1]}}')
    slope = {"friction": 0.4, "plane": {"rpy": [0.2, 0, 0]},
             "shapes": [{"link": "ball", "sphere": 0.1, "name": "skin"}]}
    (tmp_path / "slope.json").write_text(json.dumps(slope))
    x = ball.state({"root": [0, 0, 0.3, 0, 0, 0, 1]})
    for ground, word in (("plane", "plane"), (slope, "slope.json"),
                         (tmp_path / "slope.json", "slope.json")):
        out = tmp_path / "motion.csv"
        subprocess.run(
            [command_line, "simulate", "ball.urdf", "--root", "floating", "--state", "above.json",
             "--duration", "0.5", "--dt", "0.002", "--ground", word, "--output", str(out)],
            check=True, capture_output=True, cwd=tmp_path,
        )
        table = np.genfromtxt(out, delimiter=",", names=True, deletechars="")
        frame = ball.simulate(x, duration=0.5, dt=0.002, ground=ground).to_pandas()
        assert list(frame.columns) == list(table.dtype.names)[1:]
        for name in frame.columns:
            assert np.array_equal(frame[name].to_numpy(), table[name]), name


def test_ground_bears_the_weight(ball):
    x = ball.state({"root": [0, 0, 0.1, 0, 0, 0, 1]})
    run = ball.simulate(x, duration=0.2, dt=1e-3, ground="plane")
    contact = run.contact
    assert contact.unsolved_steps == 0 and contact.deep_steps == 0
    assert contact.points[-1] == 1 and contact.residual[-1] < 1e-6  # the solver's tolerance
    assert np.allclose(contact.forces["ball"][-1], [0, 0, 2 * 9.81], atol=1e-4)  # over a step
    assert ball.simulate(x, duration=0.01, dt=1e-3).contact is None


def test_ground_file_that_cannot_be_is_refused_by_name(ball, tmp_path):
    def run(file):
        return ball.simulate(duration=0.01, dt=1e-3, ground=file)

    file = tmp_path / "ground.json"
    file.write_text('{"plane": {"height": -1}, "plane": {"height": -2}}')
    with pytest.raises(esp.DuplicateName, match="ground.json: key 'plane' is given twice"):
        run(file)
    file.write_text('{"shapes": [{"link": "", "sphere": 0.1, "link": ""}]}')
    with pytest.raises(esp.DuplicateName, match="key 'link' is given twice"):
        run(file)
    file.write_bytes(b'{"plane": "\xff"}')
    with pytest.raises(esp.InvalidModel, match="has the byte 0xff at 11, expected JSON in UTF-8"):
        run(file)
    for text in ('{"plane": ', "[" * 100_000):
        file.write_text(text)
        with pytest.raises(esp.Error, match="ground.json"):
            run(file)
    file.write_bytes(b'\xef\xbb\xbf{"plane": {"height": -1}}')  # the mark that Windows puts first
    assert len(run(file)) > 1


def test_ground_file_without_an_end_is_refused(ball, monkeypatch):
    monkeypatch.setattr("espalier.simulation.LARGEST_FILE", 1000)
    with pytest.raises(esp.InvalidModel, match="/dev/zero' is larger than 1000 bytes"):
        ball.simulate(duration=0.01, dt=1e-3, ground="/dev/zero")


def test_ground_that_cannot_be_is_refused(models, ball, tmp_path):
    x = ball.state()
    run = lambda **options: ball.simulate(x, duration=0.01, dt=1e-3, **options)  # noqa: E731
    with pytest.raises(KeyError, match="did you mean 'plane'"):
        run(ground="plain")
    with pytest.raises(TypeError, match="ground is 3, expected 'plane'"):
        run(ground=3)
    with pytest.raises(ValueError, match="nowhere.json' is unreadable"):
        run(ground=tmp_path / "nowhere.json")
    with pytest.raises(KeyError, match="did you mean 'friction'"):
        run(ground={"fricton": 1})
    with pytest.raises(esp.Unsupported, match="integrator is 'rk4', expected it without ground"):
        run(ground="plane", integrator="rk4")
    with pytest.raises(esp.Unsupported, match="solver is 'admm', expected it with ground"):
        run(solver="admm")
    with pytest.raises(esp.InvalidModel, match="number of shapes on links"):
        models("double_pendulum.yaml").simulate(duration=0.01, dt=1e-3, ground="plane")
    with pytest.warns(UserWarning, match="overlap by 0.1 m at the start"):
        run(ground="plane")


def test_energy_is_conserved_without_friction(models):
    model = models("double_pendulum.yaml")
    x = model.state(q=[1.0, 0.5])
    run = model.simulate(x, duration=1.0, dt=1e-3, passive=False)
    # rk4: the error of a step is of order h^5.
    assert np.max(np.abs(run.energy - run.energy[0])) < 1e-8
    assert len(run) == 1001 and run.t[-1] == pytest.approx(1.0)
    assert run.final.q.tolist() == run.q[-1].tolist()


def test_controller_in_python_holds_the_robot(models):
    model = models("double_pendulum.yaml")
    x = model.state(q=[1.0, 0.5])
    hold = lambda t, q, v: model.inverse_dynamics(q, v)  # noqa: E731: as users write it
    run = model.simulate(x, duration=0.2, dt=1e-3, controller=hold)
    assert np.allclose(run.q, x.q, atol=1e-9)


def test_controllers_by_name_and_by_array_are_the_same(models):
    model = models("double_pendulum.yaml")
    names = model.coordinates
    a = model.simulate(duration=0.1, dt=1e-3, controller=lambda t, q, v: [1.0, -0.5 * v[1]])
    b = model.simulate(
        duration=0.1, dt=1e-3, controller=lambda t, q, v: {names[0]: 1.0, names[1]: [-0.5 * v[1]]}
    )
    c = model.simulate(
        duration=0.1, dt=1e-3,
        controller=[esp.Constant({names[0]: 1.0}), esp.Pd({names[1]: {"kd": 0.5}})],
    )
    assert np.array_equal(a.q, b.q)
    assert np.allclose(a.q, c.q, atol=1e-14)


def test_forces_on_dependent_joints_act_through_the_gear(models):
    model = models("geared_chain.yaml")
    dependent = next(n for n in model.joints if model.joint(n)["independent"] is None)
    run = model.simulate(duration=0.01, dt=1e-3, controller=lambda t, q, v: {dependent: 0.1})
    free = model.simulate(duration=0.01, dt=1e-3)
    assert np.max(np.abs(run.v[-1] - free.v[-1])) > 1e-6


def test_exception_of_a_controller_comes_through(models):
    def bad(t, q, v):
        raise RuntimeError("motor on fire")

    with pytest.raises(RuntimeError, match="motor on fire"):
        models("ur5.urdf").simulate(duration=1, dt=1e-3, controller=bad)
    with pytest.raises(KeyError, match="elbw"):
        models("ur5.urdf").simulate(
            duration=1, dt=1e-3, controller=lambda t, q, v: {"elbw": 1.0}
        )
    with pytest.raises(ValueError, match="shape of tau"):
        models("ur5.urdf").simulate(duration=1, dt=1e-3, controller=lambda t, q, v: [1.0])


def test_forces_that_are_no_numbers_are_the_controllers(models, ball):
    model = models("ur5.urdf")
    lost = lambda t, q, v: {"elbow": float("nan")}  # noqa: E731: as users write it
    with pytest.raises(ValueError, match="force on joint 'elbow' is nan.*a controller added it"):
        model.simulate(duration=0.1, dt=1e-3, controller=lost)
    with pytest.raises(ValueError, match="controller 2 of 2 added it"):
        model.simulate(duration=0.1, dt=1e-3, controller=[lambda t, q, v: None, lost])
    with pytest.raises(ValueError, match="tau of 'elbow' is nan"):
        model.simulate(duration=0.1, dt=1e-3, tau=[0, 0, np.nan, 0, 0, 0])
    with pytest.raises(ValueError, match="force on joint 'root' is inf"):
        ball.simulate(duration=0.1, dt=1e-3, controller=lambda t, q, v: {"root": [np.inf] * 6},
                      ground={"plane": {"height": -1}})


def test_bad_arguments_are_refused(models):
    model = models("ur5.urdf")
    with pytest.raises(TypeError, match="argument is 'controler'.*did you mean 'controller'"):
        model.simulate(duration=1, dt=1e-3, controler=3)
    with pytest.raises(TypeError, match="gains of joint 'elbow' are 3, expected a dict of kp"):
        esp.Pd({"elbow": 3})
    with pytest.raises(ValueError, match="positive step"):
        model.simulate(duration=1, dt=0)
    with pytest.raises(KeyError, match="rk4"):
        model.simulate(duration=1, dt=1e-3, integrator="rk5")
    with pytest.raises(TypeError, match="controller"):
        model.simulate(duration=1, dt=1e-3, controller=3)
    with pytest.raises(KeyError, match="did you mean 'kp'"):
        esp.Pd({"elbow": {"kpp": 1}})
    other = models("tello.yaml").state()
    with pytest.raises(esp.Unsupported, match="tello"):
        model.simulate(other, duration=1, dt=1e-3)


def test_plot_and_table(models):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    run = models("double_pendulum.yaml").simulate(duration=0.1, dt=1e-3)
    axes = run.plot()
    assert len(axes[0].lines) == 2 and len(axes[1].lines) == 3
    assert run.to_pandas()["energy"].iloc[-1] == run.energy[-1]
    assert run[run.model.joints[0]].shape == (101,)


def test_a_motion_is_shown_in_the_viewer(models, command_line, monkeypatch, tmp_path):
    monkeypatch.setenv("ESPALIER_PROGRAM", command_line)
    model = models("four_bar_leg.yaml")
    run = model.simulate(duration=0.05, dt=1e-3, every=5)
    view = run.view()
    data = json.loads(re.search(r'<script id="data"[^>]*>(.*?)</script>', view.html, re.S)[1])
    motion = data["motion"]
    assert data["scene"]["name"] == "four_bar_leg" and "energy" in motion["columns"]
    assert np.allclose(motion["times"], run.t, atol=1e-12)
    # Sliders' values are kept with five decimals.
    name = data["scene"]["sliders"][0]["name"]
    assert np.allclose([row[0] for row in motion["values"]], run[name], atol=1e-5)
    # A notebook has it in a frame of its own: the page's text is escaped.
    assert view._repr_html_().startswith("<iframe srcdoc=") and "<script" not in view._repr_html_()
    assert view.save(tmp_path / "motion.html").read_text(encoding="utf-8") == view.html


def test_a_robot_is_shown_in_the_viewer(models, command_line, monkeypatch):
    monkeypatch.setenv("ESPALIER_PROGRAM", command_line)
    model = models("tello.yaml", root="floating")
    html = model.view().html
    data = json.loads(re.search(r'<script id="data"[^>]*>(.*?)</script>', html, re.S)[1])
    assert len(data["scene"]["sliders"]) == model.nv and len(data["sweeps"]) > 6
    swept = models("four_bar_leg.yaml").view(sweep="ankle.crank").html
    assert '"sweep":"ankle.crank"' in swept.replace(": ", ":")
    with pytest.raises(esp.Unsupported, match="no_such"):
        models("four_bar_leg.yaml").view(sweep="no_such")


def test_viewer_that_is_missing_is_told(models, monkeypatch):
    from espalier import viewer

    monkeypatch.setattr(viewer, "program", lambda: None)
    with pytest.raises(esp.Unsupported, match="program 'espalier' is missing.*ESPALIER_PROGRAM"):
        models("ur5.urdf").view()


def test_progress_goes_to_standard_error(models, capfd):
    models("ur5.urdf").simulate(duration=0.01, dt=1e-3, progress=True)
    caught = capfd.readouterr()
    assert "100 %" in caught.err and caught.out == ""


@pytest.mark.parametrize("ground", [None, {"shapes": [{"link": "trunk", "sphere": 0.1}]}])
def test_bad_numbers_are_refused_by_name(models, ground):
    robot = models("solo12.urdf", root="floating")
    x = robot.state()
    with pytest.raises(esp.InvalidModel, match="takes 1e.20 steps of 0.001 s, expected at most"):
        robot.simulate(x, duration=1e17, dt=1e-3, ground=ground)
    with pytest.raises(TypeError, match="every is 1.5, expected a whole number from 1"):
        robot.simulate(x, duration=0.01, dt=1e-3, every=1.5, ground=ground)
    with pytest.raises(TypeError, match=r"gravity is \[0, 0\], expected three numbers"):
        robot.simulate(x, duration=0.01, dt=1e-3, gravity=[0, 0], ground=ground)
    x.q[3:7] = 0.0
    with pytest.raises(esp.InvalidModel, match="length of the quaternion of joint 'root' is 0"):
        robot.simulate(x, duration=0.01, dt=1e-3, ground=ground)


def test_quaternion_without_direction_is_refused_where_positions_are_moved(models):
    robot = models("solo12.urdf", root="floating")
    q = robot.state().q
    q[3:7] = 0.0
    dq, text = np.zeros(robot.nv), "length of the quaternion of joint 'root' is 0"
    for call in (lambda: robot.integrate(q, dq), lambda: robot.difference(q, q),
                 lambda: robot.close(q)):
        with pytest.raises(esp.InvalidModel, match=text):
            call()


def test_more_threads_than_any_machine_has_are_refused(models):
    robot = models("ur5.urdf")
    q = np.zeros((17, 6))
    with pytest.raises(esp.SizeMismatch, match="number of threads is 1000000, expected at most"):
        robot.forward_dynamics(q, q, q, threads=10**6)
    with pytest.raises(TypeError, match="gravity is .*, expected three numbers"):
        robot.forward_dynamics(q[0], q[0], q[0], gravity=[0, 0])


@pytest.mark.parametrize("ground", [None, {"shapes": [{"link": "torso", "sphere": 0.1}]}])
def test_open_loops_at_the_start_are_an_invalid_state(tello, ground):
    x = tello.state()
    with pytest.raises(esp.InvalidState, match="expected closed loops"):
        x.q = x.q + np.concatenate([np.zeros(7), 0.3 * np.arange(tello.nq - 7)])
        tello.simulate(x, duration=0.01, dt=1e-3, ground=ground)
