# %% [markdown]
# # A linkage of one's own
#
# A knee is driven by a ball screw. The screw spans two points at the distances a and b from the
# knee's axis; one turn of its motor makes it longer by `lead`. That is one equation between two
# joint positions, the law of cosines. It is written in NumPy, traced once, differentiated, and runs
# in C++ from then on.

# %%
import numpy as np

import espalier as esp


@esp.mechanism
class BallScrewKnee:
    """knee driven by a ball screw"""

    positions = 2  # of the motor and of the knee
    parameters = {"a": None, "b": None, "length": None, "lead": 0.01}  # [m]
    sample = {"a": 0.05, "b": 0.22, "length": 0.19767}

    def phi(self, q):
        """Zero where motor and knee fit."""
        screw = self.lead / (2 * np.pi) * q[0] + self.length
        return self.a**2 + self.b**2 - 2 * self.a * self.b * np.cos(q[1]) - screw**2


# %% [markdown]
# A leg with this knee. Descriptions may also be read from a file and edited.

# %%
d = esp.Description("screw_leg")
d.add_link("pelvis")
d.add_link("thigh", mass=4, com=[0, 0, -0.2], inertia=np.diag([0.05, 0.05, 0.004]))
d.add_link("shank", mass=2, com=[0, 0, -0.18], inertia=np.diag([0.03, 0.03, 0.002]))
d.add_link("rotor", mass=0.3, inertia=np.diag([4e-5, 4e-5, 6e-5]))
d.add_joint("hip", "revolute", "pelvis", "thigh", axis=[0, 1, 0])
d.add_joint("knee", "revolute", "thigh", "shank", xyz=[0, 0, -0.4], axis=[0, 1, 0],
            lower=0.5, upper=2.4)
d.add_joint("motor", "continuous", "thigh", "rotor", xyz=[-0.05, 0, -0.1], axis=[0, 0, 1],
            independent=False)
d.add_law("screw", BallScrewKnee.name, ["motor", "knee"], a=0.05, b=0.22, length=0.19767)
leg = d.compile()
leg

# %% [markdown]
# The motor follows the knee; how many of its turns a radian of the knee takes depends on the angle.

# %%
x = leg.state()
for angle in (0.8, 1.2, 1.6, 2.0):
    x["knee"] = angle
    x.rate["knee"] = 1.0
    ratio = leg.spanning_rates(x.q, x.v)[leg.joint("motor")["rate"]]
    print(f"knee {angle} rad: motor {x['motor']:8.3f} rad, ratio {ratio:7.2f}")

# %% [markdown]
# All algorithms for loops run on it, and agree; so does the simulation keep the energy.

# %%
agreement = leg.compare(samples=10)
print(agreement)
assert agreement
run = leg.simulate(leg.state({"knee": 1.5}), duration=0.2, dt=2e-4)
assert np.max(np.abs(run.energy - run.energy[0])) < 1e-6
run

# %% [markdown]
# How the inertia that the knee feels depends on the lead of the screw.

# %%
for lead in (0.005, 0.01, 0.02):
    law = d.laws["screw"]
    law.parameters = {**law.parameters, "lead": lead}
    variant = d.compile()
    q = variant.state({"knee": 1.5}).q
    print(f"lead {1e3 * lead:4.1f} mm: {variant.mass_matrix(q)[1, 1]:.3f} kg m²")
