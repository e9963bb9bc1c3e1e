"""Names of frames in one form, so that tools that write the same frame differently can be compared.

Both sides go through the same function: it removes what the tools add (annotations, offsets, modules)
or cut (arguments), and makes all ways to say that a frame has no name one.
"""

import re

ANNOTATION = re.compile(r"_\[[kji]\]$")
OFFSET = re.compile(r"(::h[0-9a-f]{16})?(\+0x[0-9a-fA-F]+)?$")
NAMELESS = re.compile(r"^(\[.*\]|0x[0-9a-fA-F]+|[0-9a-fA-F]{6,16}|\(?unknown\)?|\?+|<unknown>|)$")
MODULE = re.compile(r"^[^`\s]+`(?=.)")
UNKNOWN = "?"


def plain(name):
    name = ANNOTATION.sub("", name.strip())
    name = MODULE.sub("", name)
    name = OFFSET.sub("", name)
    name = name.replace('"', "").replace("'", "").replace(";", ":")
    # Arguments: not Go's receivers `pkg.(*T).f`, nor what begins with a parenthesis.
    cut = re.search(r"(?<=[^.(])\((?!anonymous)", name)
    if cut and cut.start() > 0 and not re.search(r"\.\(\*?[\w.]+\)", name):
        name = name[: cut.start()]
    if name.startswith("L") and "/" in name:
        name = name[1:]
    name = name.strip()
    return UNKNOWN if NAMELESS.match(name) else name


def plain_stacks(stacks):
    """The same weights by stacks of plain names; rows without weight say nothing, and a sample
    without frames is one of an unknown frame."""
    result = {}
    for stack, weight in stacks.items():
        key = tuple(plain(name) for name in stack) or (UNKNOWN,)
        result[key] = result.get(key, 0) + weight
    return {stack: weight for stack, weight in result.items() if weight}
