"""Dynamics of robots with loops, dense and without recursion over bodies.

Shares nothing with Espalier: no spatial vectors, no clusters, no G. A motion is a Taylor series in
time, (1, t, t^2/2 parts in the first axis of every array); poses along it give velocities and
accelerations of centres of mass, Newton's and Euler's equations give forces, virtual power gives
those on joints, and loops are rows phi(q) = 0 with multipliers (a KKT system over all joints).
"""
import numpy as np


def mul(a, b):
    """Product of two series of matrices."""
    return np.array([a[0] @ b[0], a[0] @ b[1] + a[1] @ b[0],
                     a[0] @ b[2] + 2 * a[1] @ b[1] + a[2] @ b[0]])


def constant(a):
    a = np.asarray(a, float)
    return np.array([a, 0 * a, 0 * a])


def skew(a):
    return np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])


def unskew(m):
    return np.array([m[2, 1], m[0, 2], m[1, 0]])


def turn(axis, angle):
    """Rotation about a fixed axis by a series (angle, rate, acceleration)."""
    axis = np.asarray(axis, float) / np.linalg.norm(axis)
    k, (a, w, dw) = skew(axis), angle
    r = np.eye(3) + np.sin(a) * k + (1 - np.cos(a)) * k @ k
    return np.array([r, w * k @ r, (dw * k + w * w * k @ k) @ r])


def rpy(angles):
    r, p, y = [turn(axis, (a, 0, 0))[0] for axis, a in zip(np.eye(3), angles)]
    return y @ p @ r


def quaternion(x, y, z, w):
    v = np.array([x, y, z])
    return np.eye(3) + 2 * w * skew(v) + 2 * skew(v) @ skew(v)


def joint_motion(joint, q, v, a):
    """Rotation and translation of a joint along its motion."""
    still, none = constant(np.eye(3)), constant(np.zeros(3))
    kind, axis = joint["type"], joint["axis"]
    if kind in ("revolute", "continuous"):
        return turn(axis, (q[0], v[0], a[0])), none
    if kind == "prismatic":
        return still, np.outer([q[0], v[0], a[0]], np.asarray(axis) / np.linalg.norm(axis))
    if kind == "universal":
        return mul(turn(axis, (q[0], v[0], a[0])),
                   turn(joint["axis2"], (q[1], v[1], a[1]))), none
    if kind == "floating":  # rates: twist in body axes, angular first; a: rates of its components
        r, w = quaternion(*q[3:]), skew(v[:3])
        return (np.array([r, r @ w, r @ (w @ w + skew(a[:3]))]),
                np.array([q[:3], r @ v[3:], r @ (a[3:] + w @ v[3:])]))
    assert kind == "fixed", kind
    return still, none


SIZES = {"fixed": (0, 0), "universal": (2, 2), "floating": (7, 6)}


class Robot:
    def __init__(self, links, joints, constraints, gravity):
        """links: name -> (mass, com, inertia about it); joints: parents first, each a dict with
        name, type, parent, child, xyz, rotation, axis, armature; constraints: functions of poses
        and joint positions (both series) that give a list of series."""
        self.links, self.joints, self.constraints = links, joints, constraints
        self.gravity = np.asarray(gravity, float)
        self.nq = self.nv = 0
        for j in joints:
            nq, nv = SIZES.get(j["type"], (1, 1))
            j["q"], j["v"] = slice(self.nq, self.nq + nq), slice(self.nv, self.nv + nv)
            self.nq, self.nv = self.nq + nq, self.nv + nv
        self.root = next(n for n in links if all(j["child"] != n for j in joints))

    def poses(self, q, v, a):
        """Rotations and origins of all links, as series."""
        at = {self.root: (constant(np.eye(3)), constant(np.zeros(3)))}
        for j in self.joints:
            r, p = at[j["parent"]]
            rj, pj = joint_motion(j, q[j["q"]], v[j["v"]], a[j["v"]])
            p = p + mul(r, constant(j["xyz"]))
            r = mul(r, constant(j["rotation"]))
            at[j["child"]] = mul(r, rj), p + mul(r, pj)
        return at

    def phi(self, q, v, a):
        at = self.poses(q, v, a)
        positions = {j["name"]: np.array([q[j["q"]][0], v[j["v"]][0], a[j["v"]][0]])
                     for j in self.joints if j["q"].stop - j["q"].start == 1}
        rows = [row for c in self.constraints for row in c(at, positions)]
        return np.array(rows).reshape(len(rows), 3).T

    def units(self):
        return np.eye(self.nv), np.zeros(self.nv)

    def K(self, q):
        unit, zero = self.units()
        return np.array([self.phi(q, e, zero)[1] for e in unit]).T

    def jacobians(self, q):
        """Of every link's origin and angular velocity, world axes."""
        unit, zero = self.units()
        moved = [self.poses(q, e, zero) for e in unit]
        return {n: (np.array([m[n][1][1] for m in moved]).T,
                    np.array([unskew(m[n][0][1] @ m[n][0][0].T) for m in moved]).T)
                for n in self.links}

    def equations(self, q, v, wrenches={}):
        """H and C of H a + C = forces on joints, loops open. Wrenches: on links, at their origins,
        in their axes, moment first."""
        unit, zero = self.units()
        at, J = self.poses(q, v, zero), self.jacobians(q)
        H, C = np.zeros((self.nv, self.nv)), np.zeros(self.nv)
        for name, (mass, com, inertia) in self.links.items():
            r, p = at[name]
            c, w_dot = p + mul(r, constant(com)), r[2] @ r[0].T + r[1] @ r[1].T
            w, I = unskew(r[1] @ r[0].T), r[0] @ inertia @ r[0].T
            Jp, Jw = J[name]
            Jc = Jp - skew(c[0] - p[0]) @ Jw
            H += mass * Jc.T @ Jc + Jw.T @ I @ Jw
            C += mass * Jc.T @ (c[2] - self.gravity)
            C += Jw.T @ (I @ unskew(w_dot) + np.cross(w, I @ w))
            if name in wrenches:
                moment, force = np.reshape(wrenches[name], (2, 3))
                C -= Jw.T @ (r[0] @ moment) + Jp.T @ (r[0] @ force)
        for j in self.joints:
            H[j["v"], j["v"]] += j["armature"] * np.eye(j["v"].stop - j["v"].start)
        return H, C

    def constrained(self, q, v, H, right, k=None):
        """H x - K^T lambda = right, K x = k; K may have dependent rows. right: one or more columns.
        k: accelerations of the rows at rest of x, by default those of the motion."""
        K = self.K(q)
        if k is None:
            k = -self.phi(q, v, np.zeros(self.nv))[2] if len(K) else np.zeros(0)
        # Rows and columns to one scale: what is small against the rest is dependence, not size.
        d = np.diag(H)
        d = 1 / np.sqrt(np.where(d > 0, d, np.median(d[d > 0])))  # pulleys may have no mass
        u, s, vt = np.linalg.svd(K * d) if len(K) else (None, np.zeros(0), np.eye(self.nv))
        rank = int(np.sum(s > 1e-9 * max(s, default=1)))
        N, R = vt[rank:].T, vt[:rank].T
        shape = np.zeros_like(right)
        fixed = R @ ((u[:, :rank].T @ k) / s[:rank]) if rank else np.zeros(self.nv)
        fixed = fixed if right.ndim == 1 else shape + fixed[:, None]
        Hs = (H * d).T * d
        x = fixed + N @ np.linalg.solve(N.T @ Hs @ N, N.T @ ((right.T * d).T - Hs @ fixed))
        return (x.T * d).T

    def close(self, q):
        """Least change of q that closes all loops."""
        for _ in range(60):
            zero = np.zeros(self.nv)
            phi = self.phi(q, zero, zero)[0] if self.constraints else np.zeros(0)
            if len(phi) == 0 or np.max(np.abs(phi)) < 1e-15:
                break
            step = np.linalg.lstsq(self.K(q), -phi, rcond=1e-9)[0]
            step *= min(1, 0.5 / max(1e-9, np.max(np.abs(step))))
            for j in self.joints:
                if j["type"] != "floating":  # no loop closes over the root
                    q[j["q"]] += step[j["v"]]
        return q
