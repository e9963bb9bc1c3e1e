"""Compares what zwhy made of a file with what is expected: accepted, total, stacks."""

from dataclasses import dataclass

import speedscope
from names import plain_stacks

ASPECTS = ("accepted", "total", "stacks")


@dataclass
class Verdict:
    # The first aspect that differs; empty when all are equal.
    differs: str
    detail: str = ""

    def holds(self, aspect):
        return not self.differs or ASPECTS.index(aspect) < ASPECTS.index(self.differs)


def judge(expected, read):
    if read.error:
        return Verdict("accepted", read.error)
    verdicts = [one(column, read) for column in expected.columns]
    # A file with several columns is read by one of them.
    return max(verdicts, key=lambda v: len(ASPECTS) if not v.differs else ASPECTS.index(v.differs))


def scaled(stacks, unit):
    scale = speedscope.NANOS.get(unit, 1)
    return {stack: weight * scale for stack, weight in stacks.items()}


def one(column, read):
    label, unit, stacks = column
    wanted, found = scaled(stacks, unit), scaled(read.stacks, read.unit)
    total, found_total = sum(wanted.values()), sum(found.values())
    if not same(total, found_total):
        return Verdict("total", f"{number(found_total)} instead of {number(total)} ({label})")
    wanted, found = plain_stacks(wanted), plain_stacks(found)
    different = [s for s in wanted.keys() | found.keys() if not same(wanted.get(s, 0), found.get(s, 0))]
    if not different:
        return Verdict("")
    shown = max(different, key=lambda s: (abs(wanted.get(s, 0) - found.get(s, 0)), s))
    return Verdict(
        "stacks",
        f"{len(different)} of {len(wanted)} stacks; {';'.join(shown)[-160:]}: "
        f"{number(found.get(shown, 0))} instead of {number(wanted.get(shown, 0))}",
    )


def same(a, b):
    """Weights are whole in zwhy; a part of one is no difference."""
    return abs(a - b) < 1


def number(value):
    value = float(value)
    return f"{value:,.0f}" if value == int(value) else f"{value:,.3f}"
