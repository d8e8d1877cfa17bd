#!/usr/bin/env python3
"""The stub of _core, from the module itself: stub.py > python/espalier/_core.pyi

Signatures are those that pybind11 writes into docstrings, with Python's names for C++ types.
"""

import inspect
import re

import espalier

TYPES = [
    (r"numpy\.ndarray(\[[^\]]*\])?", "np.ndarray[Any, np.dtype[Any]]"),
    (r"espalier\.\w+\._core\.|espalier\._core\.", ""),
    (r"handle|object", "Any"),
    (r"\bList\[", "list["), (r"\bDict\[", "dict["), (r"\bTuple\[", "tuple["),
    (r"Annotated\[list\[float\], FixedSize\(3\)\]", "Sequence[float]"),
]


def python_type(text):
    for pattern, name in TYPES:
        text = re.sub(pattern, name, text)
    text = re.sub(r"list\[float\[3\]\[3\]\]|list\[list\[float\[3\]\]\[3\]\]|list\[list\[float\]\[3\]\[3\]\]", "Any", text)
    text = re.sub(r"list\[float\[\d+\]\]", "Any", text)
    text = re.sub(r"[\w\[\]]*std::\S*|espalier::\S*", "Any", text)
    text = re.sub(r"Optional\[(.*)\]", r"\1 | None", text)
    bare = {"list": "list[Any]", "dict": "dict[str, Any]", "tuple": "tuple[Any, ...]"}
    return bare.get(text, text)


def signature(document, name, method):
    """`(self, q: Any) -> float`, from the first line of a docstring."""
    first = (document or "").splitlines()[:1]
    match = re.match(rf"{re.escape(name)}\((.*)\) -> (.*)$", first[0]) if first else None
    if match is None:
        return "(self, *args: Any, **kwargs: Any) -> Any" if method else "(*args: Any) -> Any"
    arguments = re.sub(r" = <[^>]*>", " = ...", match.group(1))
    arguments = re.sub(r" = [^,)]+", " = ...", arguments)
    # Sequences of all kinds are taken, and None where there is a default.
    arguments = re.sub(r": (List|Dict|Tuple|Optional)\b[^=]*?(?=(, \w+: | = |$))", ": Any", arguments)
    arguments = re.sub(r": \S*Robot = \.\.\.", ": Any = ...", arguments)
    arguments = python_type(arguments)
    if method:
        arguments = re.sub(r"^(self|arg0): [^,]*", "self", arguments)
    # Arguments without names.
    arguments = re.sub(r"\barg(\d)\b", r"__arg\1", arguments)
    return f"({arguments}) -> {python_type(match.group(2))}"


def members(cls):
    lines = []
    for name, value in sorted(vars(cls).items()):
        if isinstance(value, property):
            got = re.search(r"-> (.*)", value.fget.__doc__ or "") if value.fget else None
            kind = python_type(got.group(1)) if got else "Any"
            if value.fset is not None:
                lines.append(f"    {name}: Any")
            else:
                lines += ["    @property", f"    def {name}(self) -> {kind}: ..."]
        elif name in ("__init__", "__call__") or (
            not name.startswith("__") and (inspect.isroutine(value) or callable(value))
        ):
            if name == "__init__":
                text = signature(value.__doc__, name, True)
                if "*args" not in text:  # others cannot be made
                    lines.append(f"    def __init__{text}: ...")
            elif name == "__call__":
                lines.append("    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...")
            else:
                lines.append(f"    def {name}{signature(value.__doc__, name, True)}: ...")
    return lines or ["    ..."]


def main():
    core = espalier._core
    print('"""C++ core of espalier; made by python/tools/stub.py."""\n')
    print("from collections.abc import Sequence\nfrom typing import Any\n\nimport numpy as np\n")
    for name, value in sorted(vars(core).items()):
        if name.startswith("__"):
            continue
        if inspect.isclass(value):
            print(f"class {name}:")
            print("\n".join(members(value)))
            print()
        elif callable(value):
            print(f"def {name}{signature(value.__doc__, name, False)}: ...")
        else:
            print(f"{name}: Any")


if __name__ == "__main__":
    main()
