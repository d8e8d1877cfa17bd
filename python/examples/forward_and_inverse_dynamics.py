# %% [markdown]
# # Forward and inverse dynamics
#
# Tello is a biped whose hips, knees and ankles are driven by differentials. Its links are tied into
# clusters by loop constraints; algorithms run on the tree of clusters.

# %%
import numpy as np

import espalier as esp

robot = esp.load(esp.robot_file("tello.yaml"), root="floating")
robot  # in a notebook: joints, links, and the cluster tree

# %% [markdown]
# A state closes its loops. Its arrays go straight into every algorithm.

# %%
x = robot.state({"left.hip.rotor1": 0.3, "right.knee_ankle.rotor2": -0.2})
print("knee:", x["right.knee_ankle.shin"], "rad; loops open by", x.residual)
x.v[:] = np.linspace(-1, 1, robot.nv)

# %% [markdown]
# Forces to accelerations, and back.

# %%
tau = np.zeros(robot.nv)
vdot = robot.forward_dynamics(x.q, x.v, tau)
again = robot.inverse_dynamics(x.q, x.v, vdot)
print("largest acceleration", np.max(np.abs(vdot)), "; forces come back to", np.max(np.abs(again)))
assert np.allclose(again, tau, atol=1e-8)

# %% [markdown]
# The equation of motion, M vdot + h = tau.

# %%
M, h = robot.mass_matrix(x.q), robot.bias_force(x.q, x.v)
assert np.allclose(M @ vdot + h, tau, atol=1e-8)

# %% [markdown]
# Do all algorithms agree? Which, and what does each cost?

# %%
print(robot.compare(samples=5))
print(robot.forward_dynamics.__doc__)

# %% [markdown]
# Where a foot is, how it moves, and what a push on it needs from the joints.

# %%
foot = "left.knee_ankle.foot"
J = robot.jacobian(foot, x.q)
print("foot at", robot.pose(foot, x.q)[:3, 3], "m, twist", J @ x.v)
push = np.array([0, 0, 0, 0, 0, 10.0])  # moment, then force; link frame
pushed = robot.inverse_dynamics(x.q, x.v, vdot, wrenches={foot: push})
assert np.allclose(again - pushed, J.T @ push, atol=1e-8)

# %% [markdown]
# Many states are one call, on all cores.

# %%
Q, V = robot.random_states(1000)
A = robot.forward_dynamics(Q, V, np.zeros_like(V))
print(A.shape)

# %% [markdown]
# Letting go: half a second of fall, with a controller in Python that brakes the motors.

# %%
motors = slice(6, robot.nv)


def brake(t, q, v):
    """Damps the motors."""
    out = np.zeros(robot.nv)
    out[motors] = -1e-3 * v[motors]
    return out


run = robot.simulate(robot.state(), duration=0.5, dt=1e-3, controller=brake)
print(run)
run.to_pandas()[["kinetic", "gravity", "energy"]].describe()
