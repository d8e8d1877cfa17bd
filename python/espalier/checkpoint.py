"""What a sweep has done, kept on disk."""

from __future__ import annotations

import hashlib
import io
import os
import time
from collections.abc import Mapping
from dataclasses import is_dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .errors import InvalidModel


class Checkpoint:
    """Results on disk, written as a whole and put in place at once, so that none is half there."""

    def __init__(self, path: str | os.PathLike[str] | None, count: int, seed: int, calls: Any):
        self.path = None if path is None else Path(path)
        self.count, self.seed = count, seed
        self.calls = "" if path is None else _digest(calls)
        self._last = time.monotonic()

    def load(self) -> dict[int, Any]:
        if self.path is None or not self.path.exists():
            return {}
        if self.path.suffix in (".h5", ".hdf5"):
            import h5py

            with h5py.File(self.path, "r") as file:
                found = (int(file.attrs["count"]), int(file.attrs["seed"]))
                calls = str(file.attrs.get("calls", ""))
                values = {k: bytes(file["results"][str(k)][()]) for k in map(int, file["results"])}
        else:
            with np.load(self.path) as file:
                found = (int(file["count"]), int(file["seed"]))
                calls = str(file["calls"]) if "calls" in file else ""
                items, ends = file["items"], file["ends"]
                data = file["data"].tobytes()
                starts = np.concatenate([[0], ends[:-1]]) if len(ends) else []
                values = {int(k): data[a:b] for k, a, b in zip(items, starts, ends)}
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
        return {k: _decode(x) for k, x in values.items()}

    def save(self, results: Mapping[int, Any], force: bool = False) -> None:
        if self.path is None or not (force or time.monotonic() - self._last > 2.0):
            return
        self._last = time.monotonic()
        encoded = {k: _encode(x) for k, x in results.items()}
        part = self.path.with_name(self.path.name + ".part")
        if self.path.suffix in (".h5", ".hdf5"):
            import h5py

            with h5py.File(part, "w") as file:
                file.attrs["count"], file.attrs["seed"] = self.count, self.seed
                file.attrs["calls"] = self.calls
                group = file.create_group("results")
                for k, x in encoded.items():
                    group[str(k)] = np.void(x)
        else:
            items = np.array(list(encoded), dtype=np.int64)
            ends = np.cumsum([len(x) for x in encoded.values()], dtype=np.int64)
            data = np.frombuffer(b"".join(encoded.values()), dtype=np.uint8)
            with open(part, "wb") as file:
                np.savez(file, count=self.count, seed=self.seed, calls=self.calls, items=items,
                         ends=ends, data=data)
        os.replace(part, self.path)


def _digest(x: Any) -> str:
    """A fingerprint, the same in every process: of numbers, texts, arrays, robots and states,
    functions by name, and what is made of these; of other objects, of their types alone."""
    found = hashlib.sha256()

    def add(x: Any) -> None:
        kind = type(x)
        found.update(f"({kind.__module__}.{kind.__qualname__} ".encode())
        if isinstance(x, (bool, int, float, complex, str, bytes, type(None))):
            found.update(repr(x).encode())
        elif isinstance(x, (np.ndarray, np.generic)) and x.dtype != object:
            found.update(f"{x.dtype.str} {x.shape} ".encode() + np.ascontiguousarray(x).tobytes())
        elif isinstance(x, (list, tuple, np.ndarray)):
            for each in x:
                add(each)
        elif isinstance(x, Mapping):
            add(list(x.items()))
        elif kind.__module__.startswith("espalier."):
            add(list(x.__reduce__()[1]))
        elif is_dataclass(x):
            add(vars(x))
        elif callable(x):
            found.update(f"{x.__module__}.{getattr(x, '__qualname__', '')}".encode())
        found.update(b")")

    add(x)
    return found.hexdigest()


def _encode(x: Any) -> bytes:
    """A result as bytes without pickle, so that a checkpoint of others can be read safely."""
    out = io.BytesIO()
    if isinstance(x, Mapping):
        np.savez(out, **{f"m:{name}": np.asarray(value) for name, value in x.items()})
    else:
        np.savez(out, value=np.asarray(x))
    return out.getvalue()


def _decode(data: bytes) -> Any:
    with np.load(io.BytesIO(data)) as file:
        if file.files == ["value"]:
            return plain(file["value"])
        return {name[2:]: plain(file[name]) for name in file.files}


def plain(x: Any) -> Any:
    """A number from an array of no dimensions, any other array as it is."""
    return x.item() if x.ndim == 0 else x
