"""Mechanisms of one's own, written in Python and run as a law of the kernel.

A class states one equation, or several, between the positions of joints. It is called once, with
expressions instead of numbers; what it computes is differentiated and becomes a list of operations
that C++ runs for doubles, for eight doubles and for sixteen floats at once. Python is not called
again.
"""

from __future__ import annotations

import heapq
import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from . import _core
from .errors import (
    InvalidModel, expect_dict, expect_name, expect_number, expect_whole, unknown,
)
from .expressions import NUMBER, PARAMETER, POSITION, RATE, Graph, Node, reachable, where
from .host import Host, default_host

__all__ = ["Mechanism", "mechanism", "registered", "trace", "traced_in", "where"]


class Mechanism:
    """Base of mechanisms; see `mechanism`. Parameters are attributes of the instance."""

    #: Of the law in robot files; left out: the class's name in snake case.
    name: str = ""
    #: Default of each parameter; None: it has to be given.
    parameters: Mapping[str, float | None] = {}
    #: Numbers of a working instance, where parameters have no default.
    sample: Mapping[str, float] = {}
    #: Number of joints of `phi`; or of independent ones of `gamma`.
    positions: int = 0
    independent: int = 0

    def phi(self, q: Any) -> Any:
        """Zero where the positions q are possible: one expression or a list of them."""
        raise NotImplementedError

    def gamma(self, y: Any) -> Any:
        """Dependent positions from the independent ones, instead of phi."""
        raise NotImplementedError


#: The laws of this process by name: what was traced, and what it is said to be.
_traced: dict[str, tuple[dict[str, Any], str]] = {}
#: Held while laws are registered, and while robots are compiled that use them.
_lock = threading.RLock()


def mechanism(cls: type, *, host: Host | None = None) -> type:
    """Registers a class as a law, under ``laws:`` of robot files; to be used as a decorator.

    The class has ``positions`` and ``phi(self, q)``, or ``independent`` and ``gamma(self, y)``,
    and ``parameters``. Defined again, it is replaced for files that are read afterwards; models, and
    descriptions that are taken from models or pickles, keep the law that they have.

    >>> import espalier as esp
    >>> import numpy as np
    >>> @esp.mechanism
    ... class ScrewKnee:  # a ball screw spans two points at a and b from the knee's axis
    ...     positions = 2  # of the motor and of the knee
    ...     parameters = {"a": None, "b": None, "length": None, "lead": 0.01}
    ...     sample = {"a": 0.05, "b": 0.22, "length": 0.19767}
    ...     def phi(self, q):
    ...         screw = self.lead / (2 * np.pi) * q[0] + self.length
    ...         return self.a**2 + self.b**2 - 2 * self.a * self.b * np.cos(q[1]) - screw**2
    >>> ScrewKnee.name
    'screw_knee'
    """
    host = default_host() if host is None else host
    traced = trace(cls)
    summary = ((cls.__doc__ or "").strip().splitlines() or [""])[0]
    with _lock:
        _core.register_law(host, traced, summary)
        _check(cls, traced, host)
        _traced[traced["name"]] = traced, summary
    cls.name = traced["name"]  # type: ignore[attr-defined]
    return cls


def traced_in(description: Any) -> list[dict[str, Any]]:
    """The traced laws that a description uses, as this process has them."""
    used = {law.type for law in description.laws.values()} & _traced.keys()
    if used:  # a plugin of the host may have a law of the same name
        used -= {e["name"] for e in description.host.entries("law") if e["origin"] != "Python"}
    return [_traced[name][0] for name in sorted(used)]


@contextmanager
def registered(laws: Sequence[dict[str, Any]], host: Host) -> Iterator[None]:
    """Has a host know these laws by their names, also where a class was defined anew since.

    Afterwards it knows again what this process has by these names.
    """
    if not laws:
        yield
        return
    with _lock:
        known = {law["name"]: _traced.get(law["name"]) for law in laws}
        others = [law for law in laws if (known[law["name"]] or (None,))[0] != law]
        for law in others:
            _core.register_law(host, law, "")
        try:
            yield
        finally:
            for law in others:
                own = known[law["name"]]
                if own is None:
                    _traced[law["name"]] = law, ""
                else:
                    _core.register_law(host, *own)


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def _instance(cls: type, values: Mapping[str, Any]) -> Any:
    """An instance without __init__, with the parameters as attributes."""
    out: Any = object.__new__(cls)
    for key, value in values.items():
        setattr(out, key, value)
    return out


def _list(x: Any) -> list[Any]:
    if isinstance(x, np.ndarray):
        return list(x.ravel())
    if isinstance(x, Sequence) and not isinstance(x, (str, bytes)):
        return [item for part in x for item in _list(part)]
    return [x]


def _equations(who: str, law: str, graph: Graph, instance: Any, argument: Any) -> list[Node]:
    """What phi or gamma computes of an array of expressions."""
    function = getattr(instance, law, None)
    if not callable(function):
        raise TypeError(f"{who}: {law} is {function!r}, expected a method")
    found = _list(function(argument))
    for x in found:
        if x is None or isinstance(x, (str, bytes, dict, set)):
            raise TypeError(f"{who}: an equation of {law} is {x!r}, expected an expression")
    return [graph.lift(x) for x in found]


#: Of a mechanism; beyond, its matrices take the memory.
MOST_POSITIONS = 10_000


def trace(cls: type) -> dict[str, Any]:
    """What `_core.register_law` takes: the lists of operations of a class."""
    who = f"mechanism '{cls.__name__}'"
    parameters: Mapping[str, float | None] = getattr(cls, "parameters", {})
    independent, positions = (
        expect_whole(who, key, getattr(cls, key, 0), 0, MOST_POSITIONS)
        for key in ("independent", "positions")
    )
    expect_dict(who, "parameters", parameters, "numbers by name")
    for key, value in parameters.items():
        expect_name(who, "parameter", key)
        if value is not None:
            expect_number(who, f"parameter '{key}'", value)
    name = getattr(cls, "name", "") or _snake(cls.__name__)
    if (independent > 0) == (positions > 0):
        raise InvalidModel(
            f"{who}: positions and independent are {positions} and {independent}, expected one of "
            "them above zero (positions with phi, independent with gamma)"
        )
    taken = [key for key in parameters if hasattr(cls, key)]
    if taken:
        raise InvalidModel(
            f"{who}: parameter '{taken[0]}' is an attribute of the class, expected another name"
        )
    graph = Graph()
    symbols = {key: graph.leaf("parameter", k, PARAMETER) for k, key in enumerate(parameters)}
    instance = _instance(cls, symbols)

    def leaves(kind: str, count: int, level: int) -> list[Node]:
        return [graph.leaf(kind, k, level) for k in range(count)]

    def array(nodes: list[Node]) -> Any:
        out: Any = np.empty(len(nodes), dtype=object)
        out[:] = nodes
        return out

    if independent:
        y = leaves("position", independent, POSITION)
        gamma = _equations(who, "gamma", graph, instance, array(y))
        positions = independent + len(gamma)
        q = leaves("position", positions, POSITION)
        phi = [graph.subtract(q[independent + i], x) for i, x in enumerate(gamma)]
    else:
        q = leaves("position", positions, POSITION)
        phi = _equations(who, "phi", graph, instance, array(q))
        gamma = []
    if not phi or len(phi) >= positions:
        raise InvalidModel(
            f"{who}: number of equations is {len(phi)}, expected 1 to {positions - 1} between "
            f"{positions} positions"
        )
    qd = leaves("rate", positions, RATE)
    one, zero = graph.number(1.0), graph.number(0.0)
    columns = [
        graph.derivative(phi, {x: one if x is q[j] else zero for x in q}) for j in range(positions)
    ]
    K = [columns[j][i] for i in range(len(phi)) for j in range(positions)]
    for i in range(len(phi)):
        if all(x is zero for x in K[i * positions : (i + 1) * positions]):
            raise InvalidModel(
                f"{who}: equation {i} depends on no position, expected one between joints"
            )
    motion = dict(zip(q, qd))
    Kqd = graph.derivative(phi, motion)
    # K qd along the motion, its rates held: (dK/dt) qd. Leaves that do not move have rate zero.
    k = [graph.negate(x) for x in graph.derivative(Kqd, motion)]

    # What K has computed of the positions already and k needs: handed over as terms.
    in_K = {n for n in reachable(K) if n.level == POSITION and n.arguments}
    shared = [n for n in reachable(k, stop=in_K.__contains__) if n in in_K]
    constants: dict[Node, int] = {}
    tapes = {
        "phi": _tape(phi, q, constants),
        "jacobian": _tape([*K, *shared], q, constants),
        "bias": _tape(k, [*q, *qd, *shared], constants),
        "solution": _tape(gamma, q[:independent], constants),
    }
    literals: dict[Node, int] = {}
    setup = _tape(list(constants), list(symbols.values()), literals, setup=True)
    sample = dict(getattr(cls, "sample", {}))
    for key in sample:
        if key not in parameters:
            raise unknown(who, "sample", key, list(parameters))
    return {
        "name": name,
        "positions": positions,
        "equations": len(phi),
        "is_explicit": independent > 0,
        "parameters": list(parameters),
        "defaults": [[] if v is None else [float(v)] for v in parameters.values()],
        "sample": [
            float(sample.get(key, 1.0 if v is None else v)) for key, v in parameters.items()
        ],
        "literals": [node.value for node in literals],
        "setup": setup,
        "terms": len(shared),
        **tapes,
    }


def _tape(
    outputs: list[Node], inputs: list[Node], constants: dict[Node, int], setup: bool = False
) -> dict[str, Any]:
    """A list of operations on registers; constants get their numbers on the way."""
    given = set(inputs)

    def is_constant(n: Node) -> bool:
        return n.level == NUMBER if setup else n.level <= PARAMETER

    def is_leaf(n: Node) -> bool:
        return n in given or is_constant(n)

    order = reachable(outputs, stop=is_leaf)
    work = [n for n in order if not is_leaf(n)]
    last: dict[Node, int] = {}
    for step, node in enumerate(work):
        for a in node.arguments:
            last[a] = step
    for node in outputs:
        last[node] = len(work)

    # Sine and cosine of one angle are one operation, at the place of the first.
    both: dict[Node, Node] = {}
    by_angle: dict[Node, Node] = {}
    for node in work:
        if node.operation in ("sine", "cosine"):
            angle = node.arguments[0]
            if angle in by_angle and by_angle[angle].operation != node.operation:
                both[by_angle[angle]] = node
            else:
                by_angle[angle] = node

    register: dict[Node, int] = {node: k for k, node in enumerate(inputs)}
    count = len(inputs)
    free: list[int] = []
    loads = []
    for node in order:
        if is_constant(node) and node not in given:
            register[node] = count
            loads.append((constants.setdefault(node, len(constants)), count))
            count += 1

    def take() -> int:
        nonlocal count
        if free:
            return heapq.heappop(free)
        count += 1
        return count - 1

    for node in inputs:
        if node not in last:  # nobody reads it
            heapq.heappush(free, register[node])
    instructions: list[tuple[Any, ...]] = []
    for step, node in enumerate(work):
        if node in register:  # the second of sine and cosine
            _release(node.arguments, step, last, register, free)
            continue
        read = [register[x] for x in node.arguments]
        if node in both:
            register[node], register[both[node]] = take(), take()
            first, second = node, both[node]
            if node.operation == "cosine":
                first, second = second, first
            instructions.append(("sine_cosine", register[first], read[0], register[second], 0, 0))
            _release(node.arguments, step, last, register, free)
            continue
        _release(node.arguments, step, last, register, free)
        register[node] = take()
        read += [0] * (4 - len(read))
        instructions.append((node.operation, register[node], *read))
    return {
        "inputs": len(inputs),
        "registers": max(count, 1),
        "constants": loads,
        "instructions": instructions,
        "outputs": [register[node] for node in outputs],
    }


def _release(
    arguments: Sequence[Node], step: int, last: dict[Node, int], register: dict[Node, int],
    free: list[int],
) -> None:
    for node in dict.fromkeys(arguments):
        if last[node] == step:
            heapq.heappush(free, register[node])


def _check(cls: type, traced: Mapping[str, Any], host: Host) -> None:
    """The law computes what the class computes in floats, or the class is refused."""
    values = dict(zip(traced["parameters"], traced["sample"]))
    instance = _instance(cls, values)
    independent = int(getattr(cls, "independent", 0))
    random = np.random.default_rng(1)
    for _ in range(4):
        q = random.uniform(-1.0, 1.0, traced["positions"])
        qd = random.uniform(-1.0, 1.0, traced["positions"])
        phi = np.array(_core.evaluate_law(host, traced["name"], values, q, qd)[0])
        with np.errstate(all="ignore"):
            if independent:
                own = q[independent:] - np.array(_list(instance.gamma(q[:independent])), dtype=float)
            else:
                own = np.array(_list(instance.phi(q)), dtype=float)
        scale = max(1.0, float(np.max(np.abs(own), initial=0.0, where=np.isfinite(own))))
        if not np.allclose(phi, own, rtol=0, atol=1e-9 * scale, equal_nan=True):
            raise InvalidModel(
                f"mechanism '{cls.__name__}': traced law is {phi} at {q}, expected {own} as the "
                "class computes it in floats (it does not compute the same from expressions)"
            )
