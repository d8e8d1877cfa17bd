"""Expressions that remember how they were computed, and their derivatives."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Union

import numpy as np

from .errors import Unsupported

#: On what a node depends: nothing, parameters, positions, rates.
NUMBER, PARAMETER, POSITION, RATE = range(4)

_SPOKEN = "laws made of + - * / sqrt sin cos arctan2 abs and where"


class Node:
    """One value of a graph; the same operation on the same values is one node."""

    __slots__ = ("graph", "index", "operation", "arguments", "value", "level")

    def __init__(
        self, graph: Graph, operation: str, arguments: tuple[Node, ...], value: Any, level: int
    ):
        self.graph, self.operation, self.arguments = graph, operation, arguments
        self.value, self.level = value, level
        self.index = len(graph.nodes)  # arguments have smaller ones
        graph.nodes.append(self)

    # Arithmetic. What is no number and no node is refused by Python itself.

    def __add__(self, other: Any) -> Any:
        return _apply(self.graph.add, self, other)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return _apply(self.graph.subtract, self, other)

    def __rsub__(self, other: Any) -> Any:
        return _apply(lambda a, b: self.graph.subtract(b, a), self, other)

    def __mul__(self, other: Any) -> Any:
        return _apply(self.graph.multiply, self, other)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        return _apply(self.graph.divide, self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return _apply(lambda a, b: self.graph.divide(b, a), self, other)

    def __neg__(self) -> Node:
        return self.graph.negate(self)

    def __pos__(self) -> Node:
        return self

    def __abs__(self) -> Node:
        return self.graph.absolute(self)

    def __pow__(self, power: Any) -> Node:
        if not isinstance(power, numbers.Real) or not float(2 * float(power)).is_integer():
            raise Unsupported(
                f"traced expression: power is {power}, expected a whole or half number "
                f"({_SPOKEN})"
            )
        whole, half = divmod(int(2 * abs(float(power))), 2)
        out = self.graph.number(1.0)
        square = self
        while whole:
            if whole & 1:
                out = self.graph.multiply(out, square)
            whole >>= 1
            if whole:
                square = self.graph.multiply(square, square)
        if half:
            out = self.graph.multiply(out, self.graph.square_root(self))
        return out if float(power) >= 0 else self.graph.divide(self.graph.number(1.0), out)

    def __rpow__(self, base: Any) -> Node:
        raise Unsupported(f"traced expression: operation is {base!r} ** q, expected {_SPOKEN}")

    def __mod__(self, other: Any) -> Node:
        raise Unsupported(f"traced expression: operation is %, expected {_SPOKEN}")

    __rmod__ = __mod__

    def __floordiv__(self, other: Any) -> Node:
        raise Unsupported(f"traced expression: operation is //, expected {_SPOKEN}")

    __rfloordiv__ = __floordiv__

    def __lt__(self, other: Any) -> Condition:
        return Condition(self, self.graph.lift(other))

    def __gt__(self, other: Any) -> Condition:
        return Condition(self.graph.lift(other), self)

    def __le__(self, other: Any) -> Condition:
        return Condition(self, self.graph.lift(other))

    def __ge__(self, other: Any) -> Condition:
        return Condition(self.graph.lift(other), self)

    def __eq__(self, other: object) -> bool:  # as `if`, `in` and `!=` ask
        self.__float__()
        return False

    __hash__ = object.__hash__

    def __float__(self) -> float:
        raise TypeError(
            "traced expression: a number is wanted of what is only known at run time, expected "
            "NumPy's functions (np.sin, not math.sin) and espalier.where instead of if"
        )

    __int__ = __index__ = __float__

    def __bool__(self) -> bool:
        self.__float__()
        return False

    # NumPy calls methods of these names on the elements of object arrays.

    def sin(self) -> Node:
        return self.graph.sine(self)

    def cos(self) -> Node:
        return self.graph.cosine(self)

    def tan(self) -> Node:
        return self.sin() / self.cos()

    def sqrt(self) -> Node:
        return self.graph.square_root(self)

    def square(self) -> Node:
        return self * self

    def arctan2(self, x: Any) -> Node:
        return self.graph.arc_tangent(self, self.graph.lift(x))

    def arctan(self) -> Node:
        return self.arctan2(1.0)

    def arcsin(self) -> Node:
        return self.arctan2(((1.0 - self) * (1.0 + self)).sqrt())

    def arccos(self) -> Node:
        return self.graph.arc_tangent(((1.0 - self) * (1.0 + self)).sqrt(), self)

    def hypot(self, y: Any) -> Node:
        return (self * self + y * y).sqrt()

    def fabs(self) -> Node:
        return abs(self)

    def conjugate(self) -> Node:
        return self

    def radians(self) -> Node:
        return self * (np.pi / 180)

    deg2rad = radians

    def degrees(self) -> Node:
        return self * (180 / np.pi)

    rad2deg = degrees

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if method != "__call__" or kwargs:
            return NotImplemented
        function = _UFUNCS.get(ufunc.__name__)
        if function is None:
            raise Unsupported(
                f"traced expression: function is np.{ufunc.__name__}, expected one of "
                + ", ".join(f"np.{name}" for name in _UFUNCS)
            )
        if any(isinstance(x, np.ndarray) for x in inputs):
            return np.frompyfunc(function, len(inputs), 1)(
                *(np.asarray(x, dtype=object) for x in inputs)
            )
        # Numbers of NumPy would ask the node's ufunc once more.
        return function(*(x.item() if isinstance(x, np.generic) else x for x in inputs))

    def __repr__(self) -> str:
        if self.operation == "number":
            return f"{self.value:g}"
        if not self.arguments:
            return f"{self.operation}[{self.value}]"
        return f"{self.operation}({', '.join(map(repr, self.arguments))})"


class Condition:
    """a < b, for `where`."""

    def __init__(self, a: Node, b: Node):
        self.a, self.b = a, b

    def __bool__(self) -> bool:
        raise TypeError(
            "traced expression: a branch depends on what is only known at run time, expected "
            "espalier.where(a < b, x, y) instead of if, min, max or np.where"
        )


Value = Union[Node, float]


def _apply(function: Callable[[Node, Node], Node], a: Node, other: Any) -> Any:
    if isinstance(other, np.ndarray):
        return NotImplemented  # the array goes through its elements
    if not isinstance(other, (Node, numbers.Real)):
        return NotImplemented
    return function(a, a.graph.lift(other))


def where(condition: Any, x: Any, y: Any) -> Any:
    """x where the condition holds, else y: what a traced law writes instead of `if`.

    Both are computed, so neither may divide by zero.
    """
    if not isinstance(condition, Condition):
        return np.where(condition, x, y)[()]
    graph = condition.a.graph
    return graph.select_less(condition.a, condition.b, graph.lift(x), graph.lift(y))


def _minimum(a: Any, b: Any) -> Any:
    return where(a < b, a, b)


def _maximum(a: Any, b: Any) -> Any:
    return where(a < b, b, a)


def _method(name: str) -> Callable[..., Any]:
    def call(*inputs: Any) -> Any:
        graph = next(x.graph for x in inputs if isinstance(x, Node))
        first, *others = (graph.lift(x) for x in inputs)
        return getattr(first, name)(*others)

    return call


_UFUNCS: dict[str, Callable[..., Any]] = {
    **{name: _method(name) for name in (
        "sin", "cos", "tan", "sqrt", "square", "arctan2", "arctan", "arcsin", "arccos", "hypot",
        "fabs", "radians", "deg2rad", "degrees", "rad2deg",
    )},
    "absolute": abs, "negative": lambda a: -a, "positive": lambda a: a,
    "add": lambda a, b: a + b, "subtract": lambda a, b: a - b, "multiply": lambda a, b: a * b,
    "divide": lambda a, b: a / b, "power": lambda a, b: a**b,
    "minimum": _minimum, "maximum": _maximum,
    "less": lambda a, b: a < b, "greater": lambda a, b: a > b,
    "less_equal": lambda a, b: a <= b, "greater_equal": lambda a, b: a >= b,
}


class Graph:
    """All nodes of one law."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self._known: dict[Any, Node] = {}

    def _make(self, operation: str, *arguments: Node, value: Any = None, level: int = 0) -> Node:
        key = (operation, tuple(a.index for a in arguments), value)
        node = self._known.get(key)
        if node is None:
            level = max([level, *(a.level for a in arguments)])
            node = self._known[key] = Node(self, operation, arguments, value, level)
        return node

    def number(self, value: float) -> Node:
        """A number."""
        return self._make("number", value=float(value), level=NUMBER)

    def leaf(self, kind: str, index: int, level: int) -> Node:
        """An input."""
        return self._make(kind, value=index, level=level)

    def lift(self, value: Any) -> Node:
        """A node from a node or a number."""
        if isinstance(value, np.ndarray) and value.ndim == 0:
            value = value[()]
        if isinstance(value, Node):
            if value.graph is not self:
                raise Unsupported(
                    "traced expression: a value is of another trace, expected those of this one"
                )
            return value
        return self.number(float(value))

    # Operations; those on numbers alone are carried out.

    def add(self, a: Node, b: Node) -> Node:
        if _both(a, b):
            return self.number(a.value + b.value)
        if _is(a, 0):
            return b
        if _is(b, 0):
            return a
        if b.operation == "negate":
            return self.subtract(a, b.arguments[0])
        if a.operation == "negate":
            return self.subtract(b, a.arguments[0])
        return self._make("add", *sorted((a, b), key=lambda x: x.index))

    def subtract(self, a: Node, b: Node) -> Node:
        if _both(a, b):
            return self.number(a.value - b.value)
        if _is(b, 0):
            return a
        if _is(a, 0):
            return self.negate(b)
        if a is b:
            return self.number(0.0)
        if b.operation == "negate":
            return self.add(a, b.arguments[0])
        return self._make("subtract", a, b)

    def multiply(self, a: Node, b: Node) -> Node:
        if _both(a, b):
            return self.number(a.value * b.value)
        for x, y in ((a, b), (b, a)):
            if _is(x, 0):
                return x
            if _is(x, 1):
                return y
            if _is(x, -1):
                return self.negate(y)
            if x.operation == "negate":
                return self.negate(self.multiply(x.arguments[0], y))
        return self._make("multiply", *sorted((a, b), key=lambda x: x.index))

    def divide(self, a: Node, b: Node) -> Node:
        if _both(a, b) and b.value != 0:
            return self.number(a.value / b.value)
        if _is(b, 0):
            raise Unsupported("traced expression: divisor is 0, expected another number")
        if _is(a, 0) or _is(b, 1):
            return a
        if a.operation == "negate":
            return self.negate(self.divide(a.arguments[0], b))
        return self._make("divide", a, b)

    def negate(self, a: Node) -> Node:
        if a.operation == "number":
            return self.number(-a.value)
        if a.operation == "negate":
            return a.arguments[0]
        if a.operation == "subtract":
            return self.subtract(a.arguments[1], a.arguments[0])
        return self._make("negate", a)

    def sine(self, a: Node) -> Node:
        return self.number(np.sin(a.value)) if _both(a) else self._make("sine", a)

    def cosine(self, a: Node) -> Node:
        return self.number(np.cos(a.value)) if _both(a) else self._make("cosine", a)

    def square_root(self, a: Node) -> Node:
        if _both(a) and a.value >= 0:
            return self.number(np.sqrt(a.value))
        return self._make("square_root", a)

    def arc_tangent(self, y: Node, x: Node) -> Node:
        if _both(y, x):
            return self.number(np.arctan2(y.value, x.value))
        return self._make("arc_tangent", y, x)

    def absolute(self, a: Node) -> Node:
        return self.number(abs(a.value)) if _both(a) else self._make("absolute", a)

    def select_less(self, a: Node, b: Node, x: Node, y: Node) -> Node:
        if _both(a, b):
            return x if a.value < b.value else y
        if x is y:
            return x
        return self._make("select_less", a, b, x, y)

    def derivative(self, of: Sequence[Node], along: dict[Node, Node]) -> list[Node]:
        """Of nodes, where the leaves move with the given rates. Source: the chain rule, forwards."""
        zero = self.number(0.0)
        rates: dict[Node, Node] = {}
        for node in reachable(of):
            if node in along:
                rates[node] = along[node]
                continue
            d = [rates[a] for a in node.arguments]
            if not any(x is not zero for x in d):
                rates[node] = zero
                continue
            rates[node] = self._rate(node, node.arguments, d)
        return [rates[node] for node in of]

    def _rate(self, node: Node, a: tuple[Node, ...], d: list[Node]) -> Node:
        operation = node.operation
        if operation == "add":
            return self.add(d[0], d[1])
        if operation == "subtract":
            return self.subtract(d[0], d[1])
        if operation == "multiply":
            return self.add(self.multiply(d[0], a[1]), self.multiply(a[0], d[1]))
        if operation == "divide":
            return self.divide(self.subtract(d[0], self.multiply(node, d[1])), a[1])
        if operation == "negate":
            return self.negate(d[0])
        if operation == "sine":
            return self.multiply(self.cosine(a[0]), d[0])
        if operation == "cosine":
            return self.negate(self.multiply(self.sine(a[0]), d[0]))
        if operation == "square_root":
            return self.divide(d[0], self.multiply(self.number(2.0), node))
        if operation == "arc_tangent":
            y, x = a
            r2 = self.add(self.multiply(x, x), self.multiply(y, y))
            return self.divide(
                self.subtract(self.multiply(x, d[0]), self.multiply(y, d[1])), r2
            )
        if operation == "absolute":
            return self.select_less(a[0], self.number(0.0), self.negate(d[0]), d[0])
        if operation == "select_less":
            return self.select_less(a[0], a[1], d[2], d[3])
        raise AssertionError(operation)


def _both(*nodes: Node) -> bool:
    return all(node.operation == "number" for node in nodes)


def _is(node: Node, value: float) -> bool:
    return node.operation == "number" and node.value == value


def reachable(outputs: Iterable[Node], stop: Callable[[Node], bool] | None = None) -> list[Node]:
    """All that outputs are computed from, arguments first; `stop` says which are leaves."""
    seen: set[Node] = set()
    stack = list(outputs)
    while stack:
        node = stack.pop()
        if node in seen:
            continue
        seen.add(node)
        if stop is None or not stop(node):
            stack.extend(node.arguments)
    return sorted(seen, key=lambda node: node.index)
