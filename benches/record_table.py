"""The figures of benches/record.sh as a table, each beside its bar."""

import glob
import json
import math
import os
import statistics
import sys

# Two-sided 95 % quantiles of Student's t by degrees of freedom.
T95 = [12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26]


def costs(folder, name):
    """CPU seconds of each round, and the peak memory of all in megabytes of a million bytes."""
    with open(os.path.join(folder, name + ".cost"), encoding="ascii") as file:
        rows = [[float(word) for word in line.split()] for line in file]
    return [user + system for user, system, _ in rows], max(kb for _, _, kb in rows) * 1024 / 1e6


def peak(what, megabytes, bar=64):
    """A row of peak memory, which says when it is over the bar."""
    return what, f"{megabytes:.0f} MB" + (": over the bar" if megabytes > bar else ""), f"{bar} MB"


def read_cpu_seconds(node):
    """All figures called like CPU seconds of reading below a node of a lab result."""
    if isinstance(node, dict):
        for key, value in node.items():
            if key == "cpu_s_per_gb" and isinstance(value, (int, float)):
                yield value
            else:
                yield from read_cpu_seconds(value)
    elif isinstance(node, list):
        for value in node:
            yield from read_cpu_seconds(value)


def interval(folder, pairs):
    """Change of the CPU time per GB with a recorder beside it: mean and 95 % interval, in percent."""
    changes = []
    for pair in range(1, pairs + 1):
        sums = {}
        for side in ("with", "without"):
            with open(os.path.join(folder, f"{side}-{pair}.json"), encoding="utf-8") as file:
                sums[side] = sum(read_cpu_seconds(json.load(file)))
        if sums["without"] > 0:
            changes.append(sums["with"] / sums["without"] * 100 - 100)
    if len(changes) < 2:
        return None
    mean = statistics.mean(changes)
    half = T95[min(len(changes) - 2, len(T95) - 1)] * statistics.stdev(changes) / math.sqrt(len(changes))
    return mean, mean - half, mean + half


def main():
    folder, seconds, rounds, pairs = sys.argv[1], *map(int, sys.argv[2:5])
    zwhy, memory = costs(folder, "zwhy")
    start, _ = costs(folder, "start")
    steady = (statistics.median(zwhy) - statistics.median(start)) / (seconds - 2)
    perf, _ = costs(folder, "perf-record")
    script, _ = costs(folder, "perf-script")
    peer = [a + b for a, b in zip(perf, script)]
    ratio = statistics.median(own / other for own, other in zip(zwhy, peer))
    files = [os.path.getsize(os.path.join(folder, f"{n}.zwhy")) for n in range(1, rounds + 1)]
    _, hour = costs(folder, "hour")
    rows = [
        ("CPU beside perf record + perf script", f"{ratio:.2f}", "0.50"),
        ("zwhy, CPU s", f"{statistics.median(zwhy):.2f}", ""),
        ("perf record + perf script, CPU s", f"{statistics.median(peer):.2f}", ""),
        ("of one CPU, start and end included", f"{statistics.median(zwhy) / seconds * 100:.2f} %", ""),
        ("of one CPU, between start and end", f"{steady * 100:.2f} %", "1 %"),
        peak(f"peak memory, recordings of {seconds} s", memory),
        peak("peak memory, an hour simulated by a fast clock of counters at 4999 Hz", hour),
        ("file a minute", f"{max(files) / seconds * 60 / 1e6:.2f} MB", "2 MB"),
    ]
    effect = interval(folder, pairs)
    if effect:
        mean, low, high = effect
        rows.append(("CPU of ZFS reads and writes beside it", f"{mean:+.1f} % ({low:+.1f} to {high:+.1f})", "holds 0"))
    lost = sum(os.path.exists(path) for path in glob.glob(os.path.join(folder, "*.part")))
    print(f"{seconds} s at 99 Hz on {os.cpu_count()} CPUs, {rounds} rounds, {lost} unfinished captures\n")
    print("| what | measured | bar |\n|---|---:|---:|")
    for row in rows:
        print("| " + " | ".join(row) + " |")


main()
