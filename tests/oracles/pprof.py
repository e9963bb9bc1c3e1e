"""profile.proto (plain or gzip), read from the wire format: for each column its unit, sum and stacks."""

import gzip
from collections import Counter


class NotPprof(ValueError):
    pass


def fields(data):
    """(number, value) of one message: integers, and bytes of nested messages."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        number, wire = key >> 3, key & 7
        if number == 0:
            raise NotPprof("field 0")
        if wire == 0:
            value, at = varint(data, at)
        elif wire == 2:
            size, at = varint(data, at)
            if at + size > len(data):
                raise NotPprof("a field runs over the end")
            value, at = data[at : at + size], at + size
        elif wire in (1, 5):
            size = 8 if wire == 1 else 4
            value, at = int.from_bytes(data[at : at + size], "little"), at + size
        else:
            raise NotPprof(f"wire type {wire}")
        yield number, value


def varint(data, at):
    value = shift = 0
    while True:
        if at >= len(data) or shift > 63:
            raise NotPprof("a number runs over the end")
        byte = data[at]
        at, value, shift = at + 1, value | (byte & 127) << shift, shift + 7
        if byte < 128:
            return value, at


def numbers(values):
    """A repeated integer field, packed or not."""
    for value in values:
        if isinstance(value, bytes):
            at = 0
            while at < len(value):
                number, at = varint(value, at)
                yield number
        else:
            yield value


def signed(value):
    return value - (1 << 64) if value >> 63 else value


def grouped(data):
    result = {}
    for number, value in fields(data):
        result.setdefault(number, []).append(value)
    return result


def first(message, number, default=0):
    return message.get(number, [default])[-1]


def parse(data):
    """[(type, unit, stacks)], one for each column of values."""
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    top = grouped(data)
    if not {1, 2, 6} <= set(top):
        raise NotPprof("no sample types, samples or strings")
    strings = [text.decode("utf-8", "replace") for text in top[6]]
    if strings[0]:
        raise NotPprof("the first string is not empty")
    functions = {first(f, 1): strings[first(f, 2)] for f in map(grouped, top.get(5, []))}
    locations = {}
    for location in map(grouped, top.get(4, [])):
        lines = [functions.get(first(grouped(line), 1), "") for line in location.get(4, [])]
        locations[first(location, 1)] = lines or [f"0x{first(location, 3):x}"]
    types = [(strings[first(t, 1)], strings[first(t, 2)]) for t in map(grouped, top[1])]
    columns = [Counter() for _ in types]
    for sample in map(grouped, top[2]):
        leaf_first = [name for i in numbers(sample.get(1, [])) for name in locations.get(i, ["?"])]
        for column, value in zip(columns, numbers(sample.get(2, [])), strict=True):
            column[tuple(reversed(leaf_first))] += signed(value)
    return [(kind, unit, stacks) for (kind, unit), stacks in zip(types, columns, strict=True)]
