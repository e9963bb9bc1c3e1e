"""Text of `perf script`, collapsed by counting: one sample a header line, its frames below it.

The oracle for files whose owners keep no result. Only the usual shape is read: a header that has a
time and an event, frames `ADDRESS SYMBOL+OFFSET (MODULE)`, a blank line.
"""

import re
from collections import Counter

HEADER = re.compile(
    r"^\s*\S.*?\s+(?:\d+/)?-?\d+\s+(?:\[\d+\]\s+)?"
    # A time, a period and an event; without a time the line ends in the event.
    r"(?:[\d.]+:\s+(?:(\d+)\s+)?([^\s:]\S*?):?(?:\s|$)|(?:(\d+)\s+)?([^\s:]\S*?):\s*$)"
)
FRAME = re.compile(r"^(?:\s+[0-9a-f]+|[0-9a-f]{6,})\s+(.*?)\s*(?:\(([^()]*(?:\([^()]*\))?[^()]*)\))?\s*$")


def looks_like(text):
    return any(HEADER.match(line) for line in text.splitlines()[:200])


def collapse(text):
    """[(label, stacks)]: by number and by period, for each event. Empty when no frame stands on a line of its own."""
    by_event, frames, key, any_frame = {}, None, None, False
    for line in [*text.splitlines(), ""]:
        found = HEADER.match(line)
        if frames is not None and (found or not line.strip()):
            event, period = key
            counts, periods = by_event.setdefault(event, (Counter(), Counter()))
            stack = tuple(reversed(frames))
            counts[stack] += 1
            periods[stack] += period
            frames = None
        if found and not (found[2] or "").startswith("PERF_RECORD_"):
            frames, key = [], (found[2] or found[4], int(found[1] or found[3] or 1))
        elif frames is not None and (frame := FRAME.match(line)):
            frames.append(frame[1])
            any_frame = True
    columns = []
    for event, (counts, periods) in by_event.items():
        columns += [(f"samples of {event}", counts), (f"periods of {event}", periods)]
    return columns if any_frame else []
