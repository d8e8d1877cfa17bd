"""Sweeps give the same bits for any number of workers and any cut, and lose nothing."""

import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from conftest import ROOT

import espalier as esp

sys.path.insert(0, os.path.dirname(__file__))
os.environ["PYTHONPATH"] = os.pathsep.join(
    [os.path.dirname(__file__), os.environ.get("PYTHONPATH", "")]
)
import sweep_functions as functions  # noqa: E402: workers find it by PYTHONPATH


def same(a, b):
    assert len(a.results) == len(b.results)
    for x, y in zip(a.results, b.results):
        if isinstance(x, dict):
            assert set(x) == set(y) and all(np.array_equal(x[k], y[k]) for k in x)
        else:
            assert np.array_equal(x, y)


ITEMS = [{"a": float(k)} for k in range(23)]


def test_same_bits_for_any_number_of_workers_and_any_cut():
    one = esp.sweep(functions.draw, ITEMS, workers=1, shard_size=23)
    same(one, esp.sweep(functions.draw, ITEMS, workers=1, shard_size=4))
    same(one, esp.sweep(functions.draw, ITEMS, workers=2, shard_size=3))
    assert len({r["x"] - k for k, r in enumerate(one.results)}) == 23  # generators differ
    other = esp.sweep(functions.draw, ITEMS, workers=1, seed=1)
    assert other.results[0]["x"] != one.results[0]["x"]


def test_robots_and_states_are_sent(models):
    robot = models("tello.yaml")
    q, v = robot.random_states(6)
    states = list(zip(q, v))
    here = esp.sweep(functions.dynamics, [robot] * 6, states, workers=1)
    same(here, esp.sweep(functions.dynamics, [robot] * 6, states, workers=2, shard_size=2))
    assert esp.sweep(functions.robot_mass, [robot], workers=1).results == [robot.mass]


def test_function_that_other_processes_cannot_import_is_refused():
    with pytest.raises(TypeError, match="function is .*<lambda>, expected one of a module"):
        esp.sweep(lambda p: p, [1, 2, 3], workers=2, shard_size=1)
    assert esp.sweep(lambda p: 2 * p, [1, 2, 3], workers=1).results == [2, 4, 6]


def test_program_without_a_guard_is_told_so(tmp_path):
    """Its workers import it, and would sweep again."""
    program = tmp_path / "unguarded.py"
    program.write_text(
        "import espalier as esp, sweep_functions\n"
        "found = esp.sweep(sweep_functions.draw, [{'a': 1.0}] * 2, workers=2, shard_size=1)\n"
        "raise SystemExit(not found.complete)\n"
    )
    done = subprocess.run([sys.executable, program], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "expected the call below `if __name__ == '__main__':`" in done.stderr


def test_shard_that_fails_three_times_is_reported_and_the_rest_kept():
    for workers in (1, 2):
        found = esp.sweep(functions.fails_on_three, list(range(8)), workers=workers, shard_size=1)
        assert found.results == [0, 1, 2, None, 4, 5, 6, 7]
        (failure,) = found.failures
        assert failure.items == [3] and failure.parameters == [3] and failure.seeds == [3]
        assert "three is refused" in failure.error and not found.complete
        assert np.isnan(found.table()["value"][3])


@pytest.mark.parametrize("workers", [1, 2])
def test_item_that_raises_takes_no_other_along(tmp_path, workers):
    """What is found does not depend on the cut."""
    for size in (1, 3, 8):
        found = esp.sweep(functions.fails_on_three, list(range(8)), workers=workers,
                          shard_size=size, checkpoint=tmp_path / f"{workers}-{size}.npz")
        assert found.results == [0, 1, 2, None, 4, 5, 6, 7]
        assert [f.items for f in found.failures] == [[3]]
        assert found.failures[0].error.count("item 3 with parameters 3 and seed 3") == 1
    found = esp.sweep(functions.fails_on_three, [3, 1, 3, 3], workers=workers, shard_size=4)
    assert found.results == [None, 1, None, None]
    assert [f.items for f in found.failures] == [[0], [2], [3]]


def test_item_that_raises_is_tried_again_alone():
    calls = []

    def second_time(k):
        calls.append(k)
        if k == 1 and calls.count(1) < 2:
            raise ValueError("not yet")
        return k

    found = esp.sweep(second_time, [0, 1, 2], workers=1, shard_size=3)
    assert found.complete and found.results == [0, 1, 2] and calls == [0, 1, 2, 1]


def test_states_may_come_one_by_one_and_a_client_is_one():
    found = esp.sweep(lambda p, x: p + x, [1, 2], (x for x in (10, 20)), workers=1)
    assert found.results == [11, 22]
    with pytest.raises(TypeError, match="client is 3, expected a dask.distributed.Client"):
        esp.sweep(functions.draw, ITEMS, client=3)


def test_worker_that_is_killed_loses_nothing(tmp_path):
    items = [(k, str(tmp_path)) for k in range(12)]
    found = esp.sweep(functions.dies_once, items, workers=2, shard_size=2)
    assert (tmp_path / "died").exists()
    assert found.complete and found.results == [float(k) ** 2 for k in range(12)]


def test_shard_that_always_kills_its_worker_is_the_only_one_lost():
    found = esp.sweep(functions.dies_always, list(range(6)), workers=2, shard_size=1)
    assert found.results == [0, 1, None, 3, 4, 5]
    assert [f.items for f in found.failures] == [[2]]


COUNTED = {}  # a function that enclosed its calls would be another after each


def counted(parameters, random):
    COUNTED["calls"].append(parameters)
    if len(COUNTED["calls"]) == COUNTED["stops_at"]:
        raise KeyboardInterrupt
    return functions.draw(parameters, random)


@pytest.mark.parametrize("name", ["partial.npz", "partial.h5"])
def test_checkpoint_is_taken_up_again(tmp_path, name):
    path = tmp_path / name
    whole = esp.sweep(functions.draw, ITEMS, workers=1)
    calls = COUNTED["calls"] = []
    COUNTED["stops_at"] = 10

    with pytest.raises(KeyboardInterrupt):
        esp.sweep(counted, ITEMS, workers=1, shard_size=1, checkpoint=path,
                  partial=lambda done: None)
    # What was done at the last saving is there; the rest is computed.
    calls.clear()
    COUNTED["stops_at"] = None
    again = esp.sweep(counted, ITEMS, workers=1, shard_size=1, checkpoint=path)
    same(whole, again)
    assert len(calls) == 14
    calls.clear()
    same(whole, esp.sweep(counted, ITEMS, workers=1, checkpoint=path))
    assert not calls
    with pytest.raises(esp.InvalidModel, match="checkpoint is of 23 items and seed 0"):
        esp.sweep(counted, ITEMS, workers=1, seed=4, checkpoint=path)
    others = [{"a": item["a"] + 1.0} for item in ITEMS]
    for function, items in ((counted, others), (functions.draw, ITEMS)):
        with pytest.raises(esp.InvalidModel, match="checkpoint is of another function, or other"):
            esp.sweep(function, items, workers=1, checkpoint=path)


def test_checkpoint_tells_robots_and_states_apart(tmp_path, models):
    ur5 = models("ur5.urdf")
    heavier = ur5.description
    heavier.links["tool0" if "tool0" in ur5.links else ur5.links[-1]].mass += 1.0
    states = [(ur5.state().q, ur5.state().v)]
    moved = [(ur5.state().q + 0.1, ur5.state().v)]
    path = tmp_path / "robots.npz"
    esp.sweep(functions.dynamics, [ur5], states, workers=1, checkpoint=path)
    again = esp.load(ROOT / "robots" / "ur5.urdf")
    esp.sweep(functions.dynamics, [again], states, workers=1, checkpoint=path)
    for robot, its in ((heavier.compile(), states), (ur5, moved)):
        with pytest.raises(esp.InvalidModel, match="other parameters or states"):
            esp.sweep(functions.dynamics, [robot], its, workers=1, checkpoint=path)


@pytest.mark.parametrize("what", ["workers", "seed", "shard_size"])
def test_numbers_below_zero_are_refused_by_name(what):
    with pytest.raises(esp.InvalidModel, match=f"{what} is -1, expected at least"):
        esp.sweep(functions.draw, ITEMS, **{what: -1})


def test_partial_results_while_it_runs():
    seen = []
    esp.sweep(functions.draw, ITEMS, workers=1, shard_size=5, partial=lambda r: seen.append(len(r)))
    assert seen == [5, 10, 15, 20, 23]


@pytest.mark.parametrize("name", ["table.csv", "table.h5"])
def test_table_is_written_with_what_failed(tmp_path, name):
    found = esp.sweep(functions.fails_on_three, list(range(6)), workers=1, shard_size=1)
    found.write(tmp_path / name)
    if name.endswith(".csv"):
        pandas = pytest.importorskip("pandas")
        table = pandas.read_csv(tmp_path / name, keep_default_na=False, na_values={"value": ""})
        columns = {c: table[c].to_numpy() for c in table}
    else:
        h5py = pytest.importorskip("h5py")
        with h5py.File(tmp_path / name) as file:
            assert set(file) == {"item", "value", "error"}
            columns = {c: file[c].asstr()[:] if c == "error" else file[c][:] for c in file}
    assert list(columns["item"]) == list(range(6))
    assert np.array_equal(columns["value"], [0, 1, 2, np.nan, 4, 5], equal_nan=True)
    assert [bool(e) for e in columns["error"]] == [False] * 3 + [True] + [False] * 2
    assert "three is refused" in columns["error"][3]
    assert [p.name for p in tmp_path.iterdir()] == [name]


def test_table_of_another_ending_is_refused(tmp_path):
    found = esp.sweep(functions.draw, ITEMS[:2], workers=1)
    with pytest.raises(esp.InvalidModel, match="'.xls', expected .csv, .h5 or .hdf5"):
        found.write(tmp_path / "table.xls")


@pytest.mark.parametrize("name", ["table.csv", "table.h5"])
@pytest.mark.parametrize(
    "result", [{"error": 1.0}, {"item": 1.0}, {"x": np.ones(2), "x[1]": 1.0}, {3: 1.0}]
)
def test_names_that_clash_are_refused_and_the_old_table_stays(tmp_path, name, result):
    if name.endswith(".h5"):
        pytest.importorskip("h5py")
    (tmp_path / name).write_text("old")
    with pytest.raises((esp.DuplicateName, TypeError), match="error|item|x|3"):
        esp.Sweep([result, result]).write(tmp_path / name)
    assert [p.name for p in tmp_path.iterdir()] == [name]
    assert (tmp_path / name).read_text() == "old"


def test_slashes_of_names_may_not_make_one_data_set(tmp_path):
    pytest.importorskip("h5py")
    found = esp.Sweep([{"a/b": 1.0, "a_b": 2.0}])
    with pytest.raises(esp.DuplicateName, match="column 'a_b' is given twice.*'/' as '_'"):
        found.write(tmp_path / "table.h5")
    found.write(tmp_path / "table.csv")


def test_bad_arguments():
    with pytest.raises(ValueError, match="number of states is 1, expected 2"):
        esp.sweep(functions.draw, [1, 2], [1], workers=1)
    with pytest.raises(TypeError, match="shard_size is 1.5, expected a whole number from 1"):
        esp.sweep(functions.draw, [1, 2], workers=1, shard_size=1.5)
    with pytest.raises(ValueError, match="shard_size is 0"):
        esp.sweep(functions.draw, [1, 2], workers=1, shard_size=0)


def test_dask_gives_the_same_bits_and_outlives_a_killed_worker():
    distributed = pytest.importorskip("distributed")
    here = esp.sweep(functions.slow, list(range(24)), workers=1)
    cluster = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    )
    with cluster, distributed.Client(cluster) as client:
        pids = list(client.run(os.getpid).values())
        assert len(set(pids)) == 2

        killed = []

        def kill():
            time.sleep(0.3)
            os.kill(pids[0], signal.SIGKILL)
            killed.append(pids[0])

        killer = threading.Thread(target=kill)
        killer.start()
        found = esp.sweep(functions.slow, list(range(24)), client=client, shard_size=1)
        killer.join()
        assert killed and found.complete
        same(here, found)
        failing = esp.sweep(functions.fails_on_three, list(range(5)), client=client, shard_size=2)
        assert failing.results == [0, 1, 2, None, 4] and failing.failures[0].items == [3]
