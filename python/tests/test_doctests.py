"""Examples in docstrings do what they say."""

import doctest
import importlib

import pytest

MODULES = ["", ".contact", ".description", ".errors", ".expressions", ".host", ".mechanism", ".model",
           ".parts", ".results", ".simulation", ".state", ".svg"]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name):
    module = importlib.import_module("espalier" + name)
    done = doctest.testmod(module)
    assert done.failed == 0


def test_there_are_examples():
    total = sum(
        doctest.testmod(importlib.import_module("espalier" + name)).attempted for name in MODULES
    )
    assert total >= 20
