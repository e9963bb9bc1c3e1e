"""Holds zwhy against other projects' test data: totals and stacks of each file that has an oracle.

  python3 tests/oracles FOLDER…          every profile below these folders
  python3 tests/oracles --dependencies   what the packages bring along that Cargo has fetched
        [--zwhy PROGRAM] [--markdown] [--at-least FILES]

A difference that reasons.txt does not explain, or a reason that explains nothing any more, ends it
with status 1. docs/ORACLES.md says more.
"""

import argparse
import json
import os
import subprocess
import sys
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from fnmatch import fnmatch
from pathlib import Path

import compare
import expected as oracle
import zwhy

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent


def reasons():
    """(pattern, aspect, words) of each line of reasons.txt."""
    for number, line in enumerate((HERE / "reasons.txt").read_text("utf-8").splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        parts = [part.strip() for part in line.split("|", 2)]
        if len(parts) != 3 or parts[1] not in compare.ASPECTS:
            sys.exit(f"error: reasons.txt line {number}: PATTERN | {' or '.join(compare.ASPECTS)} | why")
        yield tuple(parts)


def folders_of_dependencies():
    """(name, folder) of every package that is not of this workspace."""
    # Only for this platform: Cargo fetches no other packages.
    host = subprocess.run(["rustc", "-vV"], capture_output=True, text=True, check=True).stdout
    host = next(line.removeprefix("host: ") for line in host.splitlines() if line.startswith("host: "))
    command = ["cargo", "metadata", "--format-version", "1", "--locked", "--offline", "--filter-platform", host]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, check=False)
    if done.returncode != 0:
        sys.exit(f"error: cargo metadata: {done.stderr.decode('utf-8', 'replace').strip()}")
    for package in json.loads(done.stdout)["packages"]:
        if package["source"]:
            yield package["name"], Path(package["manifest_path"]).parent


class Report:
    def __init__(self):
        self.reasons = list(reasons())
        self.used = set()
        self.near = set()
        self.rows = defaultdict(Counter)
        self.why = defaultdict(Counter)
        self.unexplained = []

    def add(self, project, name, expected, verdict):
        row = self.rows[project, expected.format]
        row["files"] += 1
        for aspect in compare.ASPECTS:
            row[aspect] += verdict.holds(aspect)
        for reason in self.reasons:
            if fnmatch(name, reason[0]):
                self.near.add(reason)
        if not verdict.differs:
            return
        for reason in self.reasons:
            if fnmatch(name, reason[0]) and reason[1] == verdict.differs:
                self.used.add(reason)
                self.why[project, expected.format][reason[2]] += 1
                return
        self.unexplained.append(f"{name}: {verdict.differs}: {verdict.detail} (by {expected.of})")

    def table(self, markdown):
        heads = ["project", "format", "files", "accepted", "totals equal", "stacks equal"]
        rows = [
            [project, kind, *(str(row[key]) for key in ("files", *compare.ASPECTS))]
            for (project, kind), row in sorted(self.rows.items())
        ]
        if markdown:
            print("| " + " | ".join(heads) + " |\n|---|---|---:|---:|---:|---:|")
            for row in rows:
                print("| " + " | ".join(row) + " |")
        else:
            widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
            for row in [heads, *rows]:
                print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
        for (project, kind), why in sorted(self.why.items()):
            for words, files in why.most_common():
                print(f"- {project}, {kind}, {files}: {words}")

    def failed(self):
        for line in self.unexplained:
            print(f"unexplained: {line}", file=sys.stderr)
        stale = self.near - self.used
        for pattern, aspect, words in sorted(stale):
            print(f"reason without a difference: {pattern} | {aspect} | {words}", file=sys.stderr)
        return bool(self.unexplained or stale)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--dependencies", action="store_true")
    parser.add_argument("--zwhy", default=str(ROOT / "target/debug/zwhy"))
    parser.add_argument("--markdown", action="store_true")
    parser.add_argument("--at-least", type=int, default=1, metavar="FILES")
    options = parser.parse_args()
    if not options.folders and not options.dependencies:
        parser.error("name a folder, or --dependencies")
    roots = [(folder.resolve().name, folder) for folder in options.folders]
    if options.dependencies:
        roots += folders_of_dependencies()
    for _, folder in roots:
        if not folder.is_dir():
            sys.exit(f"error: no folder {folder}")
    tasks = [(project, root, path) for project, root in roots for path in oracle.files(root)]

    def look(task):
        wanted = oracle.of_file(task[2])
        return wanted and (wanted, compare.judge(wanted, zwhy.read(options.zwhy, task[2])))

    report = Report()
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for (project, root, path), found in zip(tasks, pool.map(look, tasks), strict=True):
            if found:
                report.add(project, f"{project}/{path.relative_to(root)}", *found)
    report.table(options.markdown)
    files = sum(row["files"] for row in report.rows.values())
    print(f"{files} files with an oracle of {len(tasks)} looked at")
    if files < options.at_least:
        sys.exit(f"error: at least {options.at_least} files were to be compared")
    sys.exit(1 if report.failed() else 0)


if __name__ == "__main__":
    main()
