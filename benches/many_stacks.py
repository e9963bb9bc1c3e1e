#!/usr/bin/env python3
"""Writes text of `perf script` with many distinct stacks: many_stacks.py SAMPLES STACKS >OUT

Half of the samples are of ZFS, the others of programs with thousands of functions, as on a host that
compiles. The numbers come from a fixed seed, so every run writes the same file.
"""
import pathlib
import random
import sys
import tomllib

ROOTS = 60
PROGRAM_FUNCTIONS = 6000
MOST_DEPTH = 40


def zfs_functions():
    """Names of functions in the order of the anatomy, without stars."""
    folder = pathlib.Path(__file__).parent.parent / "knowledge" / "anatomy"
    names = []
    for name in ("cache", "data", "filesystem", "objects", "pool"):
        for source in tomllib.loads((folder / f"{name}.toml").read_text()).get("source", []):
            for table in source.values():
                if isinstance(table, dict):
                    names += [f.rstrip("*_") for functions in table.values() for f in functions]
    return sorted(set(filter(None, names)))


def frame(random, zfs, program):
    if program:
        return f"\t00005581{random:06x} function_{random % PROGRAM_FUNCTIONS}+0x10 (/usr/bin/program)\n"
    return f"\tffffffffc0{random % 0xFFFFFF:06x} {zfs[random % len(zfs)]}+0x10 ([zfs])\n"


def stacks(rng, count):
    """Stacks grow out of those that are there, so most share their outer frames: texts, leaf first."""
    zfs = zfs_functions()
    found = []
    for root in range(ROOTS):
        program = root % 2 == 1
        depth = rng.randint(5, 12)
        found.append((program, [frame(rng.randrange(1 << 24), zfs, program) for _ in range(depth)]))
    while len(found) < count:
        program, outer = found[rng.randrange(len(found))]
        keep = max(2, len(outer) - rng.randint(0, 3))
        new = [frame(rng.randrange(1 << 24), zfs, program) for _ in range(rng.randint(1, 3))]
        if keep + len(new) <= MOST_DEPTH:
            found.append((program, outer[:keep] + new))
    return [(program, "".join(reversed(frames))) for program, frames in found]


def main():
    samples, count = int(sys.argv[1]), int(sys.argv[2])
    rng = random.Random(1)
    known = stacks(rng, count)
    for sample in range(samples):
        # Each at least once, and some far more often than others.
        at = sample if sample < count else int(count * rng.random() ** 3)
        program, text = known[at]
        thread = rng.randrange(400)
        name = f"cc1plus_{thread % 40}" if program else ("z_wr_iss", "z_rd_int", "txg_sync", "dbu_evict")[thread % 4]
        t = sample / samples * 60
        print(f"{name} {1000 + thread}/{1000 + thread} [{thread % 8:03}] {t + 100:.6f}: 10101010 cpu-clock:ppp:")
        print(text)


main()
