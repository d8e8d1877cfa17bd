"""Examples run, and the notebooks are the scripts."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import espalier as esp

FOLDER = Path(__file__).resolve().parents[1]
NOTEBOOKS = ["forward_and_inverse_dynamics", "custom_linkage", "thousand_robots"]


def load(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_script_runs(name):
    done = subprocess.run(
        [sys.executable, FOLDER / "examples" / f"{name}.py"], capture_output=True, text=True,
        timeout=120, check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_notebook_is_made_of_the_script(name):
    tool = load(FOLDER / "tools" / "notebook.py")
    script = (FOLDER / "examples" / f"{name}.py").read_text(encoding="utf-8")
    written = (FOLDER / "examples" / f"{name}.ipynb").read_text(encoding="utf-8")
    assert tool.notebook(script) == written


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_notebook_runs(name, tmp_path, monkeypatch):
    import nbclient
    import nbformat

    monkeypatch.setenv("IPYTHONDIR", os.fspath(tmp_path))
    book = nbformat.read(FOLDER / "examples" / f"{name}.ipynb", as_version=4)
    nbclient.NotebookClient(book, timeout=120, kernel_name="python3").execute()
    outputs = [o for cell in book.cells if cell.cell_type == "code" for o in cell.outputs]
    assert outputs and not any(o.output_type == "error" for o in outputs)
    if name == "custom_linkage":  # the cluster tree is drawn
        assert any("<svg" in str(o.get("data", {}).get("text/html", "")) for o in outputs)


def test_knee_in_a_jump_is_a_trade_of_torque_against_speed(tmp_path):
    example = load(FOLDER / "examples" / "knee_in_a_jump.py")
    found = esp.sweep(example.peak_torque, example.designs(16), workers=1, progress=False)
    assert found.complete and len(found.results) == 16
    table = found.table()
    # At one length, speed is proportional to the ratio.
    assert np.allclose(table["motor_speed"][3] / table["motor_speed"][0],
                       table["ratio"][3] / table["ratio"][0], rtol=1e-9)
    # The ground's force goes through the foot, between its heel and its toe (parts/tello_leg.yaml).
    assert table["heel"].min() > -0.05 and table["toe"].max() < 0.1
    example.draw(table, tmp_path / "knee.svg")
    assert "peak torque" in (tmp_path / "knee.svg").read_text(encoding="utf-8")


def test_work_of_the_jumps_motors_is_the_energy_gained():
    example = load(FOLDER / "examples" / "knee_in_a_jump.py")
    speed, samples = 2.0, 401
    found = example.jump({"length": 1.2, "ratio": 9.0}, speed, samples)
    robot, q, v, tau = (found[name] for name in ("robot", "q", "v", "tau"))
    energy = [sum(robot.energy(q[k], v[k]).values()) for k in (0, -1)]
    # At even steps of height, dz = zd dt: the root's rate is the height's.
    power = np.einsum("ni,ni->n", tau, v)
    force = power[1:] / v[1:, 5]
    # At rest, power over rate is that of the limit: of a straight line through the next two.
    force = np.concatenate([[2 * force[0] - force[1]], force])
    h = (q[-1, 2] - q[0, 2]) / (samples - 1)
    work = h / 3 * (force[0] + 4 * force[1::2].sum() + 2 * force[2:-1:2].sum() + force[-1])
    # Simpson's rule and the straight line at the start: h^2 of 1/400.
    assert work == pytest.approx(energy[1] - energy[0], rel=1e-5)
    # The ground does no work, and the motors all that of the knee and the ankle.
    assert np.abs(tau[:, :6]).max() < 1e-9 * np.abs(tau).max()
    knee = [robot.joint(f"left.{name}")["independent"] for name in example.KNEE]
    assert np.allclose(np.einsum("ni,ni->n", found["torques"], found["speeds"]),
                       np.einsum("ni,ni->n", tau[:, knee], v[:, knee]), rtol=1e-9)


def test_jump_that_is_slow_is_statics_in_the_motors_own_coordinates(models):
    """Tello as its file has it, whose coordinates are the motors, is told the ground's wrenches."""
    example = load(FOLDER / "examples" / "knee_in_a_jump.py")
    slow = example.jump({"length": 1.0, "ratio": 6.0}, speed=1e-5, samples=5)
    robot = models("tello.yaml", root="floating")
    for k, x in enumerate(slow["q"]):
        q = robot.state().q
        for name in robot.joints:
            a, b = slow["robot"].joint(name), robot.joint(name)
            q[b["q"] : b["q"] + b["nq"]] = x[a["q"] : a["q"] + a["nq"]]
        wrenches = {f"{side}.knee_ankle.foot": slow["ground"][k, 6 * i : 6 * i + 6]
                    for i, side in enumerate(example.SIDES)}
        tau = robot.inverse_dynamics(q, np.zeros(robot.nv), np.zeros(robot.nv), wrenches=wrenches)
        motors = [robot.joint(f"left.{name}")["independent"] for name in example.MOTORS]
        # Accelerations of speed^2 / (2 * 0.13 m) = 4e-10 m/s^2 are left.
        assert np.allclose(slow["torques"][k], tau[motors], atol=1e-7)
        assert np.allclose(tau[:6], 0, atol=1e-7)
        assert slow["ground"][k, [5, 11]].sum() == pytest.approx(9.81 * robot.mass, rel=1e-7)


def test_controller_without_spread_or_friction_reaches_its_target():
    example = load(FOLDER / "examples" / "robust_controller.py")
    gains = {"kp": 60.0, "kd": 12.0}
    exact = {**gains, "spread": 0.0, "friction": 0.0}
    rough = {**gains, "spread": 0.3, "friction": 0.5}
    found = esp.sweep(example.rollout, [exact, rough, rough], workers=1)
    errors = found.table()["error"]
    # The slowest pole is at about -kp / kd = -5 / s: 1.5 s leave e^-7.5 of a start of 0.6 rad.
    assert errors[0] < 1e-2 < errors[1] != errors[2]
