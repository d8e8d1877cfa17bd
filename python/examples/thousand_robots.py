# %% [markdown]
# # A thousand robots
#
# Batches compute eight states in the lanes of a register on every core. A thousand robots move at
# once, each with its own start, and how robust a controller is becomes a matter of seconds.

# %%
import numpy as np

import espalier as esp

robot = esp.load(esp.robot_file("double_pendulum.yaml"))
count = 1000

# %% [markdown]
# Equations of motion of a thousand states in one call.

# %%
Q, V = robot.random_states(count)
A = robot.forward_dynamics(Q, V, np.zeros_like(V))
M = robot.mass_matrix(Q)
assert A.shape == (count, robot.nv) and M.shape == (count, robot.nv, robot.nv)
assert np.allclose(np.einsum("nij,nj->ni", M, A), -robot.bias_force(Q, V), atol=1e-9)

# %% [markdown]
# A vector environment moves them: reset, step, as gymnasium has it.

# %%
target = np.array([0.5, -0.5])
env = esp.VectorEnv(
    robot,
    count,
    dt=2e-3,
    substeps=5,
    horizon=300,
    initial=lambda random, n: (random.uniform(-1, 1, (n, 2)), np.zeros((n, 2))),
    reward=lambda q, v, u: -np.sum((q - target) ** 2, axis=1) - 1e-3 * np.sum(u**2, axis=1),
)
observation, _ = env.reset(seed=1)
total = np.zeros(count)
for _ in range(300):
    q, v = observation[:, :2], observation[:, 2:]
    gravity = robot.bias_force(q, np.zeros_like(v))
    observation, reward, terminated, truncated, info = env.step(gravity + 20 * (target - q) - 4 * v)
    total += reward
error = np.max(np.abs(observation[:, :2] - target), axis=1)
print(f"largest error {error.max():.2e} rad, mean return {total.mean():.2f}")
assert error.max() < 0.05 and truncated.all()

# %% [markdown]
# The same controller on robots whose masses differ by up to a third: variants of one robot in one
# batch.

# %%
random = np.random.default_rng(1)
variants = []
for _ in range(20):
    d = robot.description
    for link in d.links.values():
        link.mass *= random.uniform(0.67, 1.33)
    variants.append(d.compile())
which = np.arange(count) % len(variants)
dynamics = robot.algorithm("c-aba", variants=variants)
q, v = np.zeros((count, 2)), np.zeros((count, 2))
for _ in range(1500):  # semi-implicit Euler
    tau = robot.bias_force(q, np.zeros_like(v)) + 20 * (target - q) - 4 * v
    v = v + 2e-3 * dynamics(q, v, tau, variant=which)
    q = q + 2e-3 * v
rest = np.max(np.abs(q - target), axis=1)
print(f"error at rest: median {np.median(rest):.3f} rad, largest {rest.max():.3f} rad")
assert rest.max() < 1.0
