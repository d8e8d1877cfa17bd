"""Robots for dense.py: a URDF reader, and one for Espalier's flat YAML (links, joints, loops,
couplings, laws; `espalier convert` writes it from robots that are composed of subsystems)."""
import xml.etree.ElementTree as xml

import numpy as np
import yaml

from dense import Robot, constant, mul, rpy, turn


def numbers(text, default):
    return np.array([float(x) for x in text.split()]) if text else np.array(default, float)


def joint(name, kind, parent, child, xyz, angles, axis, armature=0.0, axis2=None):
    return {"name": name, "type": kind, "parent": parent, "child": child, "xyz": np.array(xyz, float),
            "rotation": rpy(angles), "axis": axis, "axis2": axis2, "armature": armature}


def parents_first(joints):
    known, order, left = set(), [], list(joints)
    children = {j["child"] for j in left}
    known.update(j["parent"] for j in left if j["parent"] not in children)
    while left:
        ready = [j for j in left if j["parent"] in known]
        assert ready, "joints form a circle"
        order += ready
        known.update(j["child"] for j in ready)
        left = [j for j in left if j["child"] not in known]
    return order


def tied(joint, factor, other, offset):
    """q(joint) = factor q(other) + offset."""
    return lambda at, q: [q[joint] - factor * q[other] - np.array([offset, 0, 0])]


def coupled(ratio, predecessors, successors):
    return lambda at, q: [ratio * sum(q[j] for j in predecessors) - sum(q[j] for j in successors)]


def frame(at, link, xyz, angles=(0, 0, 0)):
    r, p = at[link]
    return mul(r, constant(rpy(angles))), p + mul(r, constant(xyz))


def inner(a, b):
    return np.array([a[0] @ b[0], a[1] @ b[0] + a[0] @ b[1],
                     a[2] @ b[0] + 2 * a[1] @ b[1] + a[0] @ b[2]])


def along(r, axis):
    return mul(r, constant(axis))


def across(axis):
    axis = np.asarray(axis, float) / np.linalg.norm(axis)
    u = np.cross(axis, np.eye(3)[np.argmin(np.abs(axis))])
    return u / np.linalg.norm(u), np.cross(axis, u / np.linalg.norm(u))


def loop(kind, predecessor, successor, axis, length=None):
    """Rows of a loop joint between two frames (link, xyz, rpy)."""
    def rows(at, q):
        (rp, p), (rs, s) = frame(at, *predecessor), frame(at, *successor)
        d = s - p
        if kind == "rod":
            return [inner(d, d) - np.array([length**2, 0, 0])]
        offset = [inner(along(rp, e), d) for e in np.eye(3)]
        if kind == "spherical":
            return offset
        assert kind in ("revolute", "continuous"), kind
        return offset + [inner(along(rp, axis), along(rs, u)) for u in across(axis)]
    return rows


def common_path(joints, a, b):
    """Joints from the nearest common ancestor to each of two links."""
    above = {j["child"]: j for j in joints}

    def up(link):
        path = []
        while link in above:
            path.append(above[link])
            link = above[link]["parent"]
        return path
    first, second = up(a), up(b)
    while first and second and first[-1] is second[-1]:
        first.pop(), second.pop()
    return [[j["name"] for j in path if j["type"] != "fixed"] for path in (first, second)]


def tello_hip(y, l):
    """docs/theory/tello.md; products of sines and cosines of series."""
    wave = lambda a: (turn((0, 0, 1), a)[:, 1, 0], turn((0, 0, 1), a)[:, 0, 0])
    times = lambda a, b: np.array([a[0] * b[0], a[0] * b[1] + a[1] * b[0],
                                   a[0] * b[2] + 2 * a[1] * b[1] + a[2] * b[0]])
    (s1, c1), (s2, c2) = wave(l[0]), wave(l[1])
    rows = []
    for yi, sign in zip(y, (1, -1)):
        s, c = wave(yi)
        rows.append(57 / 2500 * s - 49 / 5000 * c1 - sign * 399 / 20000 * s1
                    - 8 / 625 * times(c, c2) - 57 / 2500 * times(c1, s2)
                    - sign * 7 / 625 * times(s, s1) + sign * 7 / 625 * times(s1, s2)
                    - 8 / 625 * times(times(c1, s), s2) + np.array([3021 / 160000, 0, 0]))
    return rows


def tello_knee_ankle(y, l):
    wave = lambda a, shift: (turn((0, 0, 1), a + np.array([shift, 0, 0]))[:, 1, 0],
                             turn((0, 0, 1), a + np.array([shift, 0, 0]))[:, 0, 0])
    d, pi = (y[0] - y[1]) / 2, np.pi
    phi = (21 / 6250 * wave(d, 1979 * pi / 4500)[1] - 13 / 625 * wave(d, 493 * pi / 1500)[1]
           - 7 / 2500 * wave(d + l[1], 231 * pi / 500)[0] + 91 / 5000 * wave(l[1], 2 * pi / 15)[0]
           - 147 / 50000 * wave(l[1], pi / 45)[0]
           + np.array([163349 / 6250000 - 273 / 12500 * np.cos(pi / 9), 0, 0]))
    return [phi, l[0] - (y[0] + y[1]) / 2]


def law(kind, names, parameters, joints):
    if kind == "geared_joint":
        return tied(names[1], parameters["ratio"][0], names[0], 0.0)
    if kind == "four_bar":  # a pin between the tips of coupler and rocker, in the plane of the bars
        by_name = {j["name"]: j for j in joints}
        base = by_name[names[0]]
        tip = [(by_name[names[i]]["child"], (parameters[bar][0], 0, 0))
               for i, bar in ((2, "coupler"), (1, "rocker"))]

        def rows(at, q):
            d = frame(at, *tip[0])[1] - frame(at, *tip[1])[1]
            plane = mul(at[base["parent"]][0], constant(base["rotation"]))
            return [inner(along(plane, e), d) for e in across(base["axis"])]
        return rows
    ratio = parameters.get("ratio", [6.0])[0]
    f = {"tello_hip": tello_hip, "tello_knee_ankle": tello_knee_ankle}[kind]
    return lambda at, q: f([q[n] / ratio for n in names[:2]], [q[n] for n in names[2:]])


def inertia(i):  # of a flat list
    return np.array([[i[0], i[3], i[4]], [i[3], i[1], i[5]], [i[4], i[5], i[2]]], float)


def read_yaml(path):
    file = yaml.safe_load(open(path))
    links = {n: (x.get("mass", 0.0), np.array(x.get("com", [0, 0, 0]), float),
                 inertia(x.get("inertia", [0] * 6))) for n, x in file["links"].items()}
    joints, constraints = [], []
    for n, x in file["joints"].items():
        known = {"type", "parent", "child", "xyz", "rpy", "axis", "armature", "parameters", "mimic",
                 "limits", "damping", "friction", "stiffness", "rest", "independent"}
        assert set(x) <= known, set(x) - known
        joints.append(joint(n, x["type"], x["parent"], x["child"], x.get("xyz", [0, 0, 0]),
                            x.get("rpy", [0, 0, 0]), x.get("axis", [1, 0, 0]), x.get("armature", 0.0),
                            x.get("parameters", {}).get("axis2")))
        if "mimic" in x:
            m = x["mimic"]
            constraints.append(tied(n, m.get("multiplier", 1.0), m["joint"], m.get("offset", 0.0)))
    for x in file.get("loops", {}).values():
        ends = [(e["link"], e.get("xyz", [0, 0, 0]), e.get("rpy", [0, 0, 0]))
                for e in (x["predecessor"], x["successor"])]
        constraints.append(loop(x["type"], *ends, x.get("axis", [1, 0, 0]),
                                *x.get("parameters", {}).get("length", [])))
    for x in file.get("couplings", {}).values():
        first, second = common_path(joints, x["predecessor"], x["successor"])
        constraints.append(coupled(x["ratio"], first, second))
    for x in file.get("laws", {}).values():
        constraints.append(law(x["type"], x["joints"], x.get("parameters", {}), joints))
    return links, parents_first(joints), constraints, file.get("gravity", [0, 0, -9.81])


def read_urdf(path):
    root = xml.parse(path).getroot()
    get = lambda e, tag, key, default: numbers(
        None if e.find(tag) is None else e.find(tag).get(key), default)
    zero = [0, 0, 0]
    links, joints, constraints = {}, [], []
    for e in root.findall("link"):
        i = e.find("inertial")
        links[e.get("name")] = (0.0, np.zeros(3), np.zeros((3, 3)))
        if i is not None:
            r = rpy(get(i, "origin", "rpy", zero))
            entries = [float(i.find("inertia").get(k)) for k in ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")]
            links[e.get("name")] = (float(i.find("mass").get("value")), get(i, "origin", "xyz", zero),
                                    r @ inertia(entries) @ r.T)
    for e in root.findall("joint"):
        joints.append(joint(e.get("name"), e.get("type"), e.find("parent").get("link"),
                            e.find("child").get("link"), get(e, "origin", "xyz", zero),
                            get(e, "origin", "rpy", zero), get(e, "axis", "xyz", [1, 0, 0])))
        m = e.find("mimic")
        if m is not None:
            constraints.append(tied(e.get("name"), float(m.get("multiplier", 1)), m.get("joint"),
                                    float(m.get("offset", 0))))
    for e in root.findall("loop"):
        ends = [(end.get("link"), get(end, "origin", "xyz", zero), get(end, "origin", "rpy", zero))
                for end in (e.find("predecessor"), e.find("successor"))]
        constraints.append(loop(e.get("type"), *ends, get(e, "axis", "xyz", [1, 0, 0])))
    for e in root.findall("coupling"):
        first, second = common_path(joints, e.find("predecessor").get("link"),
                                    e.find("successor").get("link"))
        constraints.append(coupled(float(e.find("ratio").get("value")), first, second))
    return links, parents_first(joints), constraints, [0, 0, -9.81]


def read(path, floating=None):
    """floating: None lets the robot float if its root link has mass."""
    links, joints, constraints, gravity = (read_urdf if path.endswith(".urdf") else read_yaml)(path)
    children = {j["child"] for j in joints}
    root = next(n for n in links if n not in children)
    if links[root][0] > 0 if floating is None else floating:
        links = {"the world": (0.0, np.zeros(3), np.zeros((3, 3))), **links}
        joints = [joint("root", "floating", "the world", root, [0, 0, 0], [0, 0, 0], None)] + joints
    return Robot(links, joints, constraints, gravity)
