"""Runs zwhy over one file and returns what it made of it: stacks with weights, unit, account."""

import json
import subprocess
from collections import Counter
from dataclasses import dataclass, field

LIMIT_S = 300


@dataclass
class Read:
    """What zwhy exported of a file; `error` when it refused it."""

    stacks: Counter = field(default_factory=Counter)
    unit: str = ""
    notes: str = ""
    error: str = ""

    @property
    def total(self):
        return sum(self.stacks.values())


def read(program, path):
    """Exports as speedscope, which carries whole names, threads apart from frames, weights and unit."""
    command = [program, "export", "--format", "speedscope", str(path)]
    try:
        done = subprocess.run(command, capture_output=True, timeout=LIMIT_S, check=False)
    except subprocess.TimeoutExpired:
        return Read(error=f"did not end within {LIMIT_S} s")
    said = done.stderr.decode("utf-8", "replace").strip()
    if done.returncode != 0:
        return Read(error=said.removeprefix("error: ") or f"ended with status {done.returncode}")
    document = json.loads(done.stdout)
    # A frame that has a reason has no name, only a place.
    names = ["[unknown]" if frame.get("reason") else frame["name"] for frame in document["shared"]["frames"]]
    result = Read(notes=said)
    for profile in document["profiles"]:
        result.unit = profile["unit"]
        for stack, weight in zip(profile["samples"], profile["weights"], strict=True):
            result.stacks[tuple(names[i] for i in stack)] += weight
    return result
