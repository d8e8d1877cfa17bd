"""What a compiled robot is: names, sizes, clusters."""

from __future__ import annotations

import threading
from functools import cached_property
from typing import Any

import numpy as np

from .errors import unknown
from .host import Host


class Facts:
    """Names and numbers of a compiled robot; what Model is made of."""

    def __init__(self, core: Any, laws: list[dict[str, Any]] | None = None):
        self._core = core
        self._laws = laws or []  # of Python, as they were when it was compiled
        self._local = threading.local()

    @property
    def host(self) -> Host:
        """The registry that it was compiled with."""
        return self._core.host

    @property
    def name(self) -> str:
        """Of the robot."""
        return self._core.name

    @property
    def nq(self) -> int:
        """Number of positions, of all joints of the spanning tree."""
        return self._core.nq

    @property
    def nv(self) -> int:
        """Number of independent rates."""
        return self._core.nv

    @property
    def mass(self) -> float:
        """Of everything that moves [kg]."""
        return self._core.mass

    @property
    def gravity(self) -> tuple[float, float, float]:
        """[m/s²], world axes."""
        return self._core.gravity

    @cached_property
    def _joint_by_name(self) -> dict[str, dict[str, Any]]:
        place = {rate: k for k, rate in enumerate(self._core.independent_rates())}
        return {
            j["name"]: {
                **j, "rates": [place.get(rate) for rate in range(j["rate"], j["rate"] + j["nv"])]
            }
            for j in self._core.joints()
        }

    @cached_property
    def _independent_positions(self) -> dict[str, slice]:
        """Places in q that may be set, by coordinate: joints, and single rates of joints of which
        others depend, where each rate is that of a position of its own."""
        q = self._core.random(1)
        step = np.linspace(0.1, 0.2, self._core.spanning_nv)
        moved = self._core.integrate(q, step) - q
        out = {}
        for name, joint, _, size, component in self._core.coordinates():
            j = self._joint_by_name[joint]
            at, end, rate = j["q"], j["q"] + j["nq"], j["rate"]
            if size == j["nv"]:
                out[name] = slice(at, end)
            elif j["nq"] == j["nv"] and np.allclose(
                moved[at:end], step[rate : rate + j["nv"]], rtol=0, atol=1e-9
            ):
                out[name] = slice(at + component, at + component + size)
        return out

    # Lists and dicts are the caller's own: a model is shared by all who ask.

    @property
    def joints(self) -> list[str]:
        """Names of the joints that move, in the order of q."""
        return list(self._joint_by_name)

    @cached_property
    def _links(self) -> tuple[str, ...]:
        return tuple(link["name"] for link in self._core.links())

    @property
    def links(self) -> list[str]:
        """Names of the links, in the order of forward kinematics and of wrenches."""
        return list(self._links)

    @cached_property
    def _coordinates(self) -> tuple[str, ...]:
        return tuple(c[0] for c in self._core.coordinates())

    @property
    def coordinates(self) -> list[str]:
        """Names of the independent coordinates, a joint of several rates once, in the order of v."""
        return list(self._coordinates)

    @property
    def clusters(self) -> list[dict[str, Any]]:
        """The cluster tree: name, parent, joints, constraints, nv, what each was recognised as."""
        return self._core.clusters()

    @property
    def tips(self) -> list[str]:
        """Links that move and carry no other."""
        return self._core.tips()

    @property
    def options(self) -> dict[str, str]:
        """How it was compiled: root, mimic, rotors."""
        return self._core.options

    def joint(self, name: str) -> dict[str, Any]:
        """Type, limits and places in q and v of a joint.

        rates: the place in v of each of its rates, None for those that depend on others.
        independent: the first of these places if all are independent, else None.
        """
        if name not in self._joint_by_name:
            raise unknown(f"model '{self.name}'", "joint", name, self.joints)
        joint = self._joint_by_name[name]
        return {**joint, "rates": list(joint["rates"])}
