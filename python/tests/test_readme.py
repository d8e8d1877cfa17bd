"""The script of README.md runs as it is printed."""

import re
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]


def test_first_script_of_the_readme_runs(monkeypatch):
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    [script] = re.findall(r"<!-- test: first_script -->\n```python\n(.*?)```", text, re.DOTALL)
    monkeypatch.chdir(ROOT)
    names = {}
    exec(compile(script, "README.md", "exec"), names)
    assert names["vdot"].shape == (names["robot"].nv,)
    assert np.isfinite(names["vdot"]).all()
