"""speedscope files: the weights of sampled profiles, and the time between the events of evented ones."""

from collections import Counter
from fractions import Fraction

# Times are compared as nanoseconds.
NANOS = {"seconds": 10**9, "milliseconds": 10**6, "microseconds": 10**3, "nanoseconds": 1}


def is_file(document):
    return isinstance(document, dict) and "profiles" in document and "shared" in document


def parse(document):
    stacks = Counter()
    names = [frame["name"] for frame in document["shared"]["frames"]]
    for profile in document["profiles"]:
        scale = NANOS.get(profile.get("unit"), 1)
        if profile["type"] == "sampled":
            for stack, weight in zip(profile["samples"], profile["weights"], strict=False):
                stacks[tuple(names[i] for i in stack)] += Fraction(str(weight)) * scale
        else:
            evented(profile, names, scale, stacks)
    return stacks


def evented(profile, names, scale, stacks):
    frames, before = [], Fraction(str(profile["startValue"]))
    for event in profile["events"]:
        at = Fraction(str(event["at"]))
        if frames and at > before:
            stacks[tuple(names[i] for i in frames)] += (at - before) * scale
        before = at
        if event["type"] == "O":
            frames.append(event["frame"])
        else:
            frames.pop()
