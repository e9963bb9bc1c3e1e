"""The table of benches/lab.sh: CPU time of the lab as a ratio to the plain loop, of each pair."""

import json
import math
import statistics
import sys
from pathlib import Path

# Two-sided 95 % points of Student's t by degrees of freedom from 1.
STUDENT = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131]
BAR = 1.10


def of_lab(result: Path) -> dict[str, float]:
    steps = json.loads(result.read_text())["runs"][0]["steps"]
    return {step["name"]: step["user_s"] + step["system_s"] for step in steps}


def of_loop(text: Path) -> dict[str, float]:
    rows = (line.split() for line in text.read_text().splitlines())
    return {step: float(cpu) for step, cpu, _ in rows}


def main() -> None:
    folder, pairs, megabytes = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    measured = [(of_lab(folder / f"lab.{i}" / "result.json"), of_loop(folder / f"loop.{i}")) for i in range(pairs)]
    print(f"{megabytes} MiB, {pairs} pairs")
    print()
    print("| step | lab CPU s | loop CPU s | ratio | 95 % | bar of the upper end |")
    print("|---|---:|---:|---:|---:|---:|")
    for step in ("write", "read"):
        ratios = [math.log(lab[step] / loop[step]) for lab, loop in measured]
        mean = statistics.mean(ratios)
        spread = STUDENT[min(pairs - 1, len(STUDENT)) - 1] * statistics.stdev(ratios) / math.sqrt(pairs)
        low, high = math.exp(mean - spread), math.exp(mean + spread)
        lab, loop = (statistics.median(pair[who][step] for pair in measured) for who in (0, 1))
        print(f"| {step} | {lab:.3f} | {loop:.3f} | {math.exp(mean):.3f} | {low:.3f} to {high:.3f} | {BAR:.2f} |")


main()
