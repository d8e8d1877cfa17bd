#!/usr/bin/env python3
"""Writes tests/reference/results/*.json: what dense.py and, for trees, MuJoCo compute for the
robots of robots/ and tests/reference/robots/.

    tests/reference/make.py <espalier's command line> <espalier_reference_mujoco> [robot ...]

The command line only flattens robots that are composed of subsystems. Needs numpy and PyYAML
(Debian: python3-numpy python3-yaml). The same seeds give the same files up to rounding.
"""
import json
import os
import subprocess
import sys
import tempfile
import zlib

import numpy as np

import mjcf
import robots
from dense import constant, mul, unskew

HERE = os.path.dirname(os.path.abspath(__file__))
STATES = 3
# Joints of these robots bring equations of their own, which are no bodies and no loops.
BEYOND = {"elastic_arm.yaml"}


def listed(x):
    """Numbers with all their digits, and no minus zero."""
    return (np.asarray(x, float) + 0.0).tolist()


def by_joint(robot, x, which):
    return {j["name"]: listed(x[j[which]]) for j in robot.joints if j[which].stop > j[which].start}


def end_effectors(robot):
    """Two links that carry no other, the first and the last."""
    parents = {j["parent"] for j in robot.joints}
    leaves = [n for n in robot.links if n not in parents]
    return sorted({leaves[0], leaves[-1]})


def random_state(robot, rng):
    q = np.zeros(robot.nq)
    for j in robot.joints:
        if j["type"] == "floating":
            q[j["q"]] = rng.uniform(-1, 1, 7)
            q[j["q"]][3:] /= np.linalg.norm(q[j["q"]][3:])
    start = q.copy()
    # Loops close near zero; far from it they may have no solution.
    for reach in (0.6, 0.3, 0.1, 0.03, 0.0):
        q = start.copy()
        for j in robot.joints:
            if j["type"] != "floating":
                q[j["q"]] += reach * rng.uniform(-1, 1, j["q"].stop - j["q"].start)
        q = robot.close(q)
        zero = np.zeros(robot.nv)
        if not robot.constraints or np.max(np.abs(robot.phi(q, zero, zero)[0])) < 1e-13:
            return q
    raise RuntimeError("no closed position found")


def state(robot, rng):
    q, zero = random_state(robot, rng), np.zeros(robot.nv)
    still = np.zeros(len(robot.K(q)) if robot.constraints else 0)
    v = robot.constrained(q, zero, np.eye(robot.nv), rng.uniform(-1, 1, robot.nv), still)
    tau = rng.uniform(-5, 5, robot.nv)
    loaded = rng.choice([n for n in robot.links if robot.links[n][0] > 0], 2)
    wrenches = {str(n): rng.uniform(-3, 3, 6) for n in loaded}
    H, C = robot.equations(q, v, wrenches)
    vdot = robot.constrained(q, v, H, tau - C)
    wanted = robot.constrained(q, v, H, H @ rng.uniform(-5, 5, robot.nv))
    at, J = robot.poses(q, v, wanted), robot.jacobians(q)
    mass = sum(m for m, c, i in robot.links.values())
    coms = {n: at[n][1] + mul(at[n][0], constant(c)) for n, (m, c, i) in robot.links.items()}
    links, rows = {}, []
    for n in end_effectors(robot):
        r, p = at[n]
        w = r[0].T @ unskew(r[1] @ r[0].T)
        velocity = r[0].T @ p[1]
        dw = r[0].T @ unskew(r[2] @ r[0].T + r[1] @ r[1].T)
        links[n] = {"rotation": listed(r[0]), "position": listed(p[0]),
                    "twist": listed(np.r_[w, velocity]),
                    "acceleration": listed(np.r_[dw, r[0].T @ p[2] - np.cross(w, velocity)])}
        rows += [r[0].T @ J[n][1], r[0].T @ J[n][0]]
    rows = np.vstack(rows)
    osim = rows @ robot.constrained(q, v, H, rows.T, still)
    return {"q": by_joint(robot, q, "q"), "v": by_joint(robot, v, "v"),
            "tau": by_joint(robot, tau, "v"), "wrenches": {n: listed(w) for n, w in wrenches.items()},
            "vdot": by_joint(robot, vdot, "v"), "wanted": by_joint(robot, wanted, "v"),
            "force": by_joint(robot, H @ wanted + C, "v"), "momentum": by_joint(robot, H @ v, "v"),
            "kinetic": float(v @ H @ v / 2),
            "potential": float(-sum(m * robot.gravity @ coms[n][0] for n, (m, c, i) in robot.links.items())),
            "center_of_mass": listed(sum(m * coms[n] for n, (m, c, i) in robot.links.items()) / mass),
            "links": links, "inverse_osim": listed(osim)}, (q, v, tau)



def compact(x):
    """JSON with a line for each entry of the outer levels."""
    def text(value, depth):
        if isinstance(value, dict) and depth < 3:
            inside = ",\n".join(json.dumps(k) + ": " + text(v, depth + 1) for k, v in value.items())
            return "{\n" + inside + "\n}"
        if isinstance(value, list) and value and isinstance(value[0], dict):
            return "[\n" + ",\n".join(text(v, depth + 1) for v in value) + "\n]"
        return json.dumps(value)
    return text(x, 0) + "\n"


def make(path, cli, mujoco):
    name = os.path.basename(path)
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    with tempfile.TemporaryDirectory() as folder:
        flat = path
        if path.endswith(".yaml"):
            flat = os.path.join(folder, "flat.yaml")
            subprocess.run([cli, "convert", path, "-o", flat], check=True, stdout=subprocess.DEVNULL)
        robot = robots.read(flat)
        states, raw = zip(*[state(robot, rng) for _ in range(STATES)])
        out = {"robot": os.path.relpath(path, os.path.join(HERE, "..", "..")),
               "floating": robot.joints[0]["type"] == "floating",
               "by": "dense.py, numpy " + np.__version__, "states": list(states)}
        if not robot.constraints and mjcf.can(robot):
            version, accelerations = mjcf.accelerations(robot, raw, mujoco, folder)
            out["tree_by"] = version
            for s, a in zip(out["states"], accelerations):
                s["vdot_without_wrenches"] = by_joint(robot, a, "v")
    with open(os.path.join(HERE, "results", name + ".json"), "w") as file:
        file.write(compact(out))
    print(name, "floating" if out["floating"] else "fixed", robot.nv, "joint rates",
          len(robot.K(raw[0][0])) if robot.constraints else 0, "rows", out.get("tree_by", ""))


def tello_laws(rng):
    """phi, K and k of Tello's differentials at positions that need not close them."""
    out = {}
    for kind, f in (("tello_hip", robots.tello_hip), ("tello_knee_ankle", robots.tello_knee_ankle)):
        def phi(q, v):
            s = [np.array([a, b, 0.0]) / (6 if i < 2 else 1) for i, (a, b) in enumerate(zip(q, v))]
            return np.array(f(s[:2], s[2:]))
        out[kind] = []
        for _ in range(5):
            q, qd = rng.uniform(-1, 1, 4) * [3, 3, 0.6, 0.6], rng.uniform(-2, 2, 4)
            out[kind].append({"q": listed(q), "qd": listed(qd), "phi": listed(phi(q, qd)[:, 0]),
                              "K": listed(np.array([phi(q, e)[:, 1] for e in np.eye(4)]).T),
                              "k": listed(-phi(q, qd)[:, 2])})
    with open(os.path.join(HERE, "tello_laws.json"), "w") as file:
        file.write(compact({"by": "robots.py, numpy " + np.__version__, **out}))


if __name__ == "__main__":
    cli, mujoco, chosen = sys.argv[1], sys.argv[2], sys.argv[3:]
    os.makedirs(os.path.join(HERE, "results"), exist_ok=True)
    if not chosen:
        tello_laws(np.random.default_rng(1))
    for folder in (os.path.join(HERE, "..", "..", "robots"), os.path.join(HERE, "robots")):
        for file in sorted(os.listdir(folder)):
            if file in BEYOND or not file.endswith((".yaml", ".urdf")):
                continue
            if not chosen or file in chosen:
                make(os.path.normpath(os.path.join(folder, file)), cli, mujoco)
