#!/usr/bin/env python3
"""Writes man pages of a program from what its `--help` says: `pages.py NAME VERSION FOLDER PROGRAM…`.

One page for the program and one for each command, as `zwhy-fleet-query.1`. PROGRAM may be several words: an emulator and the
program. For programs whose man pages are not made from their definition.
"""

import re
import subprocess
import sys
from pathlib import Path


def commands(text):
    """Names below the heading Commands, without `help`.

    >>> commands("Does it.\\n\\nCommands:\\n  one    First\\n           of two\\n  two    B\\n  help   H\\n\\nOptions:\\n  -h  H\\n")
    ['one', 'two']
    """
    part = re.search(r"^Commands:\n((?:  .*\n|\n)*)", text, re.MULTILINE)
    names = re.findall(r"^  (\S+)", part[1], re.MULTILINE) if part else []
    return [name for name in names if name != "help"]


def roff(line):
    """A line that says nothing to roff but its letters.

    >>> print(roff(".x -a 'b'"))
    \\&.x \\-a \\(aqb\\(aq
    """
    line = line.replace("\\", r"\e").replace("-", r"\-").replace("'", r"\(aq")
    return rf"\&{line}" if line.startswith(".") else line


def page(name, version, text):
    """The text as it is, below the first sentence as its name: the columns of options mean something."""
    lines = text.rstrip().split("\n")
    first = lines[0].rstrip(".")
    body = [f'.TH "{name.upper()}" "1" "" "{name.split("-")[0]} {version}" "zwhy"', ".SH NAME", rf"{name} \- {roff(first)}"]
    body += [".SH DESCRIPTION", ".nf"]
    body += [roff(line) if line else ".sp" for line in lines[1:]]
    return "\n".join([*body, ".fi", ""])


def helped(program, path):
    done = subprocess.run([*program, *path, "--help"], stdout=subprocess.PIPE, check=True, text=True, env={"COLUMNS": "80"})
    return done.stdout


def write(program, name, version, folder, path=()):
    text = helped(program, path)
    called = "-".join([name, *path])
    (folder / f"{called}.1").write_text(page(called, version, text), encoding="utf-8")
    for command in commands(text):
        write(program, name, version, folder, (*path, command))


def main():
    if len(sys.argv) < 5:
        sys.exit(__doc__)
    name, version, folder, *program = sys.argv[1:]
    Path(folder).mkdir(parents=True)
    write(program, name, version, Path(folder))


if __name__ == "__main__":
    main()
