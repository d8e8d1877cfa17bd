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


def test_knee_in_a_jump_is_a_trade_of_torque_against_speed():
    example = load(FOLDER / "examples" / "knee_in_a_jump.py")
    found = esp.sweep(example.peak_torque, example.designs(16), workers=1, progress=False)
    assert found.complete and len(found.results) == 16
    table = found.table()
    # At one length, speed is proportional to the ratio.
    assert np.allclose(table["motor_speed"][3] / table["motor_speed"][0],
                       table["ratio"][3] / table["ratio"][0], rtol=1e-9)
    assert table["motor_torque"].min() > 0


def test_static_knee_torque_is_that_by_hand():
    """Nearly at rest, moments on the shank about the knee."""
    example = load(FOLDER / "examples" / "knee_in_a_jump.py")
    slow = example.peak_torque({"length": 0.2, "ratio": 1.0}, speed=1e-4)
    # Largest in the crouch, cos(hip) = 0.6: the ground bears all 8.25 kg under the hip, and the
    # shank's 1 kg pulls at its middle.
    lever = 0.2 * np.sin(np.arccos(0.6))
    assert slow["motor_torque"] == pytest.approx(9.81 * (8.25 - 0.5) * lever, rel=1e-6)


def test_controller_without_spread_or_friction_reaches_its_target():
    example = load(FOLDER / "examples" / "robust_controller.py")
    gains = {"kp": 60.0, "kd": 12.0}
    exact = {**gains, "spread": 0.0, "friction": 0.0}
    rough = {**gains, "spread": 0.3, "friction": 0.5}
    found = esp.sweep(example.rollout, [exact, rough, rough], workers=1)
    errors = found.table()["error"]
    # The slowest pole is at about -kp / kd = -5 / s: 1.5 s leave e^-7.5 of a start of 0.6 rad.
    assert errors[0] < 1e-2 < errors[1] != errors[2]
