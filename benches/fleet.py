#!/usr/bin/env python3
"""Times queries of zwhy-fleet over a store of simulated hosts, beside DuckDB on the same files, in turn; writes Markdown.

Each figure of zwhy-fleet is a request to a running server, from the question to the last byte of the answer: sums, names, tree and
text; once of a server that asks by itself, and once of one that asks two executors of one task each (Ballista). DuckDB makes the
text of the same table by a recursive query, and without it stops at the sums and the names; only the server's answer comes over
HTTP. Needs the Python module duckdb (make setup-fleet, or pip install duckdb).
"""

import argparse
import glob
import json
import os
import resource
import statistics
import subprocess
import sys
import time
import urllib.parse
import urllib.request

STEP_MS = 300_000


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("recordings", nargs="+")
    parser.add_argument("--fleet", required=True, help="the program, optimised")
    parser.add_argument("--store", required=True, help="a folder; it is filled where it is not there")
    parser.add_argument("--hosts", type=int, default=100)
    parser.add_argument("--hours", type=int, default=1)
    parser.add_argument("--rate", type=int, help="samples a second of each host; without it as many as the recordings have")
    parser.add_argument("--interval", type=int, default=5, help="seconds between two readings of a counter")
    parser.add_argument("--runs", type=int, default=9)
    return parser.parse_args()


def timed(command):
    """Seconds, CPU seconds and peak MB of a command."""
    begun = time.monotonic()
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return done.stdout.strip(), time.monotonic() - begun, cpu, after.ru_maxrss / 1024


def fill(args, start):
    """Makes the hosts and merges their files."""
    how = ["--interval", str(args.interval), *(["--rate", str(args.rate)] if args.rate else [])]
    made = timed([args.fleet, "simulate", *args.recordings, "--store", args.store, "--hosts", str(args.hosts),
                  "--hours", str(args.hours), "--start", f"@{start}", *how])
    print(f"simulate: {made[0]}; {made[1]:.0f} s, {made[2]:.0f} CPU s, {made[3]:.0f} MB")
    size = sum(os.path.getsize(f) for f in glob.glob(f"{args.store}/samples/**/*.parquet", recursive=True))
    rest = sum(os.path.getsize(f) for f in glob.glob(f"{args.store}/**/*.parquet", recursive=True)) - size
    print(f"files of hosts: {size / 1e6:.1f} MB of samples, {rest / 1e6:.1f} MB of other tables")
    merged = timed([args.fleet, "compact", "--store", args.store, "--settle", "0s", "--grace", "0s",
                    "--sums-after", "36500d", "--drop-after", "36500d"])
    print(f"judge and compact: {merged[0]}; {merged[1]:.0f} s, {merged[2]:.0f} CPU s, {merged[3]:.0f} MB")


def started(command):
    """A process that goes on, and its first line: it is ready then."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    return process, process.stdout.readline().strip()


class Cluster:
    """A scheduler and two executors, until the script ends."""

    def __init__(self, args):
        scheduler, self.address = started([args.fleet, "scheduler", "--listen", "127.0.0.1:0"])
        command = [args.fleet, "executor", "--store", args.store, "--scheduler", self.address, "--cpus", "1"]
        self.processes = [scheduler, *(started(command)[0] for _ in range(2))]

    def end(self):
        for process in reversed(self.processes):
            process.kill()
            process.wait()


class Server:
    """`zwhy-fleet serve`, until the script ends."""

    def __init__(self, args, scheduler=None):
        command = [args.fleet, "serve", "--store", args.store, "--listen", "127.0.0.1:0"]
        command += ["--scheduler", scheduler] if scheduler else []
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self.address, token = self.process.stdout.readline().strip().split("/#token=")
        self.headers = {"Authorization": f"Bearer {token}"}

    def ask(self, path):
        request = urllib.request.Request(f"{self.address}/api/v1/{path}", headers=self.headers)
        with urllib.request.urlopen(request) as answer:
            return answer.read()

    def peak_mb(self):
        with open(f"/proc/{self.process.pid}/status", encoding="utf-8") as status:
            return next(int(line.split()[1]) / 1024 for line in status if line.startswith("VmHWM"))


class Peer:
    """DuckDB on the files that the manifests name."""

    def __init__(self, store):
        import duckdb

        self.version = duckdb.__version__
        self.engine = duckdb.connect()
        self.files = {}
        for manifest in glob.glob(f"{store}/manifest/*/*/*.json"):
            with open(manifest, encoding="utf-8") as text:
                for file in json.load(text)["files"]:
                    self.files.setdefault(file["table"], []).append(f"{store}/{file['key']}")

    def rows(self, table):
        return self.engine.execute(f"SELECT count(*) FROM read_parquet({self.files[table]})").fetchone()[0]

    def sums(self, table, where):
        """Samples by thread name and stack, and the names of stacks: what a flame graph is made of."""
        where = " AND ".join(["NOT own", *where])
        for name, query in [
            ("sums", f"SELECT comm, stack_id, event, sum(count) AS n, sum(weight_ns) AS w "
                     f"FROM read_parquet({self.files[table]}) WHERE {where} GROUP BY ALL"),
            ("stacks", f"SELECT DISTINCT stack_id, parent_id, frame_id FROM read_parquet({self.files['stacks']})"),
            ("frames", f"SELECT DISTINCT frame_id, function, module, kind, file, line, reason "
                       f"FROM read_parquet({self.files['frames']})"),
        ]:
            self.engine.execute(f"CREATE OR REPLACE TEMP TABLE {name} AS {query}")

    def folded(self, table, where):
        """The lines of the flame graph, as the server answers them but for the characters that the format has no room for."""
        self.sums(table, where)
        lines = self.engine.execute(
            "WITH RECURSIVE paths(stack_id, path) AS ("
            "  SELECT stack_id, function FROM stacks JOIN frames USING (frame_id) WHERE parent_id = 0"
            "  UNION ALL SELECT s.stack_id, path || ';' || function FROM paths p JOIN stacks s ON s.parent_id = p.stack_id"
            "  JOIN frames USING (frame_id)) "
            "SELECT comm || ';' || path || ' ' || sum(n) FROM sums JOIN paths USING (stack_id) "
            "WHERE event = 'cpu' GROUP BY comm, path ORDER BY comm, path")
        return "\n".join(line for (line,) in lines.fetchall())

    def samples(self):
        return self.engine.execute("SELECT sum(n) FROM sums WHERE event = 'cpu'").fetchone()[0]


def questions(start_ms, host):
    """Name, what the server is asked, the range and host of the same question in SQL, and the table that answers it."""
    hour, ten = (None, None), (start_ms + 4 * STEP_MS, start_ms + 6 * STEP_MS)
    odd = (ten[0] + 7_000, ten[1] + 7_000)
    for name, (begin, end), one, table in [
        ("all hosts, all of the time", hour, None, "totals"),
        ("all hosts, 10 minutes", ten, None, "totals"),
        ("all hosts, 10 minutes that begin at an odd second", odd, None, "samples"),
        ("one host, all of the time", hour, host, "sums"),
        ("one host, 10 minutes that begin at an odd second", odd, host, "samples"),
    ]:
        asked = {name: value for name, value in [("from", begin), ("to", end), ("host", one)] if value is not None}
        where = [f"t_ms >= {begin} AND t_ms < {end}"] if begin else []
        yield name, "flame?" + urllib.parse.urlencode(asked), where + ([f"host = '{one}'"] if one else []), table


def amount(folded):
    """Samples of all lines."""
    return sum(int(line.rsplit(" ", 1)[1]) for line in folded.splitlines())


def milliseconds(work):
    begun = time.monotonic()
    work()
    return (time.monotonic() - begun) * 1e3


def figures(times):
    return f"{statistics.median(times):.0f} ({min(times):.0f})"


def main():
    args = arguments()
    start = 1_795_374_000  # A multiple of the steps of sums.
    if not os.path.isdir(args.store):
        fill(args, start)
    server, peer, cluster = Server(args), Peer(args.store), Cluster(args)
    spread = Server(args, cluster.address)
    try:
        for table in sorted(peer.files):
            size, rows = sum(map(os.path.getsize, peer.files[table])), peer.rows(table)
            print(f"merged {table}: {rows} rows, {size / 1e6:.1f} MB, {size / max(rows, 1):.2f} B a row")
        print(f"\n{os.cpu_count()} CPUs, load {os.getloadavg()[0]:.1f}; DuckDB {peer.version}; "
              f"median (least) of {args.runs} warm runs in turn, ms\n")
        print("| flame graph of | zwhy-fleet | two executors | DuckDB, the same text | ratio | DuckDB, sums and names "
              "| DuckDB, those of every row |")
        print("|---|---:|---:|---:|---:|---:|---:|")
        for name, asked, where, table in questions(start * 1000, "sim00001"):
            ours, theirs, texts, same, rows = [], [], [], [], []
            folded = server.ask(asked).decode()
            if spread.ask(asked).decode() != folded:
                sys.exit(f"{name}: two executors answer otherwise")
            for of in {table, "samples"}:
                peer.sums(of, where)
                told = amount(folded)
                if told != peer.samples():
                    sys.exit(f"{name}: {told} samples, and {peer.samples()} in DuckDB")
            if amount(peer.folded(table, where)) != told:
                sys.exit(f"{name}: the text of DuckDB has other samples")
            for _ in range(args.runs):
                ours.append(milliseconds(lambda: server.ask(asked)))
                theirs.append(milliseconds(lambda: spread.ask(asked)))
                texts.append(milliseconds(lambda: peer.folded(table, where)))
                same.append(milliseconds(lambda: peer.sums(table, where)))
                if table != "samples":
                    rows.append(milliseconds(lambda: peer.sums("samples", where)))
            ratio = statistics.median(ours) / statistics.median(texts)
            every = figures(rows) if rows else "the same"
            print(f"| {name} | {figures(ours)} | {figures(theirs)} | {figures(texts)} | {ratio:.2f} | {figures(same)} | {every} |")
        print("\n| other answers | zwhy-fleet | two executors |\n|---|---:|---:|")
        for asked in ["hosts", "stages", "functions", "stages/steps?step=5m", "stages/steps?step=1m", "findings",
                      "kstat?host=sim00001&source=arcstats&name=size"]:
            if server.ask(asked) != spread.ask(asked):
                sys.exit(f"{asked}: two executors answer otherwise")
            ours, theirs = ([milliseconds(lambda: of.ask(asked)) for _ in range(args.runs)] for of in (server, spread))
            print(f"| {asked} | {figures(ours)} | {figures(theirs)} |")
        print(f"\npeak memory of the server: {server.peak_mb():.0f} MB")
    finally:
        for of in (server, spread):
            of.process.terminate()
            of.process.wait()
        cluster.end()


if __name__ == "__main__":
    main()
