"""Peak torque of Tello's knee motors in a jump against link length and gear ratio.

Both legs push the torso upwards at an even acceleration, feet flat on the ground, until it is fast
enough to rise by 0.2 m. Each design is Tello with longer or shorter legs and another gear in its
knee-ankle differentials, compiled anew; the dynamics are those of the whole robot with the loops of
its differentials and its rotors. The sweep runs on all cores, or on the cluster whose scheduler is
given.

    knee_in_a_jump.py [DESIGNS] [--scheduler ADDRESS] [--table FILE] [--picture FILE]
"""

import argparse
import time
from functools import lru_cache

import numpy as np

import espalier as esp

SIDES = ("left", "right")
KNEE = ("knee_ankle.shin", "knee_ankle.foot")
MOTORS = ("knee_ankle.rotor1", "knee_ankle.rotor2")


@lru_cache(maxsize=1)
def tello():
    """Tello with what its links do as coordinates: a motion is given by them."""
    d = esp.read(esp.robot_file("tello.yaml"))
    for side in SIDES:
        for part in ("hip.rotor1", "hip.rotor2", *MOTORS):
            d.joints[f"{side}.{part}"].independent = False
        for part in ("hip.gimbal", "hip.thigh", *KNEE):
            d.joints[f"{side}.{part}"].independent = True
    return d


def design(length, ratio):
    """Tello with legs `length` times as long, and the gear ratio of its knee-ankle differentials.

    Thigh and shin grow. The shin is a tube: its mass grows with its length, its inertia across with
    the cube of it. The thigh's mass is that of the drives at its upper end and stays.
    """
    d = tello().copy()
    for side in SIDES:
        for joint in KNEE:  # the knee at the thigh's end, the ankle at the shin's
            d.joints[f"{side}.{joint}"].xyz = length * np.asarray(d.joints[f"{side}.{joint}"].xyz)
        shin = d.links[f"{side}.knee_ankle.shin"]
        shin.mass *= length
        shin.com = np.asarray(shin.com) * [1, 1, length]
        across = np.array([length**3, length**3, length])
        shin.inertia = np.asarray(shin.inertia) * np.sqrt(np.outer(across, across))
        d.laws[f"{side}.knee_ankle.tello_knee_ankle"].parameters = {"ratio": ratio}
    return d.compile(root="floating")


def push(length, speed, samples, crouch=0.6, stretch=0.86):
    """Thigh, shin and foot at even steps of a push: angles, rates and accelerations (samples, 3),
    and height, rate and acceleration of the hip above the ankle. The ankle is below the hip."""
    thigh, shin = 0.2268 * length, 0.26 * length
    low, high = crouch * (thigh + shin), stretch * (thigh + shin)
    a = speed**2 / (2 * (high - low))
    z = np.linspace(low, high, samples)
    zd = np.sqrt(2 * a * (z - low))

    def angle(near, far):
        """At the corner between z and `near` of the triangle of both links and z."""
        c = (z**2 + near**2 - far**2) / (2 * z * near)
        slope = (z**2 - near**2 + far**2) / (2 * z**2 * near)  # dc/dz
        curve = (near**2 - far**2) / (z**3 * near)
        s = np.sqrt(1 - c**2)
        x, xz = np.arccos(c), -slope / s
        xzz = -curve / s - c * slope**2 / s**3
        return np.array([x, xz * zd, xz * a + xzz * zd**2])

    at_hip, at_ankle = angle(thigh, shin), angle(shin, thigh)
    # The knee points forward: the thigh turns back by its angle, and the foot stays level.
    motion = np.stack([-at_hip, at_hip + at_ankle, -at_ankle], axis=-1)
    return motion, np.array([z, zd, np.full(samples, a)])


def states(robot, motion, rise):
    """q, v and vdot of the robot along the push."""
    samples = motion.shape[1]
    q = np.tile(robot.state().q, (samples, 1))
    v, vdot = np.zeros((samples, robot.nv)), np.zeros((samples, robot.nv))
    q[:, 2] = rise[0]
    v[:, 5], vdot[:, 5] = rise[1], rise[2]  # angular first
    for side in SIDES:
        for k, name in enumerate(("hip.thigh", *KNEE)):
            joint = robot.joint(f"{side}.{name}")
            q[:, joint["q"]] = motion[0, :, k]
            v[:, joint["independent"]] = motion[1, :, k]
            vdot[:, joint["independent"]] = motion[2, :, k]
    # The rotors, which turn often, follow from one state to the next: into the crouch, then up.
    closed = robot.state().q
    for x in closed + np.linspace(0, 1, 12)[:, None] * (q[0] - closed):
        closed = robot.close(x, start=closed)
    for k in range(samples):
        closed = q[k] = robot.close(q[k], start=closed)
    return q, v, vdot


def motor_torques(robot, q, tau):
    """Of the left knee's two motors (samples, 2), and their rates for unit rates of shin and foot."""
    columns = [robot.joint(f"left.{name}")["independent"] for name in KNEE]
    rows = [robot.joint(f"left.{name}")["rate"] for name in MOTORS]
    rates = np.array([[robot.spanning_rates(x, np.eye(robot.nv)[c])[rows] for c in columns] for x in q])
    return np.linalg.solve(rates, tau[:, columns, None])[..., 0], rates


def jump(parameters, speed=2.0, samples=40):
    """A push of one design: its states, forces of the ground on each foot, and knees."""
    robot = design(parameters["length"], parameters["ratio"])
    q, v, vdot = states(robot, *push(parameters["length"], speed, samples))
    tau = robot.inverse_dynamics(q, v, vdot)
    # Nothing drives the root: what moves it are the ground's wrenches on both feet, each its half.
    J = np.concatenate([robot.jacobian(f"{side}.knee_ankle.foot", q) for side in SIDES], axis=1)
    ground = np.einsum("nij,nj->ni", np.linalg.pinv(J[:, :, :6].transpose(0, 2, 1)), tau[:, :6])
    tau = tau - np.einsum("nij,ni->nj", J, ground)
    torques, rates = motor_torques(robot, q, tau)
    knee = [robot.joint(f"left.{name}")["independent"] for name in KNEE]
    speeds = np.einsum("nji,nj->ni", rates, v[:, knee])
    return {"robot": robot, "q": q, "v": v, "tau": tau, "ground": ground, "torques": torques,
            "speeds": speeds, "knee": tau[:, knee[0]]}


def peak_torque(parameters, speed=2.0):
    """Peaks of a design: torque [N m] and speed [rad/s] of the knee's motors, torque of the knee,
    and how far from the ankle the ground's force goes through the foot [m]."""
    found = jump(parameters, speed)
    foot = found["ground"][:, :6]  # moment and force, in axes that are the world's: the foot is level
    pressure = -foot[:, 1] / foot[:, 5]
    return {**parameters, "motor_torque": np.max(np.abs(found["torques"])),
            "motor_speed": np.max(np.abs(found["speeds"])),
            "knee_torque": np.max(np.abs(found["knee"])),
            "heel": np.min(pressure), "toe": np.max(pressure)}


def designs(count):
    """A grid of lengths, relative to Tello's, and ratios; Tello's is 6."""
    side = max(2, round(np.sqrt(count)))
    lengths, ratios = np.linspace(0.6, 1.6, side), np.linspace(3, 24, side)
    return [{"length": l, "ratio": r} for l in lengths for r in ratios]


def draw(table, file):
    """Peak torque by length and ratio, and lines of equal motor speed over it."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    side = round(np.sqrt(len(table["length"])))
    length, ratio, torque, speed = (
        table[name].reshape(side, side) for name in ("length", "ratio", "motor_torque", "motor_speed")
    )
    figure, axes = plt.subplots(figsize=(7, 4.5), layout="constrained")
    levels = np.geomspace(torque.min(), torque.max(), 17)
    filled = axes.contourf(ratio, length, torque, levels, norm="log", cmap="viridis")
    figure.colorbar(filled, label="peak torque of a knee motor [N m]", ticks=levels[::2],
                    format="%.2f")
    lines = axes.contour(ratio, length, speed, levels=8, colors="white", linewidths=0.8)
    axes.clabel(lines, fmt="%.0f rad/s", fontsize=8)
    least = np.argmin(torque, axis=1)
    axes.plot(ratio[0, least], length[:, 0], "k--", linewidth=1, label="least torque at a length")
    axes.plot(6, 1, "o", color="tab:red", label="Tello")
    axes.set(xlabel="gear ratio", ylabel="length of the legs, Tello's = 1")
    axes.legend(loc="upper right", fontsize=8)
    figure.savefig(file)


def main():
    words = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    words.add_argument("designs", type=int, nargs="?", default=10000)
    words.add_argument("--scheduler", help="address of dask's scheduler")
    words.add_argument("--table", help="file to write, .csv or .h5")
    words.add_argument("--picture", help="file to draw, .svg, .png, ...")
    given = words.parse_args()
    client = None
    if given.scheduler:
        from distributed import Client

        client = Client(given.scheduler)
    start = time.perf_counter()
    found = esp.sweep(peak_torque, designs(given.designs), client=client)
    print(f"{found}, {time.perf_counter() - start:.0f} s")
    table = found.table()
    best = int(np.nanargmin(table["motor_torque"]))
    print(f"least peak torque {table['motor_torque'][best]:.3f} Nm at length "
          f"{table['length'][best]:.2f}, ratio {table['ratio'][best]:.1f}, motor speed "
          f"{table['motor_speed'][best]:.0f} rad/s")
    if given.table:
        found.write(given.table)
    if given.picture:
        draw(table, given.picture)


if __name__ == "__main__":
    main()
