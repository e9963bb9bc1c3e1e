#!/usr/bin/env python3
"""Makes one table of the commands and properties of OpenZFS from what its programs print.

Usage: command_table.py SERIES FOLDER
The folder holds `version`, and for zfs and zpool `PROGRAM.usage` (called without words) and
`PROGRAM.set` (`PROGRAM set` without words, which ends with the list of properties); see
command-table.sh.
"""

import pathlib
import re
import sys


def quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def subcommands(usage: str) -> dict[str, tuple[set[str], set[str]]]:
    """Letters and long names of the options of each subcommand.

    Its lines begin after one tab with its name; what is indented further goes on.
    """
    found: dict[str, tuple[set[str], set[str]]] = {}
    name = None
    for line in usage.splitlines():
        first = re.match(r"\t([a-z][a-z-]*)\b(.*)", line)
        if first:
            name, rest = first.groups()
        elif re.match(r"\t\s", line):
            rest = line
        else:
            name = None
        if name is None:
            continue
        short, long = found.setdefault(name, (set(), set()))
        long.update(re.findall(r"--([a-z][a-z-]+)", rest))
        # `-[i|I]` is either.
        for letters in re.findall(r"-\[([A-Za-z|]+)\]", rest):
            short.update(letters.replace("|", ""))
        for letters in re.findall(r"(?<![\w-])-([A-Za-z]+)", rest):
            short.update(letters)
    return found


def properties(usage: str, edit: str) -> dict[str, str]:
    """Name and values of each property that can be set (`YES`), or cannot be once it exists (`NO`)."""
    found = {}
    listing = False
    for line in usage.splitlines():
        words = line.split()
        if words[:2] == ["PROPERTY", "EDIT"]:
            listing = True
        elif listing and len(words) > 2 and re.fullmatch(r"[a-z_]+(@\.\.\.)?", words[0]):
            if words[1] == edit:
                skip = 3 if words[2] in ("YES", "NO") else 2
                found[words[0]] = " ".join(words[skip:])
    return found


def main() -> None:
    series, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    version = (folder / "version").read_text().strip()
    print(f"# What zfs and zpool of OpenZFS {series} know; made by scripts/command-table.sh.")
    print(f'series = "{series}"')
    print(f'source = "usage of zfs and zpool {version}"')
    for program in ("zfs", "zpool"):
        print(f"\n[{program}]")
        for name, (short, long) in sorted(subcommands((folder / f"{program}.usage").read_text()).items()):
            options = [f"-{letter}" for letter in sorted(short)] + [f"--{word}" for word in sorted(long)]
            print(f"{quoted(name)} = {quoted(' '.join(options))}")
    for program, of in (("zfs", "dataset"), ("zpool", "pool")):
        usage = (folder / f"{program}.set").read_text()
        for table, edit in ((f"{of}_properties", "YES"), (f"{of}_fixed", "NO")):
            print(f"\n[{table}]")
            for name, values in sorted(properties(usage, edit).items()):
                print(f"{quoted(name)} = {quoted(values)}")


if __name__ == "__main__":
    main()
