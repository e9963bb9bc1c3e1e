#!/usr/bin/env python3
"""Makes one table of parameter defaults from two readings of an unconfigured module.

Usage: parameter_table.py SERIES FOLDER FOLDER
Each folder holds `version`, `kernel` and `parameters/NAME`; see parameter-defaults.sh.
"""

import pathlib
import sys


# Worked out from the CPUs, of which both machines have two: arc_init in module/zfs/arc.c, 2.4.4.
BY_CPUS = {"zfs_arc_evict_threads"}


def read(folder: pathlib.Path) -> dict[str, str]:
    files = (folder / "parameters").iterdir()
    return {f.name: f.read_text(errors="replace").strip() for f in files}


def quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def main() -> None:
    series, large, small = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    first, second = read(large), read(small)
    computed = sorted(name for name in first if first[name] != second.get(name) or name in BY_CPUS)
    version, kernel = ((large / name).read_text().strip() for name in ("version", "kernel"))
    print(f"# Defaults of OpenZFS {series}'s module parameters; made by scripts/parameter-defaults.sh.")
    print(f'series = "{series}"')
    print(
        f'source = "/sys/module/*/parameters of zfs {version} on Linux {kernel}, read after loading it '
        'without settings, with 2 CPUs and 4 GiB"'
    )
    print("# Worked out by the module: different with 1.5 GiB, or with other CPUs.")
    print(f"computed = [{', '.join(quoted(name) for name in computed)}]")
    print("\n[defaults]")
    for name in sorted(first):
        print(f"{name} = {quoted(first[name])}")


if __name__ == "__main__":
    main()
