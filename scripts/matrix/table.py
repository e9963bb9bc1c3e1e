#!/usr/bin/env python3
"""The table of combinations in docs/SYSTEMS.md, made of cells.toml and of what was found (results.tsv).

    table.py cells [NAME…]                   the commands of these cells; all that need no VM where none is named
    table.py found NAME passed|failed WORDS  keeps a result of today, and writes the table
    table.py check                           fails where the page has another table
"""

import datetime
import sys
import tomllib
from pathlib import Path

HERE = Path(__file__).parent
PAGE = HERE.parent.parent / "docs/SYSTEMS.md"
RESULTS = HERE / "results.tsv"
BEGIN, END = "<!-- made by make matrix -->", "<!-- end of what make matrix makes -->"


def cells():
    return tomllib.loads((HERE / "cells.toml").read_text(encoding="utf-8"))["cell"]


def results():
    """Name of a cell → date, outcome, words."""
    lines = RESULTS.read_text(encoding="utf-8").splitlines() if RESULTS.exists() else []
    return {name: rest for name, *rest in (line.split("\t") for line in lines)}


def how(cell):
    """
    >>> how({"name": "a", "package": ["trixie", "none", "root"]})
    '`make matrix CELLS=a`'
    >>> how({"name": "b"})
    ''
    """
    return f"`make matrix CELLS={cell['name']}`" if "package" in cell or "vm" in cell else ""


def row(cell, found):
    """A row of the table.

    >>> row({"name": "a", "what": "A", "package": []}, {"a": ["2026-01-02", "passed", "x | y"]})
    '| A | `make matrix CELLS=a` | passed on 2026-01-02: x \\\\| y |'
    >>> row({"name": "a", "what": "A", "package": []}, {})
    '| A | `make matrix CELLS=a` | not run yet |'
    >>> row({"name": "b", "what": "B", "note": "not tested"}, {})
    '| B |  | not tested |'
    """
    if cell["name"] in found:
        date, outcome, words = found[cell["name"]]
        said = f"{outcome} on {date}" + (f": {words}" if words else "")
    else:
        said = cell.get("note", "not run yet")
    said = said.replace("|", "\\|")
    return f"| {cell['what']} | {how(cell)} | {said} |"


def table(all_cells, found):
    head = ["| combination | how | result |", "|---|---|---|"]
    return "\n".join(head + [row(cell, found) for cell in all_cells])


def with_table(page, made):
    """The page with another table between its marks.

    >>> with_table(f"a\\n{BEGIN}\\nold\\n{END}\\nb\\n", "new") == f"a\\n{BEGIN}\\n\\nnew\\n\\n{END}\\nb\\n"
    True
    """
    before, rest = page.split(BEGIN)
    _, after = rest.split(END)
    return f"{before}{BEGIN}\n\n{made}\n\n{END}{after}"


def made():
    return with_table(PAGE.read_text(encoding="utf-8"), table(cells(), results()))


def print_cells(names):
    known = {cell["name"]: cell for cell in cells()}
    for name in names or [cell["name"] for cell in known.values() if "package" in cell]:
        cell = known.get(name)
        if cell is None or not how(cell):
            sys.exit(f"matrix: error: no cell that can be run is called {name}; these are: "
                     + ", ".join(cell["name"] for cell in known.values() if how(cell)))
        print(name, *(["package", *cell["package"]] if "package" in cell else ["vm", *cell["vm"]]))


def keep(name, outcome, words):
    found = results()
    found[name] = [datetime.date.today().isoformat(), outcome, " ".join(words.split())]
    order = [cell["name"] for cell in cells()]
    lines = ["\t".join([name, *found[name]]) for name in order if name in found]
    RESULTS.write_text("\n".join(lines) + "\n", encoding="utf-8")
    PAGE.write_text(made(), encoding="utf-8")


def main(arguments):
    match arguments:
        case ["cells", *names]:
            print_cells(names)
        case ["found", name, outcome, words]:
            keep(name, outcome, words)
        case ["check"]:
            if made() != PAGE.read_text(encoding="utf-8"):
                sys.exit("matrix: error: docs/SYSTEMS.md has another table than scripts/matrix says; run: make matrix")
        case ["write"]:
            PAGE.write_text(made(), encoding="utf-8")
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
