"""Python and the command line give the same bits, on all robots and for all problems."""

import json
import subprocess
import zipfile

import numpy as np
import pytest
from conftest import ROBOTS, ROOT

import espalier as esp


def evaluate(program, robot, algorithm, problem):
    """What `espalier eval --random 1` prints, or None where it refuses."""
    words = [program, "eval", str(ROOT / "robots" / robot), "--algorithm", algorithm]
    words += ["--problem", problem, "--random", "1", "--json", "--root", "fixed"]
    run = subprocess.run(words, capture_output=True, text=True, check=False)
    return json.loads(run.stdout) if run.returncode == 0 else None


def flat(x):
    """All numbers of a JSON value, in order."""
    if isinstance(x, dict):
        return [number for value in x.values() for number in flat(value)]
    if isinstance(x, list):
        return [number for value in x for number in flat(value)]
    return [float(x)]


def results_of(document):
    """Name of result -> numbers."""
    if "subsystems" in document:
        keys = ("y", "M", "h", "B", "T", "dT", "F", "c")
        return {
            f"{k} of {name}": flat(s[k]) for name, s in document["subsystems"].items() for k in keys
        }
    out = {}
    skip = ("model", "algorithm", "problem", "problems", "gravity", "coordinates", "state")
    skip += ("warnings",)
    for name, value in document.items():
        if name == "jacobians":
            out.update((link, flat(J)) for link, J in value.items())
        elif name == "joint_wrenches":
            out.update((f"wrench of {joint}", flat(w)) for joint, w in value.items())
        elif name not in skip and not (name == "inputs" and isinstance(value[0], str)):
            out[name] = flat(value)
    return out


def solve(robot, algorithm, problem, state):
    """The same by Python, at the state that the command line has printed."""
    accelerations = [a for e in state["end_effectors"] for a in e["acceleration"]]
    ends = [{k: v for k, v in e.items() if k != "acceleration"} for e in state["end_effectors"]]
    parts = {}
    for name, given in (("end_effectors", ends), ("inputs", state["inputs"])):
        try:  # some problems have no use for them
            robot.algorithm(algorithm, problem, **parts, **{name: given})
        except TypeError as error:
            assert f"{name} are given, expected none" in str(error)
        else:
            parts[name] = given
    algo = robot.algorithm(algorithm, problem, **parts)
    roles = {key: np.array(flat(state[key])) for key in ("q", "v", "tau", "vdot")}
    held = problem.startswith("constrained-dynamics")
    extra = {"acceleration": accelerations} if held else {}
    given = [roles[name] for name in algo.arguments]
    got = algo(*given, **extra)
    if not isinstance(got, esp.Results):
        got = {algo.results[0]: got}
    by_name = {name: algo(name, *given, **extra) for name in algo.results if name not in got}
    return {name: np.ravel(value) for name, value in {**got, **by_name}.items()}


def expect_same(program, models, robot, algorithm, problem):
    document = evaluate(program, robot, algorithm, problem)
    model = models(robot, root="fixed")
    can = {a["name"]: a["can"] for a in esp.algorithms(problem, model)}[algorithm]
    if document is None:
        if can:  # it says so of the state, as of a singular one
            with pytest.raises(esp.Error):
                model.__getattr__(problem.replace("-", "_"))(
                    *(getattr(model.random_state(1), k) for k in ("q", "v")), algorithm=algorithm
                )
        return 0
    assert can
    if problem == "design-variation":  # its families are the command line's own
        with pytest.raises(esp.Unsupported, match="number of families is 0"):
            model.algorithm(algorithm, problem)
        return 0
    expected = results_of(document)
    got = solve(model, algorithm, problem, document["state"])
    assert set(got) == set(expected)
    for name, numbers in expected.items():
        assert got[name].tolist() == numbers, (robot, algorithm, problem, name)
    return 1


@pytest.mark.parametrize("robot", ROBOTS)
def test_every_problem_gives_the_same_bits(command_line, models, robot):
    compared = 0
    for problem in esp.problems():
        model = models(robot, root="fixed")
        if not any(a["can"] for a in esp.algorithms(problem, model)):
            continue
        preferred = getattr(model, problem.replace("-", "_")).algorithms[0]
        compared += expect_same(command_line, models, robot, preferred, problem)
    assert compared >= 8  # most problems have an answer everywhere


@pytest.mark.parametrize("robot", ["tello.yaml", "panda.urdf"])
def test_every_algorithm_gives_the_same_bits(command_line, models, robot):
    compared = 0
    for entry in esp.algorithms(robot=models(robot, root="fixed")):
        compared += expect_same(command_line, models, robot, entry["name"], entry["problem"])
    assert compared >= 30


@pytest.mark.parametrize("robot", ["mini_cheetah_geared.yaml", "tello.yaml"])
def test_random_state_is_that_of_the_command_line(command_line, models, robot):
    document = evaluate(command_line, robot, "c-aba", "forward-dynamics")
    x = models(robot, root="fixed").random_state(1)
    assert x.q.tolist() == flat(document["state"]["q"])
    assert x.v.tolist() == flat(document["state"]["v"])


def test_sweep_writes_the_same_numbers_to_csv_and_hdf5(command_line, tmp_path):
    h5py = pytest.importorskip("h5py")
    plan = tmp_path / "plan.yaml"
    plan.write_text(
        f"robot: {ROOT / 'robots' / 'ur5.urdf'}\nproblem: inverse-dynamics\nalgorithm: rnea\n"
        "parameters:\n  payload: {set: links.wrist_3.mass, list: [1, -1, 3]}\n"
        "states: {random: 2}\nrecord: {largest: {result: tau}}\n"
    )
    for name in ("table.csv", "table.h5"):
        words = [command_line, "sweep", str(plan), "--output", str(tmp_path / name)]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        assert done.returncode == 1, done.stderr  # a mass below zero is no robot
    table = np.genfromtxt(tmp_path / "table.csv", delimiter=",", skip_header=1, usecols=range(4))
    with h5py.File(tmp_path / "table.h5") as file:
        assert set(file) == {"design", "state", "payload", "largest", "error"}
        for k, name in enumerate(("design", "state", "payload", "largest")):
            assert np.array_equal(file[name][:], table[:, k], equal_nan=True)
        assert file["design"].dtype == np.int64
        errors = file["error"].asstr()[:]
    assert [bool(e) for e in errors] == [False, False, True, True, False, False]
    assert "wrist_3" in errors[2]
    words = [command_line, "sweep", str(plan), "--output", str(tmp_path / "no" / "table.h5")]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "table.h5: output file is not writable" in done.stderr


def test_motion_in_arrays_has_the_bits_of_the_csv(command_line, tmp_path):
    """`simulate --output FILE.npz` is what NumPy loads, name by name as in the CSV."""
    files = [tmp_path / "motion.csv", tmp_path / "motion.npz"]
    for file in files:
        words = [command_line, "simulate", str(ROOT / "robots" / "four_bar_leg.yaml")]
        words += ["--duration", "0.05", "--dt", "0.001", "--output", str(file)]
        subprocess.run(words, check=True, capture_output=True)
    table = np.genfromtxt(files[0], delimiter=",", names=True, deletechars="", encoding="utf-8")
    names = files[0].read_text().splitlines()[0].split(",")
    with zipfile.ZipFile(files[1]) as archive:
        assert archive.testzip() is None
    with np.load(files[1]) as arrays:
        assert arrays.files == names
        assert len(arrays["time"]) == 51
        for name, column in zip(names, table.dtype.names, strict=True):
            np.testing.assert_array_equal(arrays[name], table[column])
