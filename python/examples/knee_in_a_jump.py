"""Peak torque of a jumping leg's knee motor against link length and gear ratio.

A leg of two links whose knee is driven through a gear pushes its trunk up a rail, so that it leaves
the ground at a given speed. Each design is compiled anew; the sweep runs on all cores, or on the
cluster whose scheduler is given.

    knee_in_a_jump.py [DESIGNS] [SCHEDULER]
"""

import sys

import numpy as np

import espalier as esp


def leg(length, ratio):
    """A trunk on a vertical rail; the knee's rotor spins `ratio` times as fast as the shank."""
    rod = 1.0 * length**2 / 12
    return esp.from_dict({
        "name": "jumper",
        "links": {
            "ground": {},
            "trunk": {"mass": 6.0, "inertia": [0.05, 0.05, 0.05, 0, 0, 0]},
            "thigh": {"mass": 1.0, "com": [0, 0, -length / 2], "inertia": [rod, rod, 1e-4, 0, 0, 0]},
            "shank": {"mass": 1.0, "com": [0, 0, -length / 2], "inertia": [rod, rod, 1e-4, 0, 0, 0]},
            "rotor": {"mass": 0.25, "inertia": [5e-5, 8e-5, 5e-5, 0, 0, 0]},
        },
        "joints": {
            "rail": {"type": "prismatic", "parent": "ground", "child": "trunk", "axis": [0, 0, 1]},
            "hip": {"type": "revolute", "parent": "trunk", "child": "thigh", "axis": [0, 1, 0]},
            "knee": {"type": "revolute", "parent": "thigh", "child": "shank",
                     "xyz": [0, 0, -length], "axis": [0, 1, 0]},
            "rotor": {"type": "continuous", "parent": "thigh", "child": "rotor",
                      "axis": [0, 1, 0]},
        },
        "couplings": {"gear": {"predecessor": "shank", "successor": "rotor", "ratio": ratio}},
    }).compile()


def peak_torque(design, speed=2.0, samples=40):
    """Largest torque of the knee motor while the foot stands and the trunk gains `speed` [m/s]."""
    length, ratio = design["length"], design["ratio"]
    robot = leg(length, ratio)
    # The trunk rises evenly accelerated from a crouch at 0.6 to a stand at 0.95 of the leg's reach.
    low, high = 0.6 * 2 * length, 0.95 * 2 * length
    a = speed**2 / (2 * (high - low))
    z = np.linspace(low, high, samples)
    zd = np.sqrt(2 * a * (z - low))
    # Thigh and shank are as long as each other: z = 2 length cos(hip), knee = -2 hip.
    hip = np.arccos(z / (2 * length))
    hipd = -zd / (2 * length * np.sin(hip))
    hipdd = -(a + 2 * length * np.cos(hip) * hipd**2) / (2 * length * np.sin(hip))
    names = robot.coordinates
    order = [names.index(n) for n in ("rail", "hip", "knee")]
    q = np.zeros((samples, robot.nq))
    v, vdot = np.zeros((samples, 3)), np.zeros((samples, 3))
    for column, x, xd, xdd in zip(
        order, (z, hip, -2 * hip), (zd, hipd, -2 * hipd), (np.full(samples, a), hipdd, -2 * hipdd)
    ):
        v[:, column], vdot[:, column] = xd, xdd
        q[:, robot.joint(names[column])["q"]] = x
    for k in range(samples):
        q[k] = robot._core.couple(q[k])
    tau = robot.inverse_dynamics(q, v, vdot)
    # The ground's force on the foot drives the trunk's rail, which has no motor: J^T f.
    J = robot.jacobian("shank", q)
    foot = J[:, 3:] + np.cross(J[:, :3], np.array([0, 0, -length]), axisa=1, axisc=1)
    R = robot.pose("shank", q)[:, :3, :3]
    foot = np.einsum("nij,njk->nik", R, foot)
    vertical = foot[:, 2]
    force = tau[:, order[0]] / vertical[:, order[0]]
    knee = tau[:, order[2]] - force * vertical[:, order[2]]
    return {"length": length, "ratio": ratio, "motor_torque": np.max(np.abs(knee)) / ratio,
            "motor_speed": np.max(np.abs(v[:, order[2]])) * ratio}


def designs(count):
    """A grid of lengths [m] and ratios."""
    side = max(2, round(np.sqrt(count)))
    lengths, ratios = np.linspace(0.12, 0.3, side), np.linspace(4, 20, side)
    return [{"length": l, "ratio": r} for l in lengths for r in ratios]


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 10000
    client = None
    if len(sys.argv) > 2:
        from distributed import Client

        client = Client(sys.argv[2])
    found = esp.sweep(peak_torque, designs(count), client=client)
    table = found.table()
    best = int(np.argmin(table["motor_torque"]))
    print(found)
    print(f"least peak torque {table['motor_torque'][best]:.3f} Nm at length "
          f"{table['length'][best]:.3f} m, ratio {table['ratio'][best]:.1f}, motor speed "
          f"{table['motor_speed'][best]:.0f} rad/s")


if __name__ == "__main__":
    main()
