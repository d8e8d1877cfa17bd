"""Types are checked by mypy, and the stub of the C++ part is what the module has."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import espalier as esp

PACKAGE = Path(__file__).resolve().parents[1] / "espalier"


def run(*words, cwd=None):
    env = {**os.environ, "MYPYPATH": os.fspath(PACKAGE.parent)}
    return subprocess.run(
        [sys.executable, "-m", *words], capture_output=True, text=True, cwd=cwd, env=env,
        check=False,
    )


@pytest.fixture(scope="module", name="mypy")
def mypy_fixture(tmp_path_factory):
    """Checks a file or folder. The first call reads NumPy's types, for 4 s; others find them.

    Those of Dask and of PyTorch are left out: `as_completed` and tensors, which tests run, have none
    that help, and reading them and what they import takes much longer than all others.
    """
    cache = tmp_path_factory.mktemp("mypy")
    config = cache / "mypy.ini"
    config.write_text("[mypy]\n[mypy-distributed.*,torch.*]\nfollow_imports = skip\n")
    return lambda path: run(
        "mypy", "--config-file", os.fspath(config), "--cache-dir", os.fspath(cache),
        "--ignore-missing-imports", "--disallow-untyped-defs", "--warn-unused-ignores",
        os.fspath(path), cwd=cache,
    )


def test_mypy_finds_nothing(mypy):
    done = mypy(PACKAGE)
    assert done.returncode == 0, done.stdout


def test_a_wrong_call_is_found(mypy, tmp_path):
    program = tmp_path / "program.py"
    program.write_text("import espalier\nespalier.load(3)\n")
    done = mypy(program)
    assert done.returncode == 1 and 'incompatible type "int"' in done.stdout


def test_stub_has_what_the_module_has():
    """Every public name of _core is in the stub, and nothing else."""
    import ast

    tree = ast.parse((PACKAGE / "_core.pyi").read_text(encoding="utf-8"))
    in_stub = {}
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            members = {n.name for n in node.body if isinstance(n, ast.FunctionDef)}
            members |= {n.target.id for n in node.body if isinstance(n, ast.AnnAssign)}
            in_stub[node.name] = members
        elif isinstance(node, ast.FunctionDef):
            in_stub[node.name] = None
        elif isinstance(node, ast.AnnAssign):
            in_stub[node.target.id] = None
    module = esp._core
    own = {n for n in dir(module) if not n.startswith("__")}
    assert set(in_stub) == own
    for name, members in in_stub.items():
        if members is None:
            continue
        have = {n for n in vars(getattr(module, name)) if not n.startswith("__")}
        assert {m for m in members if not m.startswith("__")} == have, name
