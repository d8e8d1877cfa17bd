"""Checkpoints of sweeps give back what they were given, or say at once that they cannot."""

import copy
import math
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import espalier as esp
from espalier import checkpoint

ENDINGS = [".npz", ".h5"]
CALLS = []  # not enclosed by functions, of which it would be a part


def file_in(folder, ending):
    if ending == ".h5":
        pytest.importorskip("h5py")
    return folder / ("partial" + ending)


def same(a, b):
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(a[k], b[k]) for k in a)
    if isinstance(a, (list, tuple)):
        return type(a) is type(b) and len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and np.array_equal(a, b, equal_nan=a.dtype.kind in "fc")
    return type(a) is type(b) and (a == b or (a != a and b != b))


KEPT = [
    1.5, -3, True, 2j, "text", math.nan, 2**63, np.arange(6.0).reshape(2, 3),
    np.array([1, 2], dtype=np.int8), [1, 2], [1.0, math.nan], [[1, 2], [3, 4]], (1.0, 2.0), [], {},
    {"a": 1.0, "b": [1, 2], "c": (3, 4), "d": np.ones(3), "value": 2, "a/b": 0, "../x": 0},
    {"list": [1]}, np.array([1.0, math.nan]), {"a": np.array([[math.nan, 2.0]]), "b": [math.nan]},
    complex(math.nan, 1.0), (math.nan, -math.inf),
]
REFUSED = [
    None, 2**70, object(), [1, [2, 3]], [1, "a"], [2**53 + 1, 0.5], [(1, 2), (3, 4)],
    [np.ones(2), np.ones(2)], np.array([1, None]), np.ma.array([1.0, 2.0], mask=[False, True]),
]


@pytest.mark.parametrize("ending", ENDINGS)
def test_what_is_kept_comes_back_as_it_was(tmp_path, ending):
    file = file_in(tmp_path, ending)
    numbers = list(range(len(KEPT)))
    CALLS.clear()

    def result(k):
        CALLS.append(k)
        return KEPT[k]

    first = esp.sweep(result, numbers, workers=1, checkpoint=file)
    again = esp.sweep(result, numbers, workers=1, checkpoint=file)
    assert CALLS == numbers
    for k in numbers:
        assert same(first.results[k], KEPT[k]) and same(again.results[k], KEPT[k]), KEPT[k]


@pytest.mark.parametrize("ending", ENDINGS)
def test_items_with_nan_and_arrays_are_known_again(tmp_path, ending):
    """NaN is unequal to itself, and arrays compare entry by entry: items are told by their bits."""
    file = file_in(tmp_path, ending)
    CALLS.clear()

    def result(x):
        CALLS.append(x)
        return np.array([1.0, math.nan])

    items = [math.nan, np.array([1.0, math.nan]), [1.0, math.nan], {"a": np.ones((2, 2))},
             np.float64("nan"), (np.arange(3), math.nan)]
    for _ in range(2):
        found = esp.sweep(result, items, workers=1, checkpoint=file)
        assert len(CALLS) == len(items) == len(found.results)
    for other in (np.array([1.0, 2.0]), np.array([math.nan, 1.0])):
        with pytest.raises(esp.InvalidModel, match="checkpoint is of another function, or other"):
            esp.sweep(result, [items[0], other, *items[2:]], workers=1, checkpoint=file)


class Gain:
    """Called, or an item, or of an item."""

    def __init__(self, gain):
        self.gain, self.own = gain, self

    def __call__(self, x):
        return float(self.gain)

    def of(self, x):
        return float(self.gain)


@dataclass
class Slotted:
    __slots__ = ("gain",)
    gain: float


def scaled(x, gain=1.0):
    return float(gain)


def enclosing(gain):
    return lambda x: float(gain)


@pytest.mark.parametrize("functions", [
    (partial(scaled, gain=1), partial(scaled, gain=2)), (Gain(1), Gain(2)), (Gain(1).of, Gain(2).of),
    (enclosing(1), enclosing(2)), (lambda x: 1.0, lambda x: 2.0), (np.sin, np.cos), (abs, round),
    (lambda x, a=1: float(a), lambda x, a=2: float(a)), (Gain(1).of, Gain(1)),
], ids=lambda pair: getattr(pair[0], "__qualname__", type(pair[0]).__name__))
def test_functions_differ_by_what_they_compute(tmp_path, functions):
    one, other = functions
    file = tmp_path / "partial.npz"
    first = esp.sweep(one, [0, 1], workers=1, checkpoint=file)
    assert esp.sweep(one, [0, 1], workers=1, checkpoint=file).results == first.results
    with pytest.raises(esp.InvalidModel, match="checkpoint is of another function"):
        esp.sweep(other, [0, 1], workers=1, checkpoint=file)


@pytest.mark.parametrize("one, other", [
    (Gain(1), Gain(2)), (Slotted(1.0), Slotted(2.0)), (Decimal("1.5"), Decimal("2.5")),
    (Path("a"), Path("b")), ({1, 2}, {1, 3}), (range(3), range(4)), (True, 1),
    (np.array(1.5, dtype=object), np.array(2.5, dtype=object)), (Gain, Slotted), ([Gain(1)], [Gain(2)]),
], ids=str)
def test_items_differ_by_their_parts(one, other):
    assert checkpoint._digest(one) == checkpoint._digest(copy.deepcopy(one))
    assert checkpoint._digest(one) != checkpoint._digest(other)


def test_fingerprint_is_the_same_in_every_process():
    program = (
        "from espalier.checkpoint import _digest\n"
        "print(_digest([{'a', 'b', 'c'}, 1.5, {'k': range(3)}, lambda x: {x, 'd', 'e'}]))"
    )
    found = {
        subprocess.run([sys.executable, "-c", program], env=os.environ | {"PYTHONHASHSEED": seed},
                       capture_output=True, text=True, check=True).stdout
        for seed in ("1", "2", "3")
    }
    assert len(found) == 1


def test_what_cannot_be_told_from_another_is_refused(tmp_path):
    with open(tmp_path / "log", "w") as log:
        with pytest.raises(esp.InvalidModel, match="sweep: TextIOWrapper is among what is computed"):
            esp.sweep(partial(scaled, gain=log), [0], workers=1, checkpoint=tmp_path / "c.npz")


@pytest.mark.parametrize("result", REFUSED, ids=lambda x: str(x)[:20])
def test_what_would_not_come_back_is_refused_when_it_comes(tmp_path, result):
    file = tmp_path / "partial.npz"
    for given, key in ((result, ""), ({"good": 1.0, "bad": result}, "'bad' ")):
        file.unlink(missing_ok=True)
        with pytest.raises(esp.InvalidModel, match=f"result of item 2:? {key}is .*expected a number"):
            esp.sweep(lambda k, x=given: x if k == 2 else k, list(range(4)), workers=1,
                      shard_size=1, checkpoint=file)
        # Both items before it are kept.
        with np.load(file) as kept:
            assert kept["items"].tolist() == [0, 1]


@pytest.mark.parametrize("name", [1, None, ("a", "b")])
def test_names_that_are_no_texts_are_refused(tmp_path, name):
    with pytest.raises(esp.InvalidModel, match=re.escape(f"item 0: name of a number is {name!r}")):
        esp.sweep(lambda k: {name: 1.0}, [0], workers=1, checkpoint=tmp_path / "partial.npz")


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("content", [b"", b"garbage", b"PK\x03\x04", b"\x89HDF\r\n\x1a\n"])
def test_file_that_is_no_checkpoint_is_named(tmp_path, ending, content):
    file = file_in(tmp_path, ending)
    file.write_bytes(content)
    with pytest.raises(esp.InvalidModel, match=f"{file.name}: file is no checkpoint"):
        esp.sweep(lambda k: k, [0, 1], workers=1, checkpoint=file)
    assert file.read_bytes() == content


def test_results_that_an_earlier_version_pickled_are_named(tmp_path, monkeypatch):
    file = tmp_path / "partial.npz"
    with monkeypatch.context() as patch:
        patch.setattr(checkpoint, "_array", lambda who, x: np.asarray(x, dtype=object))
        esp.sweep(lambda k: None, [0], workers=1, checkpoint=file)
    monkeypatch.setattr(checkpoint, "_digest", lambda calls: "")  # lambdas differ by their lines
    with pytest.raises(esp.InvalidModel, match="no checkpoint that can be read.*allow_pickle"):
        esp.sweep(lambda k: None, [0], workers=1, checkpoint=file)


def test_place_is_looked_at_before_anything_is_computed(tmp_path):
    calls = []
    for file in (tmp_path / "missing" / "x.npz", tmp_path, tmp_path / "missing" / "x.h5"):
        with pytest.raises(esp.InvalidModel, match="expected a file in a folder that can be written"):
            esp.sweep(calls.append, [0, 1], workers=1, checkpoint=file)
    with pytest.raises(TypeError, match="expected a path"):
        esp.sweep(calls.append, [0, 1], workers=1, checkpoint=3)
    assert not calls


def test_full_disk_costs_the_checkpoint_and_not_the_results(tmp_path, monkeypatch):
    def full(self, part):
        part.write_bytes(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(checkpoint.Checkpoint, "_write", full)
    with pytest.warns(UserWarning, match=r"partial.npz: checkpoint is not written \(No space left"):
        found = esp.sweep(lambda k: k, [0, 1], workers=1, checkpoint=tmp_path / "partial.npz")
    assert found.results == [0, 1] and not list(tmp_path.iterdir())


def test_saving_takes_a_small_part_of_the_time_however_long_it_takes(tmp_path, monkeypatch):
    """By a clock of the test's: an item takes a second, a save a hundredth for each item it has."""
    now, saves, encoded = [0.0], [], []
    encode = checkpoint._encode

    def write(self, part):
        saves.append(len(self._encoded))
        now[0] += 0.01 * len(self._encoded)
        part.write_bytes(b"")

    def counted(who, x):
        encoded.append(x)
        return encode(who, x)

    def item(k):
        now[0] += 1.0
        return k

    monkeypatch.setattr(checkpoint.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(checkpoint.Checkpoint, "_write", write)
    monkeypatch.setattr(checkpoint, "_encode", counted)
    count = 4000
    esp.sweep(item, list(range(count)), workers=1, shard_size=1, checkpoint=tmp_path / "x.npz")
    assert encoded == list(range(count))  # each once
    assert len(saves) > 10 and saves[-1] == count
    # All but the last, which holds everything and comes in any case.
    assert 0.01 * sum(saves[:-1]) <= count / checkpoint.SHARE_OF_SAVING + 0.01 * saves[-2]
