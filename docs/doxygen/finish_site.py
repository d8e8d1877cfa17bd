#!/usr/bin/env python3
"""Completes the site that Doxygen has written: what pages link to in the repository beside pages
(examples, robots, folders) is copied into it, README.md is its first page, and every link of every
page leads to a file. Usage: finish_site.py <repository> <site>"""

import html
import os
import re
import shutil
import sys
from pathlib import Path
from urllib.parse import unquote

root, site = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
LINK = re.compile(r'(href|src)="([^"#:?]+)(#[^"]*)?"')


def name_of(file):
    """The page that Doxygen makes of a Markdown file."""
    return "md_" + re.sub(r"[^A-Za-z0-9]", "_", str(file.relative_to(root))[:-3]) + ".html"


def source_of(page):
    """The Markdown file that a page was made of; None for those of headers."""
    return SOURCES.get(page.name)


def page_of(file):
    """The page of a Markdown file, if the site has it."""
    return name_of(file) if file.suffix == ".md" and (site / name_of(file)).exists() else None


def taken_in(file):
    """Copies a file of the repository, or lists a folder; returns its place in the site."""
    place = Path("files") / file.relative_to(root)
    if file.is_dir():
        names = sorted(f.name for f in file.iterdir() if f.is_file())
        items = "".join(f'<li><a href="{html.escape(n)}">{html.escape(n)}</a></li>' for n in names)
        for name in names:
            taken_in(file / name)
        place = place / "index.html"
        (site / place).parent.mkdir(parents=True, exist_ok=True)
        (site / place).write_text(f"<!doctype html><title>{file.name}</title><ul>{items}</ul>")
        return str(place)
    (site / place).parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(file, site / place)
    return str(place)


SOURCES = {
    name_of(f): f
    for f in [*root.glob("*.md"), *(root / "docs").rglob("*.md"), root / "robots/README.md"]
}
links, broken = 0, []
for page in sorted(site.glob("*.html")):
    text = page.read_text(encoding="utf-8")
    source = source_of(page)
    folder = source.parent if source else root

    def mended(match):
        global links
        links += 1
        target, anchor = unquote(match[2]), match[3] or ""
        if (site / target).exists():
            return match[0]
        file = Path(os.path.normpath(target if target.startswith("/") else folder / target))
        if not file.exists() or root not in [file, *file.parents]:
            broken.append(f"{page.name}: {target}")
            return match[0]
        return f'{match[1]}="{page_of(file) or taken_in(file)}{anchor}"'

    page.write_text(LINK.sub(mended, text), encoding="utf-8")

first = page_of(root / "README.md")
if first is None:
    sys.exit(f"{site}: page of README.md is missing, expected it")
(site / "index.html").write_text(
    f'<!doctype html><meta http-equiv="refresh" content="0; url={first}">'
    f'<a href="{first}">Espalier</a>\n')
if broken:
    sys.exit("site: links lead nowhere, expected files\n  " + "\n  ".join(sorted(set(broken))))
print(f"site: {links} links lead somewhere", file=sys.stderr)
