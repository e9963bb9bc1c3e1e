"""What a file of somebody's test data should come to: the owner's result where there is one, else a sum of our own."""

import gzip
import json
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

import firefox
import flame_svg
import folded
import perf_script
import pprof
import speedscope

# Source code, prose and pictures are no profiles.
NO_PROFILES = set(
    ".rs .ts .tsx .js .mjs .go .c .h .cpp .md .toml .lock .pl .sh .py .rb .hs .snap .html .css .png .dot .map "
    ".dll .exe .pdb .so .o .dylib .dwo .dwp .dbg .dSYM .proto .yml .yaml .zip .jfr .grammar .awk .bat .string "
    ".gitignore .DS_Store .snapshot .src .plist .pd_ .sym .bc .ignore .focus .hide".split()
)
LARGEST = 64 << 20


@dataclass
class Expected:
    """`columns` are (label, unit, stacks): a file with several columns may be read by any of them."""

    format: str
    columns: list
    # Whose numbers these are: the owner's result file, or the computation here.
    of: str


def of_file(path):
    """None when the file is no profile, or of a kind for which there is no oracle."""
    if path.suffix in NO_PROFILES or "results" in path.parts or not 0 < path.stat().st_size <= LARGEST:
        return None
    data = path.read_bytes()
    if data.startswith((b"PERFILE2", b"2ELIFREP")):
        return perf_data(path)
    plain = unpacked(data)
    return (
        of_pprof(plain)
        or of_owner(path)
        or (of_text(plain.decode("utf-8", "replace")) if b"\0" not in plain[:4096] else None)
    )


def unpacked(data):
    if data[:2] != b"\x1f\x8b":
        return data
    try:
        return gzip.decompress(data)
    except (OSError, EOFError):
        return b""


def of_pprof(data):
    try:
        columns = pprof.parse(data)
    except (ValueError, IndexError, KeyError):
        return None
    return Expected("pprof", [(f"{kind}/{unit}", unit, stacks) for kind, unit, stacks in columns], "sums of each column")


def of_text(text):
    start = text.lstrip("\ufeff \t\r\n")[:200]
    if start.startswith("<") and "<svg" in text[:4096]:
        return of_svg(text)
    if start.startswith("{"):
        return of_json(text)
    if perf_script.looks_like(text):
        return of_script(text, "perf script", "a count of samples")
    lines = [line for line in text.splitlines() if line.strip()]
    with_count = sum(";" in line and line.rsplit(" ", 1)[-1].replace(".", "", 1).isdigit() for line in lines)
    if lines and with_count >= 0.8 * len(lines):
        return Expected("folded", [("counts", "", folded.parse(text))], "a sum of the counts")
    return None


def of_script(text, kind, by):
    columns = [(label, "", stacks) for label, stacks in perf_script.collapse(text)]
    return Expected(kind, columns, by) if columns else None


def of_svg(text):
    try:
        # With a factor the titles are multiplied and rounded; the samples are kept beside.
        readings = [("titles", flame_svg.parse(text)), ("samples", flame_svg.parse(text, exact_only=True))]
    except ElementTree.ParseError:
        return None
    columns = [(label, "", stacks) for label, stacks in readings if stacks]
    return Expected("flame graph SVG", columns, "geometry of the boxes") if columns else None


def of_json(text):
    try:
        document = json.loads(text.lstrip("\ufeff"))
    except ValueError:
        return None
    try:
        if speedscope.is_file(document):
            unit = "nanoseconds" if any(p.get("unit") in speedscope.NANOS for p in document["profiles"]) else ""
            return Expected("speedscope", [("weights", unit, speedscope.parse(document))], "weights of the samples")
        if firefox.is_file(document):
            every, on_cpu = firefox.parse(document)
            columns = [("samples", "", every), ("samples on the CPU", "", on_cpu)]
            return Expected("Firefox profiler", columns, "weights of the samples")
    except (AttributeError, KeyError, IndexError, TypeError):
        return None
    return None


# What inferno collapses in `collapse-KIND`, by the name of the format here. Of the last, recursion is
# taken out of folded stacks: its results are of another profile.
KINDS = {
    "perf": "perf script", "dtrace": "DTrace", "sample": "sample of macOS", "vtune": "VTune",
    "ghcprof": "GHC", "vsprof": "Visual Studio", "xctrace": "xctrace", "recursive": None,
}
# `NAME-collapsed-all.txt` of FlameGraph, `NAME.txt`, `NAME-default.txt` and `NAME.folded` of inferno.
ENDINGS = (
    "-collapsed.txt", "-collapsed-all.txt", "-collapsed-kernel.txt", "-collapsed-jit.txt", ".txt", "-default.txt", ".folded",
)


def of_owner(path):
    """A result that the owner keeps in `results/` beside the file, of the collapsing of stacks."""
    results = path.parent / "results"
    kind = KINDS.get(path.parent.name.removeprefix("collapse-"), "perf script")
    if not results.is_dir() or not kind:
        return None
    for ending in ENDINGS:
        result = results / (path.name.split(".")[0] + ending)
        if result.is_file():
            perf = kind == "perf script"
            stacks = folded.parse(result.read_text("utf-8", "replace"), drop_first=perf)
            columns = [("counts", "", stacks)]
            # Owners weigh by period, and some lose the last sample of a file: a count of our own does neither.
            if perf:
                columns += of_own_count(path)
            return Expected(kind, columns, f"{result.name} of its owner" + (", or a count" if perf else ""))
    return None


def of_own_count(path):
    text = path.read_bytes().decode("utf-8", "replace")
    return [(label, "", stacks) for label, stacks in perf_script.collapse(text)]


def perf_data(path):
    """What `perf script` shows of it, where perf is installed."""
    if not shutil.which("perf"):
        return None
    command = ["perf", "script", "-i", str(path), "-F", "comm,pid,tid,time,period,event,ip,sym,dso"]
    done = subprocess.run(command, capture_output=True, check=False)
    return of_script(done.stdout.decode("utf-8", "replace"), "perf.data", "perf script")


def files(folder):
    return sorted(path for path in Path(folder).rglob("*") if path.is_file() and ".git" not in path.parts)
