"""Many robots on rigid ground, each with masses, friction and ground of its own."""

import math
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from conftest import ROOT

import espalier as esp

FEET = {f"{end}_{side}_foot": 0.016 for end in ("front", "hind") for side in ("left", "right")}
N = 9


@pytest.fixture
def solo(models):
    return models("solo12.urdf", root="floating")


def standing(robot, n=N, height=0.34):
    q = np.tile(robot.state().q, (n, 1))
    q[:, 2] = height
    return q


def batch_of(robot, **options):
    drives = {j: {"kp": 10.0, "kd": 0.3} for j in robot.description.joints
              if j.endswith(("hip", "knee", "abduction"))}
    return esp.ContactBatch(robot, balls=FEET, drives=drives, threads=1, **options)


def test_standing_robots_are_carried_by_the_ground(solo):
    batch = batch_of(solo)
    batch.start(standing(solo, 3))
    batch.randomize(masses={"trunk": [0.8, 1.0, 1.2]})
    batch.step(2e-3, steps=1500)
    assert (batch.status == 0).all() and batch.t == pytest.approx(3.0)
    total = sum(link.mass for link in solo.description.links.values())
    trunk = solo.description.links["trunk"].mass
    ground = batch.shapes.index("ground")
    for k, factor in enumerate((0.8, 1.0, 1.2)):
        weight = 9.81 * (total + (factor - 1.0) * trunk)
        # Three seconds after the drop they still sway by a thousandth.
        assert -batch.forces[k, ground, 2] == pytest.approx(weight, rel=1e-2)
        assert batch.forces[k].sum() == pytest.approx(0.0, abs=1e-9)


def test_masses_are_those_of_a_description(solo):
    """Solo12's trunk, and a foot that is welded to its shank."""
    random = np.random.default_rng(1)
    trunk, shank = random.uniform(0.5, 2.0, (2, N))
    q, v = standing(solo), random.uniform(-1, 1, (N, solo.nv))
    batch = batch_of(solo, tolerance=1e-12)
    batch.start(q, v)
    batch.randomize(masses={"trunk": trunk, "hind_left_foot": shank})
    batch.step(2e-3, steps=40)
    for k in (0, 4, 8):
        d = esp.read(esp.robot_file("solo12.urdf"))
        for link, factor in (("trunk", trunk[k]), ("hind_left_foot", shank[k]),
                             ("hind_left_shank", shank[k])):
            d.links[link].mass *= factor
            d.links[link].inertia = (factor * np.array(d.links[link].inertia)).tolist()
        own = d.compile(root="floating")
        alone = batch_of(own, tolerance=1e-12)
        alone.start(q[k : k + 1], v[k : k + 1])
        alone.step(2e-3, steps=40)
        # Impulses to 1e-12 m/s in forty steps, and shanks of 0.02 kg.
        assert np.allclose(batch.v[k], alone.v[0], atol=1e-8)


def test_ground_is_a_robots_own(solo):
    heights = np.linspace(-0.02, 0.02, N)
    q = standing(solo, height=0.38)
    own = batch_of(solo)
    own.start(q)
    own.randomize(ground=heights)
    own.step(2e-3, steps=100)
    lifted = q.copy()
    lifted[:, 2] -= heights
    plain = batch_of(solo)
    plain.start(lifted)
    plain.step(2e-3, steps=100)
    # Where the ground is higher the robot meets it as one that starts lower, to rounding.
    assert np.allclose(own.q[:, 2] - heights, plain.q[:, 2], atol=1e-9)
    assert (plain.forces[:, :4, 2].sum(axis=1) > 0).any()
    own.randomize(ground=np.zeros((N, 3)))
    own.start(q)
    own.step(2e-3, steps=100)
    level = batch_of(solo)
    level.start(q)
    level.step(2e-3, steps=100)
    assert np.array_equal(own.q, level.q)


def test_a_height_field_is_shared(solo):
    x, y = np.meshgrid(np.arange(60), np.arange(60))
    hills = 0.01 * np.sin(0.7 * x) * np.cos(0.5 * y)
    field = batch_of(solo, ground=hills, spacing=0.05)
    field.start(standing(solo, 2))
    field.randomize(ground=[[-1.5, -1.5, 0.0], [-1.0, -1.2, 0.0]])
    field.step(2e-3, steps=300)
    assert (field.status == 0).all()
    moved = batch_of(solo, ground=hills, spacing=0.05, origin=(-1.0, -1.2, 0.0))
    moved.start(standing(solo, 1))
    moved.step(2e-3, steps=300)
    assert np.allclose(field.q[1], moved.q[0], atol=1e-9)
    assert not np.allclose(field.q[0], moved.q[0], atol=1e-3)


def test_balls_stand_where_they_are_told(tello):
    feet = {"right.knee_ankle.foot": (0.02, (0, 0, -0.04)),
            "left.knee_ankle.foot": [(0.01, (x, 0, -0.04)) for x in (-0.05, 0.1)]}
    batch = esp.ContactBatch(tello, balls=feet, ground=None)
    assert batch.shapes == ["right.knee_ankle.foot"] + 2 * ["left.knee_ankle.foot"]
    with pytest.raises(esp.SizeMismatch, match="place of a ball of link 'torso' has 2 numbers"):
        esp.ContactBatch(tello, balls={"torso": (0.1, (0, 0))})


def solid_ball(friction=""):
    """A ball of 1 kg and 0.1 m on the plane of an MJCF file."""
    return esp.read_text(f"""<mujoco><worldbody><geom type="plane" size="1 1 1"/>
        <body name="ball" pos="0 0 0.1"><freejoint name="root"/>
        <inertial pos="0 0 0" mass="1" diaginertia="0.004 0.004 0.004"/>
        <geom size="0.1" {friction}/></body></worldbody></mujoco>""", "ball.xml").compile()


def turned(robot, w, **surface):
    """Rates of a ball that rolls at w [rad/s], a tenth of a second later."""
    batch = esp.ContactBatch(robot, ground=None, threads=1, tolerance=1e-12, **surface)
    batch.start([[0, 0, 0.1, 0, 0, 0, 1]], [[*w, *np.cross(w, (0, 0, 0.1))]])
    batch.step(1e-3, steps=100)
    assert (batch.status == 0).all()
    return batch.v[0]


def expect_slowed(robot, **surface):
    """By m g times 0.01 m about the vertical, and by m g times 0.002 m where it rolls."""
    spin, roll = 3 - 0.1 * 0.01 * 9.81 / 0.004, 0.5 - 0.1 * 0.002 * 9.81 / (1.4 * 0.1)
    assert turned(robot, (0, 0, 3), **surface)[2] == pytest.approx(spin, abs=1e-8)
    v = turned(robot, (0, 5, 0), **surface)
    assert np.hypot(v[3], v[5]) == pytest.approx(roll, abs=1e-8)


def test_torsional_and_rolling_friction_of_a_file():
    expect_slowed(solid_ball('friction="0.5 0.01 0.002" condim="6"'))


def test_torsional_and_rolling_friction_of_all_surfaces():
    plain = solid_ball('friction="0.5 0.01 0.002"')  # condim is 3: its lengths do not count
    assert turned(plain, (0, 0, 3))[2] == pytest.approx(3, abs=1e-9)
    assert turned(plain, (0, 5, 0))[1] == pytest.approx(5, abs=1e-9)
    expect_slowed(plain, torsional_friction=0.01, rolling_friction=0.002)
    with pytest.raises(esp.InvalidModel, match="rolling friction is -1, expected a length"):
        turned(plain, (0, 0, 3), rolling_friction=-1)


def test_reset_keeps_what_is_randomized_and_the_others(solo):
    batch = batch_of(solo)
    batch.start(standing(solo))
    batch.randomize(friction=np.full(N, 0.8), masses={"trunk": np.full(N, 1.3)})
    batch.step(2e-3, steps=50)
    q = batch.q
    mask = np.arange(N) % 3 == 0
    batch.reset(mask, standing(solo, 1)[0])
    assert np.array_equal(batch.q[~mask], q[~mask])
    batch.step(2e-3, steps=50)
    assert np.array_equal(batch.q[mask], q[mask])  # the same fall once more


def test_saved_robots_repeat_their_motion(solo):
    batch = batch_of(solo)
    batch.start(standing(solo))
    batch.step(2e-3, steps=60)
    saved = batch.save(4)
    batch.step(2e-3, steps=20)
    q = batch.q
    batch.restore(4, saved)
    batch.step(2e-3, steps=20)
    assert np.array_equal(batch.q[4], q[4])


def test_targets_are_actions(solo):
    batch = batch_of(solo)
    batch.start(standing(solo, 2, height=1.0))
    targets = np.zeros((2, len(batch.drives)))
    targets[1] = 0.3
    batch.set_targets(targets)
    batch.step(2e-3, steps=100)
    joint = solo.state().q.size - 1
    assert batch.q[1, joint] > 0.1 > abs(batch.q[0, joint])


LONG_RUNS = {
    "contact batch": """
batch = esp.ContactBatch(robot, threads=1)
batch.start(np.tile(robot.state().q, (8, 1)))
run = lambda: batch.step(1e-3, 10**8)""",
    "batch simulation": """
robots = esp._core.ManyRobots(robot._core, threads=1)
robots.start(np.tile(robot.state().q, (8, 1)), np.zeros((8, robot.nv)))
run = lambda: robots.step(None, 1e-3, 10**8)""",
    "simulation": """
run = lambda: robot.simulate(robot.state(), duration=1e5, dt=1e-3, every=10**9)""",
    "simulation on ground": """
run = lambda: robot.simulate(robot.state(), duration=1e5, dt=1e-3, every=10**9,
                             ground={"shapes": [{"link": robot.links[-1], "sphere": 0.01}]})""",
    "batch of an algorithm without packs": """
q, v = np.zeros((10**6, robot.nq)), np.zeros((10**6, robot.nv))
run = lambda: robot.forward_dynamics(q, v, algorithm="kkt")""",
}


@pytest.mark.parametrize("kind", LONG_RUNS)
def test_interrupt_ends_many_steps(kind):
    program = f"""
import numpy as np, espalier as esp
robot = esp.load({str(ROOT / "robots" / "ur5.urdf")!r})
{LONG_RUNS[kind]}
print("runs", flush=True)
try:
    run()
except KeyboardInterrupt:
    print("ended")
"""
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout.readline() == b"runs\n"
            time.sleep(0.3)
            process.send_signal(signal.SIGINT)
            assert process.communicate(timeout=60)[0] == b"ended\n"
        finally:
            process.kill()


def test_numbers_that_are_none_are_no_open_loops(solo):
    """The robot has none."""
    batch = batch_of(solo)
    batch.start(standing(solo, 2))
    batch.restore(0, np.full_like(batch.save(0), np.nan))
    batch.step(1e-3)
    assert batch.status.tolist() == [4, 0]  # not_finite


def test_bad_input_is_refused_by_name(solo):
    batch = batch_of(solo)
    with pytest.raises(esp.Error, match="number of robots is 0, expected start"):
        batch.step(1e-3)
    with pytest.raises(esp.Error, match="number of robots is 0, expected start"):
        batch.save(0)
    batch.start(standing(solo, 2))
    cases = [
        (dict(masses={"trunc": [1, 1]}), esp.UnknownName, "did you mean 'trunk'"),
        (dict(masses={"trunk": [1, -1]}), esp.InvalidModel,
         "mass factor of link 'trunk' of robot 1 is -1, expected a positive number"),
        (dict(masses={"trunk": [np.nan, 1]}), esp.InvalidModel, "is nan, expected a positive"),
        (dict(masses={"trunk": [1, 1, 1]}), esp.SizeMismatch,
         r"shape of masses of link 'trunk' is \(3,\), expected \(2,\)"),
        (dict(masses={"hind_left_shank": [1, 1], "hind_left_foot": [1, 1]}), esp.InvalidModel,
         "welded to 'hind_left_shank'"),
        (dict(friction=[1, -1]), esp.InvalidModel, "friction factor of robot 1 is -1"),
        (dict(friction=[1]), esp.SizeMismatch, r"shape of friction is \(1,\), expected \(2,\)"),
        (dict(ground=[0, np.inf]), esp.InvalidModel, "ground offset of robot 1 is inf"),
        (dict(ground=[[0, 0]]), esp.SizeMismatch,
         r"shape of ground is \(1, 2\), expected \(2, 3\)"),
    ]
    for options, kind, text in cases:
        with pytest.raises(kind, match=text):
            batch.randomize(**options)
    with pytest.raises(esp.SizeMismatch, match="shape of mask"):
        batch.reset([True], standing(solo, 1))
    with pytest.raises(TypeError, match=r"mask is \[1\], expected 2 times True or False"):
        batch.reset([1], standing(solo, 1))
    for steps in (-4, 0, 1.7, None):
        with pytest.raises(TypeError, match="steps is .*, expected a whole number from 1"):
            batch.step(1e-3, steps)
    for gravity in ([0, 0], 9.81, "down"):
        with pytest.raises(TypeError, match="gravity is .*, expected three numbers"):
            batch.set_gravity(gravity)
    turned = standing(solo, 2)
    turned[1, 3:7] = 0.0
    text = "robot {}: length of the quaternion of joint 'root' is 0"
    with pytest.raises(esp.InvalidModel, match=text.format(1)):
        batch.start(turned)
    with pytest.raises(esp.InvalidModel, match=text.format(0)):
        batch.reset([True, False], turned[1])
    with pytest.raises(esp.InvalidModel, match="ground is 'plain', expected 'plane'"):
        esp.ContactBatch(solo, ground="plain")
    with pytest.raises(esp.UnknownName, match="did you mean 'kp'"):
        esp.ContactBatch(solo, drives={"front_left_knee": {"kpp": 1}})
    with pytest.raises(esp.UnknownName, match="dry_friction is 'row'"):
        esp.ContactBatch(solo, dry_friction="row")
    with pytest.raises(esp.UnknownName, match="no_foot"):
        esp.ContactBatch(solo, balls={"no_foot": 0.1})


def test_without_passive_forces_joints_have_no_dry_friction():
    """As simulate(passive=False) has it; friction of 12 N m holds a weight of 9.81 N m."""
    arm = esp.from_dict({
        "name": "arm",
        "links": {"post": {}, "arm": {"mass": 1, "com": [1, 0, 0], "inertia": [0, 0.2, 0, 0, 0, 0]}},
        "joints": {"j": {"type": "revolute", "parent": "post", "child": "arm", "axis": [0, 1, 0],
                         "friction": 12.0}},
    }).compile()
    speeds = {}
    for passive, dry in ((True, None), (False, None), (False, "rows"), (True, "none")):
        batch = esp.ContactBatch(arm, ground=None, passive=passive, dry_friction=dry)
        batch.start(np.zeros((1, 1)))
        batch.step(1e-3, steps=100)
        speeds[passive, dry] = batch.v[0, 0]
    free = arm.simulate(duration=0.1, dt=1e-3, passive=False).v[-1, 0]
    # Held exactly, or falling as simulate() has it, to the first order of the steps.
    assert speeds[True, None] == pytest.approx(0, abs=1e-9)
    assert speeds[False, "rows"] == pytest.approx(0, abs=1e-9)
    assert speeds[False, None] == pytest.approx(free, rel=1e-2) and free > 0.5
    assert speeds[True, "none"] == speeds[False, None]


def test_grounds_that_are_no_numbers_are_refused(models):
    model = models("double_pendulum.yaml")
    for ground in ({"friction": math.nan}, {"plane": {"height": math.inf}}):
        with pytest.raises(esp.InvalidModel, match="ground has a number that is not finite"):
            model.simulate(model.state(), duration=0.01, dt=1e-3, ground=ground)
