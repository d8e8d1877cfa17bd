"""The wheel carries its plugins, and the installed module is found."""

import base64
import hashlib
import importlib.util
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from conftest import ROOT

import espalier as esp

BUILD = Path(esp._core.__file__).resolve().parents[2]

PROGRAM = """
import os, sys, numpy as np, espalier as esp
home = os.path.realpath(sys.argv[1])
assert os.path.realpath(esp.__file__).startswith(home), esp.__file__
assert esp.plugins()
for plugin in esp.plugins():
    assert os.path.realpath(plugin["file"]).startswith(home), plugin
robot = esp.load(esp.robot_file("tello.yaml"))
assert esp.robot_file("tello.yaml").startswith(sys.argv[1])
assert robot.compare(samples=2)
assert "size nv" in robot.forward_dynamics.__doc__
"""


def check(path, home):
    """Runs a program in an environment that knows nothing of the build tree."""
    env = {"PATH": "/usr/bin:/bin", "PYTHONPATH": os.fspath(path)}
    done = subprocess.run([sys.executable, "-c", PROGRAM, os.fspath(home)], env=env, cwd=home,
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    spec = importlib.util.spec_from_file_location(
        "backend", ROOT / "python" / "packaging" / "backend.py"
    )
    backend = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(backend)
    folder = tmp_path_factory.mktemp("wheel")
    os.environ["ESPALIER_PYTHON_BUILD"] = os.fspath(BUILD)
    try:
        return folder / backend.build_wheel(folder)
    finally:
        del os.environ["ESPALIER_PYTHON_BUILD"]


def test_wheel_works_where_it_is_moved_to(wheel, tmp_path):
    first, second = tmp_path / "first", tmp_path / "second"
    with zipfile.ZipFile(wheel) as file:
        file.extractall(first)
    check(first, first)
    first.rename(second)
    check(second, second)


def test_wheel_has_a_record_of_all_its_files(wheel):
    with zipfile.ZipFile(wheel) as file:
        names = file.namelist()
        (record,) = [n for n in names if n.endswith("RECORD")]
        listed = {}
        for line in file.read(record).decode().splitlines():
            name, digest, size = line.rsplit(",", 2)
            listed[name] = (digest, size)
        assert set(listed) == set(names)
        for name in names:
            if name == record:
                continue
            data = file.read(name)
            own = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            assert listed[name] == (f"sha256={own}", str(len(data)))
    assert any(n.startswith("espalier/lib/espalier/plugins/") for n in names)
    assert len(names) == len(set(names)) and "espalier/py.typed" in names


def test_pip_installs_without_the_network(tmp_path):
    env = {**os.environ, "ESPALIER_PYTHON_BUILD": os.fspath(BUILD), "PIP_NO_INDEX": "1",
           "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "pip", "install", os.fspath(ROOT), "--no-build-isolation",
         "--no-deps", "--target", os.fspath(tmp_path / "site")],
        env=env, capture_output=True, text=True, check=False,
    )
    assert done.returncode == 0, done.stderr
    check(tmp_path / "site", tmp_path / "site")


def test_cmake_installs_where_pythons_of_debian_look(tmp_path):
    subprocess.run(["cmake", "--install", os.fspath(BUILD), "--prefix", os.fspath(tmp_path)],
                   check=True, capture_output=True)
    version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    folder = tmp_path / "lib" / version / "dist-packages"
    assert (folder / "espalier" / "__init__.py").is_file()
    check(folder, tmp_path)
