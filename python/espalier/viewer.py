"""The viewer from Python: a page in a notebook, or in a browser."""

from __future__ import annotations

import csv
import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _core
from .description import _extra_plugins
from .errors import Unsupported, expect_name, file_name

if TYPE_CHECKING:
    from .model import Model
    from .simulation import Run


class View:
    """A page that needs no server and no network. A notebook shows it by itself.

    html: its text. save(file) writes it, show() opens it in a browser.
    """

    def __init__(self, name: str, html: str):
        self.name, self.html = name, html

    def save(self, file: str | os.PathLike[str]) -> Path:
        """Writes the page to a file."""
        path = Path(file_name(f"view of '{self.name}'", file))
        path.write_text(self.html, encoding="utf-8")
        return path

    def show(self) -> Path:
        """Opens the page in a browser; returns the file, which stays until somebody removes it."""
        import webbrowser

        folder = Path(tempfile.mkdtemp(prefix="espalier-view-"))
        path = self.save(folder / "view.html")
        webbrowser.open(path.as_uri())
        return path

    def _repr_html_(self) -> str:
        # A frame of its own: scripts and styles of the page stay inside.
        return (
            f'<iframe srcdoc="{escape(self.html)}" title="{escape(self.name)}" '
            'style="width: 100%; height: 560px; border: 0"></iframe>'
        )

    def __repr__(self) -> str:
        return f"<espalier.View of '{self.name}': {len(self.html) / 1e6:.2f} MB>"


def program() -> str | None:
    """The command line: ESPALIER_PROGRAM, that of the build or prefix of this module, or in PATH."""
    given = os.environ.get("ESPALIER_PROGRAM")
    if given:
        return given
    module = Path(_core.__file__ or "").resolve().parent
    for folder in module.parents:
        candidate = folder / "bin" / "espalier"
        # Beside the libraries: <build>/bin of <build>/python/espalier, <prefix>/bin of
        # <prefix>/lib/python3/dist-packages/espalier.
        if (folder / "lib").is_dir() and os.access(candidate, os.X_OK):
            return os.fspath(candidate)
    return shutil.which("espalier")


def view(model: Model, run: Run | None = None, sweep: str | None = None) -> View:
    """See Model.view and Run.view."""
    who = f"view of '{model.name}'"
    found = program()
    if found is None:
        raise Unsupported(
            f"{who}: program 'espalier' is missing, expected it in PATH or named by "
            "ESPALIER_PROGRAM (run.plot() and run.to_pandas() work without)"
        )
    if sweep is not None:
        expect_name(who, "sweep", sweep)
    with tempfile.TemporaryDirectory(prefix="espalier-") as folder:
        robot, out = Path(folder) / "robot.yaml", Path(folder) / "view.html"
        text, meshes = _drawn(who, model, run)
        robot.write_text(text, encoding="utf-8")
        options = ["--root", model.options["root"], "--mimic", model.options["mimic"],
                   "--html", os.fspath(out)]
        for k, place in enumerate(meshes):  # the page does not show where they are
            (Path(folder) / f"meshes{k}").symlink_to(place)
            options += ["--search", place]
        if run is not None:
            motion = Path(folder) / "motion.csv"
            _write_motion(run, motion)
            options += ["--trajectory", os.fspath(motion)]
        if sweep is not None:
            options += ["--sweep", sweep]
        done = subprocess.run(
            [found, *_plugins(model, Path(folder) / "plugins"), "view", os.fspath(robot), *options],
            capture_output=True, text=True, check=False,
        )
        if done.returncode != 0 or not out.exists():
            raise Unsupported(f"{who}: {found} ended with {done.returncode}: {done.stderr.strip()}")
        return View(model.name, out.read_text(encoding="utf-8"))


def _drawn(who: str, model: Model, run: Run | None) -> tuple[str, list[str]]:
    """The robot as the command line reads it, and the folders of its meshes.

    It knows no law of Python. A motion has the positions of all joints and needs none.
    """
    description = model.description
    of_python = {law["name"] for law in model._laws}
    for name in [name for name, law in description.laws.items() if law.type in of_python]:
        if run is None:
            raise Unsupported(
                f"{who}: law '{name}' is of type '{description.laws[name].type}', expected one of a "
                "plugin (the command line draws, which knows no law of Python; run.view() draws a "
                "motion)"
            )
        del description.laws[name]
    core, folders = description._core._with_mesh_folders()
    return model.host.write_text(core, "robot.yaml"), folders


def _plugins(model: Model, folder: Path) -> list[str]:
    """Options for the plugins that were loaded by hand: links to them in a folder."""
    files = _extra_plugins(model.host)
    if not files:
        return []
    folder.mkdir()
    for file in files:
        (folder / Path(file).name).symlink_to(Path(file).resolve())
    return ["--plugins", os.fspath(folder)]


def _write_motion(run: Run, path: Path) -> None:
    """As `espalier simulate --output` writes it."""
    names = [
        f"q.{name}" if j["nq"] == 1 else f"q.{name}[{k}]"
        for name, j in run.model._joint_by_name.items()
        for k in range(j["nq"])
    ]
    columns = [
        j["q"] + k for j in run.model._joint_by_name.values() for k in range(j["nq"])
    ]
    energies: Sequence[tuple[str, Any]] = (
        ("kinetic", run.kinetic),
        ("gravity", run.potential),
        ("springs", run.springs),
        ("energy", run.energy),
    )
    with open(path, "w", newline="", encoding="utf-8") as file:
        out = csv.writer(file)
        out.writerow(["time", *names, *(name for name, _ in energies)])
        for k in range(len(run)):
            out.writerow(
                [repr(float(run.t[k])), *(repr(float(x)) for x in run.q[k, columns]),
                 *(repr(float(values[k])) for _, values in energies)]
            )
