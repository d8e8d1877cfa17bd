"""Meshes are found from wherever a program goes; views draw robots as they were compiled."""

import pickle
import shutil

import numpy as np
import pytest
from test_mechanism import LEG, screw_plugin

import espalier as esp

CUBE = np.array([[x, y, z] for x in (-0.1, 0.1) for y in (-0.1, 0.1) for z in (-0.1, 0.1)])
FACES = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]


def write_cube(file):
    lines = ["solid cube"]
    for a, b, c, d in FACES:
        for triangle in ((a, b, c), (a, c, d)):
            lines += ["facet normal 0 0 0", "outer loop"]
            lines += ["vertex {} {} {}".format(*CUBE[k]) for k in triangle]
            lines += ["endloop", "endfacet"]
    file.write_text("\n".join([*lines, "endsolid"]))


@pytest.fixture
def cube(tmp_path, monkeypatch):
    """A robot that is a mesh, read by a relative path; the program then goes elsewhere."""
    folder = tmp_path / "robots"
    (folder / "parts").mkdir(parents=True)
    write_cube(folder / "parts" / "cube.stl")
    shape = '<geometry><mesh filename="parts/cube.stl"/></geometry>'
    (folder / "cube.urdf").write_text(
        f'<robot name="cube"><link name="cube"><inertial><mass value="2"/><inertia ixx="0.01" '
        f'iyy="0.01" izz="0.01"/></inertial><visual>{shape}</visual><collision>{shape}</collision>'
        f'</link></robot>'
    )
    monkeypatch.chdir(folder)
    robot = esp.load("cube.urdf", root="floating")
    monkeypatch.chdir("/")
    return robot


def resting(robot):
    batch = esp.ContactBatch(robot)
    q = robot.state().q[None].copy()
    q[0, 2] = 0.11
    batch.start(q)
    batch.step(1e-3, steps=300)
    return batch


def test_meshes_touch_after_the_program_has_gone_elsewhere(cube):
    again = pickle.loads(pickle.dumps(cube))
    for robot in (cube, again, cube.description.compile(root="floating"), cube.description.copy()
                  .compile(root="floating")):
        batch = resting(robot)
        assert "cube" in batch.shapes and batch.q[0, 2] == pytest.approx(0.1, abs=1e-3)
    assert again == cube and "parts/cube.stl" in again.description.text()


def test_views_draw_meshes(cube, command_line, monkeypatch):
    monkeypatch.setenv("ESPALIER_PROGRAM", command_line)
    x = cube.state()
    for view in (cube.view(), cube.simulate(x, duration=0.01, dt=1e-3).view()):
        assert "cube.stl" in view.html and "file is missing" not in view.html
        assert '"mesh":0' in view.html and "robots/parts" not in view.html


def test_what_touches_nothing_is_a_warning(cube, tmp_path):
    (tmp_path / "robots" / "parts" / "cube.stl").unlink()
    with pytest.warns(UserWarning, match=r"touch nothing are cube \(mesh, file missing\).*`balls`"):
        batch = esp.ContactBatch(cube)
    assert batch.shapes == ["ground"]


def test_mesh_that_a_new_file_does_not_find_is_a_warning(cube, tmp_path, recwarn):
    cube.description.write(tmp_path / "robots" / "beside.yaml")
    assert not recwarn.list
    (tmp_path / "other").mkdir()
    with pytest.warns(UserWarning, match=r"not found from .*other/cube.yaml are 'parts/cube.stl' of"):
        cube.description.write(tmp_path / "other" / "cube.yaml")
    shutil.copytree(tmp_path / "robots" / "parts", tmp_path / "other" / "parts")
    robot = esp.load(tmp_path / "other" / "cube.yaml", root="floating")
    assert "cube" in resting(robot).shapes


def test_views_know_plugins_that_were_loaded_by_hand(command_line, monkeypatch):
    monkeypatch.setenv("ESPALIER_PROGRAM", command_line)
    host = esp.Host()
    host.load_plugin(str(screw_plugin()))
    robot = esp.read_text(LEG.read_text(), host=host).compile()
    assert "<html" in robot.view().html


def test_motions_of_laws_of_python_are_drawn_and_poses_refused(command_line, monkeypatch):
    monkeypatch.setenv("ESPALIER_PROGRAM", command_line)
    robot = esp.read_text(
        LEG.read_text().replace("type: screw_knee", "type: python_screw")
    ).compile()
    with pytest.raises(esp.Unsupported, match="is of type 'python_screw', expected one of a plugin"):
        robot.view()
    run = robot.simulate(robot.state(), duration=0.01, dt=1e-3)
    assert "<html" in run.view().html


def test_views_are_of_the_robot_as_it_was_compiled(command_line, monkeypatch, tmp_path):
    monkeypatch.setenv("ESPALIER_PROGRAM", command_line)
    link = {"mass": 1, "com": [0, 0, 0.1], "inertia": [0.1, 0.1, 0.1, 0, 0, 0]}
    text = {
        "name": "pair", "links": {"base": {}, "one": link, "two": link},
        "joints": {
            "j1": {"type": "revolute", "parent": "base", "child": "one"},
            "j2": {"type": "revolute", "parent": "one", "child": "two",
                   "mimic": {"joint": "j1", "multiplier": 2}},
        },
    }
    robot = esp.from_dict(text).compile(mimic="ignore")
    assert robot.nv == 2 and "<html" in robot.view("j2").html
    with pytest.raises(TypeError, match="sweep is 3, expected a name"):
        robot.view(3)
    with pytest.raises(TypeError, match="file is None, expected a path"):
        robot.view().save(None)
