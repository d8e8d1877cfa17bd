"""What an algorithm with several results gives, and numbers as text."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from .errors import unknown


class PlainNumbers(json.JSONEncoder):
    """JSON with NumPy's numbers and arrays as plain ones."""

    def default(self, o: Any) -> Any:
        if isinstance(o, np.ndarray):
            return o.tolist()
        if isinstance(o, np.generic):
            return o.item()
        return super().default(o)


class Results(dict[str, Any]):
    """Results by name: ``r["kinetic_energy"]`` or ``r.kinetic_energy``; unpacks in order."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if name in self:
            return self[name]
        raise AttributeError(str(unknown("results", "name", name, list(self))))

    def __missing__(self, name: str) -> Any:
        raise unknown("results", "name", name, list(self))

    def __iter__(self):  # type: ignore[no-untyped-def]
        return iter(self.keys())

    def unpack(self) -> tuple[Any, ...]:
        """All of them, in order: ``kinetic, potential = robot.energy(q, v).unpack()``."""
        return tuple(self.values())

    def __repr__(self) -> str:
        lines = []
        for name, value in self.items():
            shape = getattr(value, "shape", None)
            lines.append(f"  {name}: {value if not shape else f'array {shape}'}")
        return "Results(\n" + "\n".join(lines) + ")"
