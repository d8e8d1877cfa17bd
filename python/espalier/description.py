"""Robots as they were read: to be edited, compiled again and written."""

from __future__ import annotations

import json
import os
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from . import _core
from .errors import (
    DuplicateName, InvalidModel, OnlyKnown, Unsupported, expect_dict, expect_name, expect_word,
    file_name, name_fields, part_name, unknown,
)
from .host import Host, default_host, loaded_by_hand
from .results import PlainNumbers

if TYPE_CHECKING:
    from .model import Model


for _kind in ("Link", "Joint", "Loop", "Coupling", "Law"):
    name_fields(
        getattr(_core, f"{_kind}Description"),
        lambda part, kind=_kind.lower(): f"{kind} '{part.name}'",  # type: ignore[misc]
    )


class _Parts(Mapping[str, Any]):
    """Links, joints, ... of a description by name; in the order of the file."""

    def __init__(self, core: Any, kind: str) -> None:
        self._core, self._kind = core, kind

    def __getitem__(self, name: str) -> Any:
        expect_name("description", self._kind, name)
        return getattr(self._core, f"_{self._kind}")(name)

    def __iter__(self) -> Iterator[str]:
        return iter(getattr(self._core, f"_{self._kind}s")())

    def __len__(self) -> int:
        return len(getattr(self._core, f"_{self._kind}s")())

    def __contains__(self, name: object) -> bool:
        return name in getattr(self._core, f"_{self._kind}s")()

    def __delitem__(self, name: str) -> None:
        expect_name("description", self._kind, name)
        getattr(self._core, f"_remove_{self._kind}")(name)

    def __repr__(self) -> str:
        return f"{self._kind}s: " + ", ".join(self)


def _set(part: Any, values: Mapping[str, Any]) -> Any:
    for key, value in values.items():
        if not hasattr(type(part), key):
            known = [name for name in dir(type(part)) if not name.startswith("_")]
            raise unknown(f"{type(part).__name__} '{part.name}'", "field", key, known)
        setattr(part, key, value)
    return part


class Description(OnlyKnown):
    """A robot as it was read: names, frames and numbers in the file's own terms.

    >>> import espalier as esp
    >>> arm = esp.read(esp.robot_file("double_pendulum.yaml"))
    >>> arm.links["upper.rod"].mass *= 2
    >>> heavier = arm.compile()
    """

    _kept = ("host",)

    def __init__(
        self, name: str = "robot", *, host: Host | None = None, _core_object: Any = None,
        _laws: list[dict[str, Any]] | None = None,
    ) -> None:
        self.host = default_host() if host is None else host
        self._core = _core.Description(name) if _core_object is None else _core_object
        self._kept_laws = _laws or []

    def _laws(self) -> list[dict[str, Any]]:
        """The laws of Python that it uses: those that came with it before those of the process."""
        from .mechanism import traced_in

        kept = {law["name"]: law for law in self._kept_laws}
        used = sorted({law.type for law in self.laws.values()})
        now = {law["name"]: law for law in traced_in(self)}
        return [found for name in used if (found := kept.get(name, now.get(name))) is not None]

    @property
    def name(self) -> str:
        """Of the robot."""
        return self._core.name

    @name.setter
    def name(self, name: str) -> None:
        self._core.name = name

    @property
    def gravity(self) -> tuple[float, float, float]:
        """[m/s²], world axes."""
        x, y, z = self._core.gravity
        return x, y, z

    @gravity.setter
    def gravity(self, gravity: Any) -> None:
        self._core.gravity = gravity

    @property
    def links(self) -> _Parts:
        """Links by name: mass, com, inertia."""
        return _Parts(self._core, "link")

    @property
    def joints(self) -> _Parts:
        """Joints by name: type, parent, child, xyz, rpy, axis, limits, passive forces, ..."""
        return _Parts(self._core, "joint")

    @property
    def loops(self) -> _Parts:
        """Joints that close loops, by name."""
        return _Parts(self._core, "loop")

    @property
    def couplings(self) -> _Parts:
        """Constant couplings by name: ratio."""
        return _Parts(self._core, "coupling")

    @property
    def laws(self) -> _Parts:
        """Laws between joint positions, by name: type, joints, parameters."""
        return _Parts(self._core, "law")

    def add_link(self, name: str, **values: Any) -> Any:
        """A new link: ``add_link("foot", mass=1, com=[0, 0, -0.1], inertia=np.eye(3))``."""
        return _set(self._core._add_link(expect_name("description", "link", name)), values)

    def add_joint(self, name: str, type: str, parent: str, child: str, **values: Any) -> Any:
        """A new joint of a registered type between two links."""
        values = {"type": type, "parent": parent, "child": child, **values}
        return _set(self._core._add_joint(expect_name("description", "joint", name)), values)

    def add_loop(
        self, name: str, type: str, predecessor: str, successor: str, **values: Any
    ) -> Any:
        """A new joint that closes a loop."""
        values = {"type": type, "predecessor": predecessor, "successor": successor, **values}
        return _set(self._core._add_loop(expect_name("description", "loop", name)), values)

    def add_coupling(self, name: str, predecessor: str, successor: str, ratio: float) -> Any:
        """A new coupling: ratio * (path to predecessor) = (path to successor)."""
        values = {"predecessor": predecessor, "successor": successor, "ratio": ratio}
        return _set(self._core._add_coupling(expect_name("description", "coupling", name)), values)

    def add_law(self, name: str, type: str, joints: list[str], **parameters: Any) -> Any:
        """A new law of a registered type between joint positions."""
        values = {"type": type, "joints": joints, "parameters": parameters}
        return _set(self._core._add_law(expect_name("description", "law", name)), values)

    def compile(
        self, *, root: str | None = None, mimic: str = "honour", rotors: str = "fold"
    ) -> Model:
        """The robot as it is computed on; what is edited later does not change it.

        root: "fixed", or "floating": the root link hangs on a floating joint named "root"; as the
        file says unless it is given. mimic: "honour" or "ignore". rotors: "fold" axisymmetric ones
        (exact) or "keep" them.
        """
        from .mechanism import registered
        from .model import Model

        who = f"compile '{self.name}'"
        if root is not None:
            expect_word(who, "root", root, ["fixed", "floating"])
        expect_word(who, "mimic", mimic, ["honour", "ignore"])
        expect_word(who, "rotors", rotors, ["fold", "keep"])
        laws = self._laws()
        with registered(laws, self.host):
            return Model(self.host.compile(self._core, root, mimic, rotors), laws)

    def diagnose(
        self, *, root: str | None = None, mimic: str = "honour"
    ) -> list[tuple[str, str, str]]:
        """What the model doctor finds: (severity, text, file:line)."""
        if root is not None:
            expect_word(f"diagnose '{self.name}'", "root", root, ["fixed", "floating"])
        expect_word(f"diagnose '{self.name}'", "mimic", mimic, ["honour", "ignore"])
        from .mechanism import registered

        with registered(self._laws(), self.host):
            return self.host.diagnose(self._core, root, mimic)

    def losses(self, format: str) -> list[str]:
        """What the format of a file name's ending does not keep of the robot, a sentence each."""
        if not isinstance(format, str):
            raise TypeError(f"losses of '{self.name}': format is {format!r}, expected an ending")
        return self.host.losses(self._core, "robot." + format.removeprefix("."))

    def text(self, format: str = ".yaml") -> str:
        """The robot as text in the format of a file name's ending; `losses` says what it lacks."""
        if not isinstance(format, str):
            raise TypeError(f"text of '{self.name}': format is {format!r}, expected an ending")
        return self.host.write_text(self._core, "robot." + format.removeprefix("."))

    def write(self, path: str | os.PathLike[str], strict: bool = False) -> None:
        """Writes a file in the format of its ending; reading it gives the same robot.

        What the format does not keep (`losses`) is a warning, or with `strict` an error before
        anything is written. Names of meshes stay as they are, relative to the robot's folder: those
        that are not found from the new file are a warning.
        """
        path = file_name(f"write '{self.name}'", path)
        if re.fullmatch(r"(\.\w+)+", os.path.basename(path)):
            raise InvalidModel(
                f"write '{self.name}': file is '{path}', an ending alone, expected a name before it"
            )
        losses = self.host.losses(self._core, path)
        if losses:
            not_kept = f"write '{self.name}': {path} does not keep {'; '.join(losses)}"
            if strict:
                raise Unsupported(f"{not_kept}, expected a format that keeps all")
            warnings.warn(not_kept, stacklevel=2)
        text = self.host.write_text(self._core, path)
        # Beside and renamed: a full disk leaves what stood there.
        target = os.path.realpath(path)
        part = part_name(target)
        try:
            with open(part, "w", encoding="utf-8") as file:
                file.write(text)
            if os.path.exists(target):
                os.chmod(part, os.stat(target).st_mode & 0o7777)
            os.replace(part, target)
        finally:
            if os.path.exists(part):
                os.unlink(part)
        lost = self._core._meshes_lost_at(path)
        if lost:
            warnings.warn(
                f"write '{self.name}': meshes that are not found from {path} are "
                f"{', '.join(lost)}, expected them in its folder (copy them there)",
                stacklevel=2,
            )

    def copy(self) -> Description:
        """A description of its own."""
        return Description(host=self.host, _core_object=self._core.copy(), _laws=self._kept_laws)

    __copy__ = copy

    def __deepcopy__(self, memo: Any) -> Description:
        return self.copy()

    def __reduce__(self) -> Any:
        files = self._core._shape_files()
        of_meshes = (files,) if any(files) else ()
        return _unpickle, (self.text(), self._laws(), _extra_plugins(self.host), *of_meshes)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Description) and self.text() == other.text()
            and self._laws() == other._laws()
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        counts = [
            f"{len(parts)} {kind}"
            for kind in ("links", "joints", "loops", "couplings", "laws")
            if (parts := getattr(self, kind))
        ]
        return f"<espalier.Description '{self.name}': {', '.join(counts) or 'empty'}>"


def _extra_plugins(host: Host) -> list[str]:
    """Plugin files that another process would not find by itself."""
    own: set[str] = set()
    if host is not default_host():
        own = {p["file"] for p in host.plugins()} - {p["file"] for p in default_host().plugins()}
    return [p["file"] for p in host.plugins() if p["file"] in loaded_by_hand | own]


def _unpickle(
    text: str, laws: list[dict[str, Any]], plugins: list[str], shape_files: Sequence[str] = ()
) -> Description:
    from .mechanism import registered

    host = default_host()
    for file in plugins:
        host.load_plugin(file)
    with registered(laws, host):
        found = read_text(text)
    found._kept_laws = laws
    found._core._set_shape_files(list(shape_files))
    return found


def read(path: str | os.PathLike[str], *, host: Host | None = None) -> Description:
    """Reads a robot by the format of the file's ending."""
    host = default_host() if host is None else host
    return Description(host=host, _core_object=host.read(file_name("read", path)))


def read_text(
    text: str, origin: str = "text.yaml", *, host: Host | None = None
) -> Description:
    """Reads a robot from text; origin's ending says the format, its folder is that of includes.

    An ending alone will do: ``esp.read_text(text, ".urdf")``.
    """
    host = default_host() if host is None else host
    for what, given in (("text", text), ("origin", origin)):
        if not isinstance(given, str):
            raise TypeError(f"read_text: {what} is of type {type(given).__name__}, expected a text")
    if re.fullmatch(r"(\.\w+)+", origin):  # an ending alone
        origin = "text" + origin
    return Description(host=host, _core_object=host.read_text(text, origin))


def from_dict(robot: Mapping[str, Any], *, host: Host | None = None) -> Description:
    """A robot from a dict of the YAML schema (docs/yaml.md): links, joints, subsystems, ...

    >>> import espalier as esp
    >>> leg = esp.from_dict({
    ...     "name": "leg",
    ...     "links": {"trunk": {"mass": 5, "inertia": [0.1, 0.1, 0.1, 0, 0, 0]}},
    ...     "subsystems": {"hip": {
    ...         "type": "geared_joint", "connect": {"base": "trunk"},
    ...         "parameters": {"ratio": 6, "link_mass": 1, "link_com": [0, 0.1, 0],
    ...                        "rotor_mass": 0.1,
    ...                        "rotor_inertia": [3e-5, 3e-5, 6e-5, 0, 0, 0]}}},
    ... }).compile()
    >>> leg.nv
    1
    """
    expect_dict("from_dict", "robot", robot, "the YAML schema")
    # JSON is YAML.
    return read_text(json.dumps({"espalier": 1, **robot}, cls=PlainNumbers), "dict.yaml", host=host)


class Composer:
    """A robot put together from links and subsystems.

    >>> import espalier as esp
    >>> walker = esp.Composer("walker")
    >>> walker.link("trunk", mass=5, inertia=[0.02, 0.05, 0.06, 0, 0, 0])
    >>> for side, y in (("left", 0.1), ("right", -0.1)):
    ...     walker.add(side, "geared_joint", base=("trunk", [0, y, 0]), ratio=6,
    ...                link_mass=1, link_com=[0, 0, -0.1], rotor_mass=0.1,
    ...                rotor_inertia=[3e-5, 3e-5, 6e-5, 0, 0, 0])
    >>> walker.describe().compile(root="floating").nv
    8
    """

    def __init__(self, name: str, *, host: Host | None = None) -> None:
        self.host = default_host() if host is None else host
        self._robot: dict[str, Any] = {"name": name, "links": {}, "subsystems": {}}
        types = {e["name"] for e in self.host.entries("sub-mechanism")}
        self._types = types

    def link(self, name: str, **fields: Any) -> None:
        """A link: mass [kg], com [m], inertia [ixx, iyy, izz, ixy, ixz, iyz]."""
        self._put("link", "links", name, fields)

    def joint(self, name: str, **fields: Any) -> None:
        """A joint: type, parent, child, xyz, rpy, axis, limits, ..."""
        self._put("joint", "joints", name, fields)

    def define(self, name: str, definition: Mapping[str, Any]) -> None:
        """A type of subsystem to be used several times, as under "definitions" in YAML."""
        expect_dict(f"definition '{name}'", "definition", definition, "a part's keys")
        self._put("definition", "definitions", name, dict(definition))

    def add(self, name: str, type: str, **given: Any) -> None:
        """A subsystem of a registered or defined type; ports are (link, xyz, rpy) or a link.

        What is a text, or a tuple that begins with one, joins a port to a link
        (``base="trunk"``), all else is a parameter.
        """
        known = sorted(self._types | set(self._robot.get("definitions", {})))
        if type not in known:
            raise unknown(f"subsystem '{name}'", "type", type, known)
        connect: dict[str, Any] = {}
        parameters: dict[str, Any] = {}
        for key, value in given.items():
            if isinstance(value, str):
                connect[key] = value
            elif isinstance(value, tuple) and value and isinstance(value[0], str):
                if len(value) > 3:
                    raise TypeError(
                        f"subsystem '{name}': {key} has {len(value)} parts, expected a link, "
                        "its xyz and its rpy"
                    )
                frame: dict[str, Any] = {"to": value[0]}
                frame.update(zip(("xyz", "rpy"), value[1:]))
                connect[key] = frame
            else:
                parameters[key] = list(value) if isinstance(value, tuple) else value
        subsystem = {"type": type, "connect": connect, "parameters": parameters}
        self._put("subsystem", "subsystems", name, subsystem)

    def _put(self, kind: str, where: str, name: str, part: dict[str, Any]) -> None:
        """Adds a part; one of the same kind and name is not replaced."""
        parts = self._robot.setdefault(where, {})
        if name in parts:
            raise DuplicateName(f"{kind} '{name}' is there already, expected another name")
        parts[name] = part

    def describe(self) -> Description:
        """The robot's description."""
        return from_dict(self._robot, host=self.host)

    def compile(self, **options: str) -> Model:
        """The robot."""
        return self.describe().compile(**options)
