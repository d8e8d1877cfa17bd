"""What a sweep has done, kept on disk."""

from __future__ import annotations

import copyreg
import hashlib
import io
import os
import time
import warnings
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from .errors import InvalidModel, file_name, part_name


#: Of the time that a sweep takes, saving takes no more than one part in this many.
SHARE_OF_SAVING = 10


class Checkpoint:
    """Results on disk, written as a whole and put in place at once, so that none is half there."""

    def __init__(self, path: str | os.PathLike[str] | None, count: int, seed: int, calls: Any):
        self.path = None if path is None else Path(file_name("sweep", path))
        self.count, self.seed = count, seed
        self.calls = "" if path is None else _digest(calls)
        self._encoded: dict[int, bytes] = {}
        self._next = time.monotonic() + 2.0
        if self.path is not None:
            self._expect_place()

    def _expect_place(self) -> None:
        """Raises before anything is computed where nothing could be written in the end."""
        assert self.path is not None
        folder = self.path.parent
        if self.path.is_dir() or not folder.is_dir() or not os.access(folder, os.W_OK):
            raise InvalidModel(
                f"sweep: checkpoint is {self.path}, expected a file in a folder that can be written"
            )
        if self._is_hdf5():
            import h5py  # noqa: F401: an error here costs nothing yet

    def _is_hdf5(self) -> bool:
        return self.path is not None and self.path.suffix in (".h5", ".hdf5")

    def load(self) -> dict[int, Any]:
        """What an earlier sweep of the same has done."""
        if self.path is None or not self.path.exists():
            return {}
        try:
            found, calls, self._encoded = self._read()
            results = {k: _decode(x) for k, x in self._encoded.items()}
        except Exception as error:  # h5py, NumPy and zipfile have many
            raise InvalidModel(
                f"sweep: {self.path}: file is no checkpoint that can be read "
                f"({type(error).__name__}: {error}), expected one of an earlier sweep, or none"
            ) from None
        if found != (self.count, self.seed):
            raise InvalidModel(
                f"sweep: {self.path}: checkpoint is of {found[0]} items and seed {found[1]}, "
                f"expected {self.count} and {self.seed} (another sweep: remove it)"
            )
        if calls != self.calls:
            raise InvalidModel(
                f"sweep: {self.path}: checkpoint is of another function, or other parameters or "
                "states, expected these (another sweep: remove it, or take another file)"
            )
        return results

    def _read(self) -> tuple[tuple[int, int], str, dict[int, bytes]]:
        assert self.path is not None
        if self._is_hdf5():
            import h5py

            with h5py.File(self.path, "r") as file:
                found = (int(file.attrs["count"]), int(file.attrs["seed"]))
                calls = str(file.attrs.get("calls", ""))
                values = {k: bytes(file["results"][str(k)][()]) for k in map(int, file["results"])}
                return found, calls, values
        with np.load(self.path) as file:
            found = (int(file["count"]), int(file["seed"]))
            calls = str(file["calls"]) if "calls" in file else ""
            items, ends = file["items"], file["ends"]
            data = file["data"].tobytes()
            starts = np.concatenate([[0], ends[:-1]]) if len(ends) else []
            return found, calls, {int(k): data[a:b] for k, a, b in zip(items, starts, ends)}

    def add(self, items: Iterable[int], values: Iterable[Any]) -> None:
        """Takes results, and writes all of them from time to time.

        Raises InvalidModel for a result that could not be taken up again as it is.
        """
        if self.path is None:
            return
        self._encoded.update((k, _encode(f"sweep: result of item {k}", x))
                             for k, x in zip(items, values))
        if time.monotonic() >= self._next:
            self.save()

    def save(self) -> None:
        """Writes all results. A full disk costs the checkpoint, and a warning, not the sweep."""
        if self.path is None:
            return
        start = time.monotonic()
        part = Path(part_name(self.path))
        try:
            self._write(part)
            os.replace(part, self.path)
        except OSError as error:
            warnings.warn(
                f"sweep: {self.path}: checkpoint is not written ({error.strerror or error}), expected "
                "it to be (results so far are in memory alone)",
                stacklevel=2,
            )
        finally:
            part.unlink(missing_ok=True)
        now = time.monotonic()
        self._next = now + max(2.0, SHARE_OF_SAVING * (now - start))

    def _write(self, part: Path) -> None:
        if self._is_hdf5():
            import h5py

            with h5py.File(part, "w") as file:
                file.attrs["count"], file.attrs["seed"] = self.count, self.seed
                file.attrs["calls"] = self.calls
                group = file.create_group("results")
                for k, x in self._encoded.items():
                    group[str(k)] = np.void(x)
            return
        items = np.array(list(self._encoded), dtype=np.int64)
        ends = np.cumsum([len(x) for x in self._encoded.values()], dtype=np.int64)
        data = np.frombuffer(b"".join(self._encoded.values()), dtype=np.uint8)
        with open(part, "wb") as file:
            np.savez(file, count=self.count, seed=self.seed, calls=self.calls, items=items,
                     ends=ends, data=data)


def _digest(x: Any) -> str:
    """A fingerprint, the same in every process: of numbers, texts, arrays, robots and states, of
    functions (their code, defaults and what they enclose; not what they call), and of whatever can be
    pickled, by its parts.

    Raises InvalidModel for what has no parts that can be told, as open files.
    """
    found = hashlib.sha256()
    within: list[int] = []  # what `x` is a part of, for what holds itself

    def add(x: Any) -> None:
        kind = type(x)
        found.update(f"({kind.__module__}.{kind.__qualname__} ".encode())
        if isinstance(x, (bool, int, float, complex, str, bytes, type(None), type(Ellipsis))):
            found.update(repr(x).encode())
        elif isinstance(x, (np.ndarray, np.generic)) and x.dtype != object:
            found.update(f"{x.dtype.str} {x.shape} ".encode() + np.ascontiguousarray(x).tobytes())
        elif id(x) in within:
            found.update(f"{within.index(id(x))}".encode())
        else:
            within.append(id(x))
            add_parts(x)
            within.pop()
        found.update(b")")

    def add_parts(x: Any) -> None:
        if isinstance(x, (list, tuple)):
            for each in x:
                add(each)
        elif isinstance(x, np.ndarray):
            add(x.tolist())
        elif isinstance(x, (set, frozenset)):  # their order is another in every process
            add(sorted(map(_digest, x)))
        elif isinstance(x, Mapping):
            add(list(x.items()))
        elif isinstance(x, CodeType):
            add([x.co_code, x.co_consts, x.co_names])
        elif isinstance(x, (type, ModuleType)):
            found.update(f"{getattr(x, '__module__', '')}.{x.__name__}".encode())
        elif isinstance(x, FunctionType):
            enclosed = [cell.cell_contents for cell in x.__closure__ or ()]
            add([x.__module__, x.__qualname__, x.__code__, x.__defaults__, x.__kwdefaults__, enclosed])
        elif isinstance(x, MethodType):
            add([x.__self__, x.__func__])
        elif type(x).__module__.startswith("espalier."):
            add(list(x.__reduce__()[1]))
        else:
            add(_parts(x))

    add(x)
    return found.hexdigest()


def _parts(x: Any) -> list[Any]:
    """What pickle would make an object of."""
    try:
        reduce = copyreg.dispatch_table.get(type(x))
        made = reduce(x) if reduce else x.__reduce_ex__(2)
    except Exception as error:
        raise InvalidModel(
            f"sweep: {type(x).__name__} is among what is computed with a checkpoint, expected what "
            f"can be told from another ({error}; as plain functions and numbers, or no checkpoint)"
        ) from None
    if isinstance(made, str):  # a name in its module
        return [type(x).__module__, made]
    return [list(part) if isinstance(part, Iterator) else part for part in made]


# A result is an archive of arrays: "value" of a number or an array, "list" and "tuple" of these; of
# a dict "m:<name>", "l:<name>" and "t:<name>".


def _encode(who: str, x: Any) -> bytes:
    """A result as bytes without pickle, so that a checkpoint of others can be read safely."""
    out = io.BytesIO()
    if isinstance(x, Mapping):
        arrays = {}
        for name, value in x.items():
            if not isinstance(name, str):
                raise InvalidModel(f"{who}: name of a number is {name!r}, expected a text")
            kind = "l" if isinstance(value, list) else "t" if isinstance(value, tuple) else "m"
            arrays[f"{kind}:{name}"] = _array(f"{who}: '{name}'", value)
        np.savez(out, **arrays)
    else:
        kind = "list" if isinstance(x, list) else "tuple" if isinstance(x, tuple) else "value"
        np.savez(out, **{kind: _array(who, x)})
    return out.getvalue()


def _array(who: str, x: Any) -> Any:
    """A number, a text, an array or a list of numbers as an array."""
    array = None
    try:
        array = np.asarray(x)
    except ValueError:  # lists of several lengths
        pass
    if (
        array is None or array.dtype.hasobject or isinstance(x, np.ma.MaskedArray)
        or (isinstance(x, (list, tuple)) and not _same(array.tolist(), list(x)))
    ):
        text = " ".join(repr(x).split())
        raise InvalidModel(
            f"{who} is {text if len(text) < 80 else text[:77] + '...'}, expected a number of 64 bits, "
            "a text, an array, a list of numbers, or a dict of these (what a checkpoint keeps)"
        )
    return array


def _same(a: Any, b: Any) -> bool:
    """Whether b, as it was given, is the lists and numbers of a."""
    if isinstance(a, list):
        return isinstance(b, list) and len(a) == len(b) and all(map(_same, a, b))
    return not isinstance(b, (list, tuple, np.ndarray)) and (a == b or (a != a and b != b))


def _decode(data: bytes) -> Any:
    of_kind = {
        "m": plain, "l": lambda x: x.tolist(), "t": lambda x: tuple(x.tolist()),
    }
    with np.load(io.BytesIO(data)) as file:
        if len(file.files) == 1 and file.files[0] in ("value", "list", "tuple"):
            kind = file.files[0]
            return of_kind["m" if kind == "value" else kind[0]](file[kind])
        return {name[2:]: of_kind[name[0]](file[name]) for name in file.files}


def plain(x: Any) -> Any:
    """A number from an array of no dimensions, any other array as it is."""
    return x.item() if x.ndim == 0 else x
