"""MuJoCo as a second program: a robot of dense.py as MJCF, and accelerations from it."""
import os
import subprocess

import numpy as np

from dense import quaternion as matrix

FORMAT = lambda x: " ".join(repr(float(y)) for y in np.ravel(x))


def quaternion(r):
    """w x y z of a rotation matrix."""
    k = np.array([[r[0, 0] - r[1, 1] - r[2, 2], 0, 0, 0],
                  [r[0, 1] + r[1, 0], r[1, 1] - r[0, 0] - r[2, 2], 0, 0],
                  [r[0, 2] + r[2, 0], r[1, 2] + r[2, 1], r[2, 2] - r[0, 0] - r[1, 1], 0],
                  [r[2, 1] - r[1, 2], r[0, 2] - r[2, 0], r[1, 0] - r[0, 1], np.trace(r)]])
    v = np.linalg.eigh(k)[1][:, -1]
    return np.r_[v[3], v[:3]]


def body(robot, link):
    mass, com, inertia = robot.links[link]
    text = ""
    if mass > 0:
        i = inertia
        text += (f'<inertial pos="{FORMAT(com)}" mass="{mass!r}" fullinertia="'
                 f'{FORMAT([i[0, 0], i[1, 1], i[2, 2], i[0, 1], i[0, 2], i[1, 2]])}"/>')
    for j in robot.joints:
        if j["parent"] != link:
            continue
        text += f'<body name="{j["child"]}" pos="{FORMAT(j["xyz"])}" quat="{FORMAT(quaternion(j["rotation"]))}">'
        if j["type"] == "floating":
            text += f'<freejoint name="{j["name"]}"/>'
        elif j["type"] != "fixed":
            kind = "slide" if j["type"] == "prismatic" else "hinge"
            text += (f'<joint name="{j["name"]}" type="{kind}" axis="{FORMAT(j["axis"])}" '
                     f'armature="{j["armature"]!r}"/>')
        text += body(robot, j["child"]) + "</body>"
    return text


def can(robot):
    """MuJoCo wants inertias that bodies with extent in all directions can have."""
    moments = [np.linalg.eigvalsh(i) for m, c, i in robot.links.values() if m > 0]
    return all(e[0] > 0 and e[0] + e[1] >= e[2] for e in moments)


def accelerations(robot, states, program, folder):
    """Accelerations of joints under forces on joints alone, in the conventions of dense.py."""
    model = os.path.join(folder, "robot.xml")
    with open(model, "w") as file:
        file.write('<mujoco><compiler angle="radian" boundmass="0" boundinertia="0"/>'
                   f'<option gravity="{FORMAT(robot.gravity)}"/><worldbody>'
                   + body(robot, robot.root) + "</worldbody></mujoco>")
    moving = [j for j in robot.joints if j["type"] != "fixed"]
    lines = []
    for q, v, tau in states:
        for j in moving:
            qj, vj, fj = q[j["q"]], v[j["v"]], tau[j["v"]]
            if j["type"] == "floating":  # w x y z; linear first, in world axes
                r = matrix(*qj[3:])
                qj = np.r_[qj[:3], qj[6], qj[3:6]]
                vj, fj = np.r_[r @ vj[3:], vj[:3]], np.r_[r @ fj[3:], fj[:3]]
            lines.append(" ".join([j["name"], FORMAT(qj), FORMAT(vj), FORMAT(fj)]))
        lines.append("solve")
    out = subprocess.run([program, model], input="\n".join(lines) + "\n", text=True, check=True,
                         stdout=subprocess.PIPE).stdout.splitlines()
    version, rows = out[0], out[1:]
    results = []
    for q, v, tau in states:
        a, found = np.zeros(robot.nv), {}
        for j in moving:
            name, *values = rows.pop(0).split()
            found[name] = np.array([float(x) for x in values])
        for j in moving:
            x = found[j["name"]]
            if j["type"] == "floating":
                r, w, lin = matrix(*q[j["q"]][3:]), v[j["v"]][:3], v[j["v"]][3:]
                # The origin's acceleration, to the rate of its velocity's body components.
                x = np.r_[x[3:], r.T @ x[:3] - np.cross(w, lin)]
            a[j["v"]] = x
        results.append(a)
    return version, results
