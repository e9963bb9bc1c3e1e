#!/usr/bin/env python3
"""`zwhy top` on this host, from outside: in a real terminal, beside /proc, and what it takes itself.

    python3 tests/top.py --zwhy target/debug/zwhy [--release]

In tmux of 80 x 24 and 200 x 60 cells no table lies over another, a terminal that was made larger and smaller again shows
whole pictures, and latencies are shown or said to be missing. Counters that only grow are read every few milliseconds while zwhy looks: what it says of its seconds must lie
between their growth in a little less and in a little more time. `--release` holds it to 64 MiB and 1 % of a CPU; the code of a
build without optimisation alone is larger, so that one gets twice the memory. What cannot be done here says why.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time

SMALL, LARGE = (80, 24), (200, 60)
TITLES = ["CPU by stage", "ZFS threads", "Processes", "Datasets", "Disks", "Pools and transaction groups", "Task queues"]
# Between the moment that a line tells and that of the readings that it is of, at most; without optimisation, on a machine
# that runs tests, too.
APART, APART_UNOPTIMISED = 0.5, 2.0
INTERVALS = 12
MOST_MEMORY_KB = 64 << 10
MOST_CPU = 0.01
PATIENCE = 120


class Terminal:
    """A terminal with zwhy in it; ended with the `with`."""

    def __init__(self, zwhy, size):
        self.folder = tempfile.mkdtemp()
        self.zwhy, self.size = zwhy, size
        with open(f"{self.folder}/tmux.conf", "w") as config:
            config.write("set -g status off\nset -g default-terminal screen-256color\n")

    def tmux(self, *words, check=True):
        environment = {**os.environ, "LC_ALL": "C.UTF-8", "TERM": "xterm-256color"}
        environment.pop("TMUX", None)
        command = ["tmux", "-u", "-S", f"{self.folder}/socket", "-f", f"{self.folder}/tmux.conf", *words]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, stdin=subprocess.DEVNULL)
        assert done.returncode == 0 or not check, f"{words}: {done.stderr}"
        return done.stdout

    def __enter__(self):
        width, height = map(str, self.size)
        self.tmux("new-session", "-d", "-s", "top", "-x", width, "-y", height, f"exec '{self.zwhy}' top")
        return self

    def __exit__(self, *_):
        self.tmux("kill-server", check=False)
        shutil.rmtree(self.folder, ignore_errors=True)

    def resize(self, size):
        self.size = size
        self.tmux("resize-window", "-t", "top", "-x", str(size[0]), "-y", str(size[1]))

    def press(self, key):
        self.tmux("send-keys", "-t", "top", key)

    def screen(self, ready):
        """The lines when `ready` finds what it looks for, without the spaces at their ends."""
        until = time.time() + PATIENCE
        while True:
            text = self.tmux("capture-pane", "-p", "-t", "top")
            lines = [line.rstrip() for line in text.split("\n")[: self.size[1]]]
            if ready(lines):
                return lines
            assert time.time() < until, "never:\n" + text
            time.sleep(0.1)


def is_whole(lines):
    """First line, the host's CPU and the last line are there."""
    cpu = any(line.startswith("CPU ") and "% user" in line for line in lines)
    return cpu and lines[0].startswith("WHY") and "UTC" in lines[-1]


def check_large(lines):
    """Two columns of tables, all of them there, and nothing in the cell between the columns."""
    first = next(at for at, line in enumerate(lines) if line.startswith(TITLES[0]))
    begins = {}
    for title in TITLES:
        found = [line.index(title) for line in lines[first:] if title in line]
        assert found, f"{title} is missing:\n" + "\n".join(lines)
        begins[title] = found[0]
    right = max(begins.values())
    assert right > 60 and set(begins.values()) == {0, right}, begins
    over = [line for line in lines[first:-1] if line[right - 1 : right].strip()]
    assert not over, "over the edge of a column:\n" + "\n".join(over)


def check_latencies(terminal):
    """A pool with its buckets, or a line that says why there is none; then the tables again, with the newest interval."""
    terminal.press("w")
    lines = terminal.screen(lambda lines: lines[0].startswith(" Latencies") and not lines[1].startswith("waiting"))
    is_missing = lines[1].startswith("missing: latency histograms: ")
    assert is_missing or lines[3].startswith("latency "), lines
    terminal.press("Escape")
    terminal.screen(lambda lines: is_whole(lines) and "PAUSED" not in lines[-1])


def check_terminal(zwhy):
    if not shutil.which("tmux"):
        return "skipped: there is no `tmux` command"
    with Terminal(zwhy, SMALL) as terminal:
        terminal.screen(lambda lines: is_whole(lines) and "not known yet" not in lines[0])
        # It stands still, so that one picture can be compared with another.
        terminal.press("Space")
        small = terminal.screen(lambda lines: is_whole(lines) and "PAUSED" in lines[-1])
        assert max(map(len, small)) <= SMALL[0], small
        terminal.resize(LARGE)
        large = terminal.screen(lambda lines: is_whole(lines) and any(TITLES[-1] in line for line in lines))
        check_large(large)
        terminal.resize(SMALL)
        # In the last line it is told how long ago the moment was.
        terminal.screen(lambda lines: lines[:-1] == small[:-1])
        check_latencies(terminal)
        terminal.press("q")
        until = time.time() + PATIENCE
        while terminal.tmux("list-sessions", check=False):
            assert time.time() < until, "it does not end"
            time.sleep(0.1)
    return "80 x 24 and 200 x 60 cells: nothing overlaps"


def counters():
    """CPU seconds of the host by kind, and bytes by disk."""
    with open("/proc/stat") as stat:
        ticks = [int(word) for word in stat.readline().split()[1:9]]
    user, nice, system, idle, iowait, irq, softirq, steal = (t / os.sysconf("SC_CLK_TCK") for t in ticks)
    found = {"user": user + nice, "system": system, "idle": idle, "irq": irq + softirq, "steal": steal, "iowait": iowait}
    with open("/proc/diskstats") as disks:
        for fields in map(str.split, disks):
            found[fields[2], "read"] = int(fields[5]) * 512
            found[fields[2], "written"] = int(fields[9]) * 512
    return found


class Beside:
    """Counters while zwhy looks."""

    def __init__(self, apart):
        self.read, self.over, self.apart = [], threading.Event(), apart
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        while not self.over.is_set():
            before = time.time()
            self.read.append((before, counters(), time.time()))
            time.sleep(0.03)

    def end(self):
        time.sleep(2 * self.apart)
        self.over.set()
        self.thread.join()

    def before(self, at, name):
        return next(values[name] for _, values, done in reversed(self.read) if done <= at)

    def after(self, at, name):
        return next(values[name] for begun, values, _ in self.read if begun >= at)

    def grown(self, name, start, end):
        """The least and the most by which a counter grew between two moments that are not known better."""
        apart = self.apart
        least = self.before(end - apart, name) - self.after(start + apart, name)
        return max(least, 0), self.after(end + apart, name) - self.before(start - apart, name)


def look(zwhy, apart):
    """Some lines of `zwhy top --json`, the counters beside them, its most memory and its share of a CPU."""
    beside = Beside(apart)
    child = subprocess.Popen([zwhy, "top", "--json", "-i", "1"], stdout=subprocess.PIPE, text=True)
    lines, spent = [], []
    try:
        for line in child.stdout:
            line = json.loads(line)
            with open(f"/proc/{child.pid}/stat") as stat:
                fields = stat.read().rsplit(")", 1)[1].split()
            spent.append((time.time(), (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")))
            if line["seconds"] > 0 and line["cpu"] and line["unix_s"]:
                lines.append(line)
            # The first ones are of the time when it began.
            if len(lines) == INTERVALS + 3:
                break
        with open(f"/proc/{child.pid}/status") as status:
            memory = next(int(line.split()[1]) for line in status if line.startswith("VmHWM:"))
    finally:
        beside.end()
        child.kill()
        child.wait()
    (begin, least), (end, most) = spent[3], spent[-1]
    return lines[3:], beside, memory, (most - least) / (end - begin)


def check_proc(zwhy, is_release):
    lines, beside, memory, cpu = look(zwhy, APART if is_release else APART_UNOPTIMISED)
    assert len(lines) == INTERVALS, len(lines)
    start, end = lines[0]["unix_s"] - lines[0]["seconds"], lines[-1]["unix_s"]
    cpus = lines[0]["cpus"]
    for name in ["user", "system", "idle", "iowait", "irq", "steal"]:
        told = sum(line["cpu"][name] * line["seconds"] * cpus for line in lines)
        least, most = beside.grown(name, start, end)
        # Ticks of a hundredth of a second of each CPU; the kernel charges idle time and waits late.
        rounding = 0.02 * cpus + (0.02 * (end - start) * cpus if name in ("idle", "iowait") else 0)
        assert least - rounding <= told <= most + rounding, f"{name}: {told} s, /proc/stat {least} to {most}"
    sums = {}
    for line in lines:
        for disk in line["disks"]:
            for way in ["read", "written"]:
                key = disk["disk"], way
                sums[key] = sums.get(key, 0) + disk[f"{way}_bytes_s"] * line["seconds"]
    used = 0
    for key, told in sums.items():
        least, most = beside.grown(key, start, end)
        assert least * 0.999 - 512 <= told <= most * 1.001 + 512, f"{key}: {told}, /proc/diskstats {least} to {most}"
        used += most > 0
    assert memory <= MOST_MEMORY_KB * (1 if is_release else 2), f"{memory} kB of memory"
    assert cpu <= MOST_CPU or not is_release, f"{cpu:.2%} of a CPU"
    return f"as /proc: CPU and {used} counters of disks; {memory / 1024:.1f} MiB, {cpu:.2%} of a CPU"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--zwhy", required=True, type=os.path.realpath)
    parser.add_argument("--release", action="store_true", help="a build whose CPU time counts")
    args = parser.parse_args()
    print(f"top in a terminal: {check_terminal(args.zwhy)}")
    print(f"top beside /proc: {check_proc(args.zwhy, args.release)}")


if __name__ == "__main__":
    sys.exit(main())
