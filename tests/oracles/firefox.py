"""Profiles of the Firefox profiler, processed or raw: a weight for each sample that has a stack, of all
samples and of those in which the thread used the CPU."""

import json
from collections import Counter


def is_file(document):
    return isinstance(document, dict) and "meta" in document and "threads" in document and "samples" in str(
        list((document["threads"] or [{}])[0])
    )


def strings_of(document, thread):
    shared = document.get("shared", {})
    return thread.get("stringArray") or thread.get("stringTable") or shared.get("stringArray") or []


def column(table, name):
    """A column of a table by columns, or of gecko's rows under a schema."""
    if "schema" in table:
        at = table["schema"][name]
        return [row[at] if at < len(row) else None for row in table["data"]]
    return table[name]


def parse(document):
    """(all samples, samples with CPU time)."""
    both = Counter(), Counter()
    for thread in threads_of(document):
        add_thread(document, thread, *both)
    return both


def threads_of(document):
    # Old browsers wrote the profiles of other processes as text, among the threads.
    for thread in document["threads"]:
        if isinstance(thread, str):
            yield from threads_of(json.loads(thread))
        else:
            yield thread
    for process in document.get("processes", []):
        yield from threads_of(process)


def add_thread(document, thread, stacks, on_cpu):
    shared = document.get("shared", {})
    table = lambda name: thread.get(name) or shared.get(name)  # noqa: E731
    strings, stack_table, frame_table = strings_of(document, thread), table("stackTable"), table("frameTable")
    functions = table("funcTable")
    if "schema" in stack_table:
        frame_names = [strings[i] for i in column(frame_table, "location")]
    else:
        frame_names = [strings[functions["name"][f]] for f in column(frame_table, "func")]
    parents, frames = column(stack_table, "prefix"), column(stack_table, "frame")
    samples = thread["samples"]
    weights = None if "schema" in samples else samples.get("weight")
    cpu = None if "schema" in samples else samples.get("threadCPUDelta")
    for i, stack in enumerate(column(samples, "stack")):
        if stack is None:
            continue
        names = []
        while stack is not None:
            names.append(frame_names[frames[stack]])
            stack = parents[stack]
        weight = weights[i] if weights else 1
        stacks[tuple(reversed(names))] += weight
        if not cpu or cpu[i]:
            on_cpu[tuple(reversed(names))] += weight
