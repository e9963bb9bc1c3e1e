"""Folded stacks, read the plain way: everything after the last space is the count."""

from collections import Counter
from fractions import Fraction


def parse(text, drop_first=False):
    """Stacks and weights; with `drop_first` the root frame, which is a thread's name, goes. Of the two
    counts of a differential the second is taken."""
    stacks = Counter()
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    two_counts = len(lines) > 1 and all(is_count(line.rsplit(" ", 2)[-2:]) for line in lines)
    for line in lines:
        stack, _, count = line.rpartition(" ")
        if two_counts:
            stack = stack.rpartition(" ")[0]
        try:
            weight = Fraction(count)
        except (ValueError, ZeroDivisionError):
            continue
        frames = tuple(frame for frame in stack.strip().split(";") if frame)
        stacks[frames[1:] if drop_first else frames] += weight
    return stacks


def is_count(words):
    return len(words) == 2 and all(word.replace(".", "", 1).isdigit() for word in words)
