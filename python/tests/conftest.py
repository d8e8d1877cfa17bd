"""What all tests share."""

import os
from pathlib import Path

import numpy as np
import pytest

import espalier as esp

ROOT = Path(__file__).resolve().parents[2]
ROBOTS = sorted(p.name for p in (ROOT / "robots").iterdir() if p.suffix in (".urdf", ".yaml"))


@pytest.fixture(scope="session")
def models():
    """Robots by file name, compiled once."""
    loaded = {}

    def load(name, **options):
        key = (name, tuple(sorted(options.items())))
        if key not in loaded:
            loaded[key] = esp.load(ROOT / "robots" / name, **options)
        return loaded[key]

    return load


@pytest.fixture(scope="session")
def tello(models):
    """Loops and couplings."""
    return models("tello.yaml")


@pytest.fixture(scope="session")
def arm(models):
    """A tree."""
    return models("ur5.urdf")


@pytest.fixture(scope="session")
def command_line():
    """The program of the same build."""
    path = os.environ.get("ESPALIER_COMMAND_LINE")
    if path is None:
        path = Path(esp._core.__file__).parents[2] / "bin" / "espalier"
    assert Path(path).is_file(), f"{path}: program is missing, expected the command line's"
    return os.fspath(path)


@pytest.fixture
def random():
    return np.random.default_rng(7)
