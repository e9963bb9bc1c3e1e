#!/usr/bin/env python3
"""Brings the measured figures of docs/COMPARE.md up to docs/BENCHMARKS.md: `compare.py [check]`.

A row of a table there is the row of BENCHMARKS.md with the same first cell, in a table with the same heads. Which rows are
compared is chosen in COMPARE.md; what they say is measured. `check` changes nothing, and fails where something would.
"""

import sys
from pathlib import Path

DOCS = Path(__file__).parent.parent / "docs"


def first_cell(row):
    """
    >>> first_cell("| perf script | 0.95 |")
    'perf script'
    """
    return row.split("|")[1].strip()


def tables(lines):
    """Rows of all tables as (number of the line, heads of its table, row), without heads and rules.

    >>> list(tables(["a", "| x | y |", "|---|---|", "| 1 | 2 |", "", "| z |"]))
    [(3, '| x | y |', '| 1 | 2 |')]
    """
    heads = None
    for number, line in enumerate(lines):
        if not line.startswith("|"):
            heads = None
        elif heads is None:
            heads = line
        elif not line.startswith("|---"):
            yield number, heads, line


def updated(page, measured):
    """The page with the rows as they were measured.

    >>> measured = "| x | y |\\n|---|---|\\n| 1 | 3 |\\n\\n| w | y |\\n|---|---|\\n| 1 | 4 |\\n"
    >>> updated("| x | y |\\n|---|---|\\n| 1 | 2 |\\n", measured)
    '| x | y |\\n|---|---|\\n| 1 | 3 |\\n'
    >>> updated("| x | y |\\n|---|---|\\n| 5 | 2 |\\n", measured)
    Traceback (most recent call last):
    ...
    ValueError: BENCHMARKS.md has 0 rows called '5' under | x | y |
    """
    lines, rows = page.split("\n"), {}
    for _, heads, row in tables(measured.split("\n")):
        rows.setdefault((heads, first_cell(row)), []).append(row)
    for number, heads, row in tables(lines):
        fitting = rows.get((heads, first_cell(row)), [])
        if len(fitting) != 1:
            raise ValueError(f"BENCHMARKS.md has {len(fitting)} rows called {first_cell(row)!r} under {heads}")
        lines[number] = fitting[0]
    return "\n".join(lines)


def main(check):
    page = DOCS / "COMPARE.md"
    text = page.read_text(encoding="utf-8")
    words, measured = text.split("\n## Measured\n")
    try:
        new = words + "\n## Measured\n" + updated(measured, (DOCS / "BENCHMARKS.md").read_text(encoding="utf-8"))
    except ValueError as error:
        sys.exit(f"compare: error: {error}")
    if check and new != text:
        sys.exit("compare: error: figures of docs/COMPARE.md are not those of docs/BENCHMARKS.md; run: scripts/compare.py")
    if not check:
        page.write_text(new, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:] == ["check"])
