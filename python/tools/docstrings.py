#!/usr/bin/env python3
"""Docstrings of the problems, from the comments of their C++ headers.

docstrings.py OUTPUT.json HEADER...: finds classes with a member `problem = "name"` and joins the
comment above the class with that of evaluate().
"""

import json
import re
import sys

CLASS = re.compile(r"^class (?:\w+ )?(\w+) (?:final )?: public Algorithm")
PROBLEM = re.compile(r'std::string_view problem = "([^"]+)"')


def comment_before(lines, index):
    """The block of /// lines that ends above line `index` (templates are passed over)."""
    index -= 1
    while index >= 0 and re.match(r"\s*(template\b|requires\b)", lines[index]):
        index -= 1
    block = []
    while index >= 0 and lines[index].lstrip().startswith("///"):
        block.insert(0, lines[index].lstrip()[3:].removeprefix(" "))
        index -= 1
    return block


def document(path):
    """Problem name -> text."""
    with open(path, encoding="utf-8") as file:
        lines = file.read().splitlines()
    out = {}
    for index, line in enumerate(lines):
        if not CLASS.match(line):
            continue
        end = next((k for k in range(index + 1, len(lines)) if lines[k] == "};"), len(lines))
        body = lines[index:end]
        name = next((m.group(1) for text in body if (m := PROBLEM.search(text))), None)
        if name is None:
            continue
        text = comment_before(lines, index)
        for k, inner in enumerate(body):
            if re.match(r"  \S.* evaluate\(|  \S+ evaluate\(", inner):
                text += ["", *comment_before(body, k)]
                break
        out[name] = "\n".join(text).strip()
    return out


def main():
    output, *headers = sys.argv[1:]
    docs = {}
    for header in headers:
        docs.update(document(header))
    with open(output, "w", encoding="utf-8") as file:
        json.dump(docs, file, indent=1, sort_keys=True, ensure_ascii=False)
        file.write("\n")


if __name__ == "__main__":
    main()
