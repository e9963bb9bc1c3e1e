"""Flame graph SVGs by their geometry: a box belongs to the box below (or above) that holds its middle.

Self weight of a box is its count less those of the boxes on it.
"""

import re
from collections import Counter
from xml.etree import ElementTree

COUNT = re.compile(r"^(.*?) \(([\d,.]+) ([^,()]+?)(?:, [-+\d.,%; ]+.*)?\)$", re.DOTALL)


def local(tag):
    return tag.rsplit("}", 1)[-1]


def number(text):
    return float(text.rstrip("%px")) if text else 0.0


def boxes(text, exact_only):
    """(x, y, width, name, count) of each box, by its title, or by the samples that inferno keeps beside."""
    root = ElementTree.fromstring(text)
    for group in root.iter():
        parts = {local(child.tag): child for child in group}
        if "title" not in parts or "rect" not in parts:
            continue
        title, rect = parts["title"].text or "", parts["rect"]
        found = COUNT.match(title)
        exact = rect.get("{http://github.com/jonhoo/inferno}w")
        if not exact and (exact_only or not found):
            continue
        count = float(exact) if exact_only or not found else float(found[2].replace(",", ""))
        yield number(rect.get("x")), number(rect.get("y")), number(rect.get("width")), found[1] if found else title, count


def parse(text, exact_only=False):
    """Stacks without the ground box, which is no frame, and the total, which is its count."""
    rows = {}
    for box in boxes(text, exact_only):
        rows.setdefault(round(box[1], 1), []).append(box)
    if not rows:
        return None
    # Inverted drawings have it on top.
    ground = max((max(rows), min(rows)), key=lambda y: sum(box[2] for box in rows[y]))
    order = sorted(rows, reverse=ground == max(rows))
    stacks, below = Counter(), []
    for y in order:
        row = []
        for x, _, width, name, count in sorted(rows[y]):
            middle = x + width / 2
            parent = next((b for b in below if b[0] <= middle <= b[0] + b[1]), None)
            stack = (*parent[2], name) if parent else ()
            if parent:
                stacks[parent[2]] -= count
            stacks[stack] += count
            row.append((x, width, stack))
        below = row
    return stacks
