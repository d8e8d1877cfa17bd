#!/usr/bin/env python3
"""A notebook from a script in cells: notebook.py SCRIPT.py NOTEBOOK.ipynb.

`# %%` begins a cell of code, `# %% [markdown]` one of text.
"""

import json
import sys


def cells(text):
    """(kind, source) of each cell."""
    out = []
    for line in text.splitlines():
        if line.startswith("# %%"):
            out.append(("markdown" if "[markdown]" in line else "code", []))
        elif out:
            out[-1][1].append(line)
    for kind, lines in out:
        if kind == "markdown":
            lines[:] = [line.removeprefix("#").removeprefix(" ") for line in lines]
        while lines and not lines[-1]:
            lines.pop()
    return [(kind, "\n".join(lines)) for kind, lines in out]


def notebook(text):
    """The notebook as text."""
    made = []
    for number, (kind, source) in enumerate(cells(text)):
        cell = {"cell_type": kind, "id": f"cell-{number}", "metadata": {},
                "source": source.splitlines(keepends=True)}
        if kind == "code":
            cell.update(execution_count=None, outputs=[])
        made.append(cell)
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    document = {"cells": made, "metadata": {"kernelspec": kernel}, "nbformat": 4,
                "nbformat_minor": 5}
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as script, open(
        sys.argv[2], "w", encoding="utf-8"
    ) as out:
        out.write(notebook(script.read()))
