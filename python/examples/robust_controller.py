"""How robust a controller is to masses and friction: rollouts of robots that differ.

A double pendulum is held at a pose by PD control and gravity compensation of the nominal robot,
while masses and dry friction differ.

    robust_controller.py [ROLLOUTS] [SCHEDULER]
"""

import sys
from functools import lru_cache

import numpy as np

import espalier as esp

TARGET = np.array([0.6, -0.4])


@lru_cache(maxsize=1)
def nominal():
    """The robot that the controller believes in."""
    return esp.load(esp.robot_file("double_pendulum.yaml"))


def rollout(parameters, random):
    """Error at the end of one rollout; each has masses and friction of its own."""
    robot = nominal()
    d = robot.description
    masses = random.uniform(1 - parameters["spread"], 1 + parameters["spread"], 2)
    moving = [link for link in d.links.values() if link.mass > 0]
    for link, scale in zip(moving, masses):
        # The inertia grows with the mass.
        link.inertia = np.asarray(link.inertia) * scale
        link.mass *= scale
    friction = random.uniform(0, parameters["friction"])
    for joint in d.joints.values():
        joint.friction = friction
    real = d.compile()
    gravity = robot.bias_force(TARGET, np.zeros(2))
    names = robot.coordinates
    run = real.simulate(
        real.state(),
        duration=1.5,
        dt=2e-3,
        controller=esp.Pd({
            name: {"kp": parameters["kp"], "kd": parameters["kd"], "target": TARGET[k]}
            for k, name in enumerate(names)
        }),
        tau=gravity,
        integrator="semi-implicit-euler",
        every=1000000,
        progress=False,
    )
    error = float(np.max(np.abs(run.q[-1] - TARGET)))
    return {"error": error, "friction": friction, "mass": float(np.prod(masses))}


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100000
    client = None
    if len(sys.argv) > 2:
        from distributed import Client

        client = Client(sys.argv[2])
    items = [{"kp": 60.0, "kd": 12.0, "spread": 0.3, "friction": 0.5}] * count
    found = esp.sweep(rollout, items, client=client)
    table = found.table()
    print(found)
    print("error at the end [rad]: " + ", ".join(
        f"{p} % below {np.percentile(table['error'], p):.4f}" for p in (50, 90, 99)
    ))
    print(f"correlation with friction {np.corrcoef(table['error'], table['friction'])[0, 1]:.2f}, "
          f"with mass {np.corrcoef(table['error'], table['mass'])[0, 1]:.2f}")


if __name__ == "__main__":
    main()
