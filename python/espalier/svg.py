"""The cluster tree of a robot as a drawing."""

from __future__ import annotations

from html import escape
from typing import Any

_WIDTH, _HEIGHT, _GAP, _LEVEL = 150, 40, 14, 74


def cluster_tree(name: str, clusters: list[dict[str, Any]]) -> str:
    """An SVG: one box for each cluster, those with loops or couplings filled."""
    children: dict[Any, list[int]] = {}
    for index, cluster in enumerate(clusters):
        children.setdefault(cluster["parent"], []).append(index)

    # Leaves side by side in the order of the tree, parents in the middle above them.
    place: dict[int, tuple[float, int]] = {}
    next_leaf = 0
    stack: list[tuple[int, int, bool]] = [(i, 1, False) for i in reversed(children.get(None, []))]
    while stack:
        index, depth, done = stack.pop()
        below = children.get(index, [])
        if not below:
            place[index] = (float(next_leaf), depth)
            next_leaf += 1
        elif done:
            xs = [place[k][0] for k in below]
            place[index] = ((min(xs) + max(xs)) / 2, depth)
        else:
            stack.append((index, depth, True))
            stack.extend((k, depth + 1, False) for k in reversed(below))

    step = _WIDTH + _GAP
    width = max(1, next_leaf) * step + _GAP
    height = (1 + max((depth for _, depth in place.values()), default=0)) * _LEVEL + _GAP
    tops = [place[k][0] for k in children.get(None, [])]
    ground = ((min(tops) + max(tops)) / 2 if tops else 0.0, 0)

    def corner(at: tuple[float, int]) -> tuple[float, float]:
        return _GAP + at[0] * step, _GAP + at[1] * _LEVEL

    def box(at: tuple[float, int], title: str, lines: list[str], colour: str) -> str:
        x, y = corner(at)
        text = "".join(
            f'<text x="{x + _WIDTH / 2:.1f}" y="{y + 16 + 15 * k:.1f}">{escape(line)}</text>'
            for k, line in enumerate(lines)
        )
        return (
            f'<g><title>{escape(title)}</title><rect x="{x:.1f}" y="{y:.1f}" width="{_WIDTH}" '
            f'height="{_HEIGHT}" rx="6" fill="{colour}" stroke="#456"/>{text}</g>'
        )

    parts = []
    for index, cluster in enumerate(clusters):
        x0, y0 = corner(ground if cluster["parent"] is None else place[cluster["parent"]])
        x1, y1 = corner(place[index])
        parts.append(
            f'<path d="M{x0 + _WIDTH / 2:.1f} {y0 + _HEIGHT}L{x1 + _WIDTH / 2:.1f} {y1:.1f}" '
            'stroke="#789" fill="none"/>'
        )
    parts.append(box(ground, "ground", ["ground"], "#ddd"))
    for index, cluster in enumerate(clusters):
        label = cluster["name"]
        label = label if len(label) < 22 else label[:20] + "…"
        size = f"nv {cluster['nv']}, bodies {cluster['bodies']}"
        title = "\n".join(
            ["joints: " + ", ".join(cluster["joints"])]
            + (["constraints: " + ", ".join(cluster["constraints"])] if cluster["constraints"] else [])
            + ([cluster["recognised"]] if cluster["recognised"] else [])
        )
        colour = "#fc9" if cluster["implicit"] else "#cdf" if cluster["constrained"] else "#fff"
        parts.append(box(place[index], title, [label, size], colour))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" '
        f'width="{min(width, 1400):.0f}" role="img" aria-label="cluster tree of {escape(name)}">'
        '<style>text{font:12px sans-serif;text-anchor:middle}</style>' + "".join(parts) + "</svg>"
    )
