"""Builds the wheel with CMake: a PEP 517 backend of the standard library alone.

    pip install . --no-build-isolation

ESPALIER_PYTHON_BUILD names a configured build folder to be used instead of build/wheel.
"""

import base64
import hashlib
import os
import re
import subprocess
import sys
import sysconfig
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

def _version():
    text = (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
    return re.search(r"project\(espalier VERSION ([0-9.]+)", text).group(1)


def _metadata():
    return "\n".join(
        [
            "Metadata-Version: 2.1",
            "Name: espalier",
            f"Version: {_version()}",
            "Summary: Dynamics of robots whose limbs contain gears, differentials and four-bars",
            "License: BSD-3-Clause",
            "Requires-Python: >=3.11",
            "Requires-Dist: numpy>=1.24",
            "",
            "",
        ]
    )


def _tag():
    python = f"cp{sys.version_info[0]}{sys.version_info[1]}"
    return f"{python}-{python}-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}"


def _run(*words):
    # pip reads standard output.
    subprocess.run(words, check=True, stdout=sys.stderr)


def _build(stage):
    """Builds and installs below `stage`."""
    given = os.environ.get("ESPALIER_PYTHON_BUILD")
    folder = Path(given) if given else ROOT / "build" / "wheel"
    if not (folder / "build.ninja").exists():
        compiler = os.environ.get("CXX", "clang++")
        _run("cmake", "-S", str(ROOT), "-B", str(folder), "-G", "Ninja",
             "-DCMAKE_BUILD_TYPE=Release", f"-DCMAKE_CXX_COMPILER={compiler}",
             "-DESPALIER_TESTS=OFF", "-DESPALIER_PYTHON=ON",
             f"-DPython3_EXECUTABLE={sys.executable}")
    _run("cmake", "--build", str(folder), "--target", "espalier_python_wheel")
    _run("cmake", "--install", str(folder), "--component", "python_wheel", "--prefix", str(stage))


def _files(stage):
    """Path -> contents. A zip has no links: a library stands there under the name it is loaded by."""
    paths = [path for path in sorted(Path(stage).rglob("*")) if path.is_file()]
    behind_links = {path.resolve() for path in paths if path.is_symlink()}
    return {
        path.relative_to(stage).as_posix(): path.read_bytes()
        for path in paths
        if path.is_symlink() or path.resolve() not in behind_links
    }


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    name = f"espalier-{_version()}-{_tag()}.whl"
    info = f"espalier-{_version()}.dist-info"
    with tempfile.TemporaryDirectory() as stage:
        _build(stage)
        files = _files(stage)
    files[f"{info}/METADATA"] = _metadata().encode()
    files[f"{info}/LICENSE"] = (ROOT / "LICENSE").read_bytes()
    files[f"{info}/WHEEL"] = (
        f"Wheel-Version: 1.0\nGenerator: espalier\nRoot-Is-Purelib: false\nTag: {_tag()}\n"
    ).encode()
    record = ""
    for path, data in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        record += f"{path},sha256={digest},{len(data)}\n"
    files[f"{info}/RECORD"] = (record + f"{info}/RECORD,,\n").encode()
    with zipfile.ZipFile(Path(wheel_directory) / name, "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, data in files.items():
            entry = zipfile.ZipInfo(path)  # no time: the same wheel from the same files
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            wheel.writestr(entry, data)
    return name


def build_sdist(sdist_directory, config_settings=None):
    raise RuntimeError(
        "espalier: source distribution is asked for, expected a checkout (pip install .)"
    )


def get_requires_for_build_wheel(config_settings=None):
    return []
