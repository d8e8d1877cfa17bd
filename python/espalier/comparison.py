"""All algorithms for a problem on the same random states."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _core
from .errors import expect_number, expect_seed, expect_whole

if TYPE_CHECKING:
    from .model import Model


@dataclass
class Comparison:
    """What Model.compare found: largest relative difference by algorithm, nan where a result is no
    number."""

    problem: str
    reference: str
    differences: dict[str, float]
    refused: dict[str, str]
    approximate: list[str]
    tolerance: float

    @property
    def agree(self) -> bool:
        """Whether all exact algorithms agree."""
        return all(
            d <= self.tolerance
            for name, d in self.differences.items()
            if name not in self.approximate
        )

    def __bool__(self) -> bool:
        return self.agree

    def __repr__(self) -> str:
        lines = [f"{self.problem}: {'exact algorithms agree' if self.agree else 'DISAGREE'}"]
        for name, d in self.differences.items():
            note = "reference" if name == self.reference else ""
            note = "approximate" if name in self.approximate else note
            note = "FAILED: a result is no number" if np.isnan(d) else note
            lines.append(f"  {name:<24} {d:.2e} {note}")
        lines += [f"  {name} cannot: {why}" for name, why in self.refused.items()]
        return "\n".join(lines)


def _largest(differences: Iterable[float]) -> float:
    """The largest, or nan if one is: max() passes it over unless it comes first."""
    return float(np.max(list(differences), initial=0.0))


def _difference(a: Any, b: Any) -> float:
    if isinstance(b, Mapping):
        if not isinstance(a, Mapping) or list(a) != list(b):
            return float("inf")
        return _largest(_difference(a[key], b[key]) for key in b)
    a, b = np.asarray(a), np.asarray(b)
    if a.shape != b.shape:
        return float("inf")
    if not (np.all(np.isfinite(a)) and np.all(np.isfinite(b))):
        return float("nan")
    return float(np.max(np.abs(a - b), initial=0.0) / max(1.0, np.max(np.abs(b), initial=0.0)))


def compare(
    model: Model, problem: str, samples: int, seed: int, tolerance: float, setup: dict[str, Any]
) -> Comparison:
    """See Model.compare."""
    samples = expect_whole(f"compare '{model.name}'", "samples", samples, 1)
    seed = expect_seed(f"compare '{model.name}'", seed, samples)
    tolerance = expect_number(f"compare '{model.name}'", "tolerance", tolerance)
    problem = model._problem(problem)
    entries = model.host.algorithms(problem, model._core)
    refused = {a["name"]: a["obstacle"] for a in entries if not a["can"]}
    can = [a for a in entries if a["can"]]
    can.sort(key=lambda a: (a["name"] != "dense", not a["exact"]))
    if not can:
        model._preferred(problem)  # raises, with the reasons
    answers: dict[str, list[Any]] = {}
    for a in can:
        bound = model.algorithm(a["name"], problem, **setup)
        wanted = bound.arguments
        answers[a["name"]] = []
        for k in range(samples):
            numbers = iter(np.split(_core.uniform(seed + k, 3 * model.nv), 3))
            roles = {"q": model._core.random(seed + k)}
            roles.update((role, next(numbers)) for role in ("v", "tau", "vdot"))
            answers[a["name"]].append(bound(*(roles[name] for name in wanted)))
    reference = can[0]["name"]
    return Comparison(
        problem,
        reference,
        {
            name: _largest(map(_difference, given, answers[reference]))
            for name, given in answers.items()
        },
        refused,
        [a["name"] for a in can if not a["exact"]],
        tolerance,
    )
