#!/usr/bin/env python3
"""Runs the commands of zwhy-fleet that the documentation tells to type: `docs.py ZWHY-FLEET`.

In a folder of their own, with places of the documentation moved there: stores, captures, tokens. Commands among prose, and those
of a bucket, which is not here, must exist with their options. A server says its address and is ended; a scheduler and executors
go on, at addresses of their own, until all is run.
"""

import itertools
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CAPTURE = ROOT / "docs/first-hour/gzip.zwhy"


def pages():
    """Every page of the documentation."""
    return [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")]


def typed(text):
    """Commands in code blocks, a continued line as one, without comments.

    >>> typed("A\\n\\n    zwhy-fleet query hosts \\\\\\n        --json    # all\\n    zwhy agent\\n")
    ['zwhy-fleet query hosts --json']
    """
    text = re.sub(r"\\\n\s*", "", text)
    return [match[1].strip() for match in re.finditer(r"^    (zwhy-fleet [^#\n]*)", text, re.MULTILINE)]


def spans(text):
    """Commands between backticks in prose.

    >>> spans("say `zwhy-fleet\\nquery hosts` or `zwhy-fleet`; `zwhy-fleet query a|b`")
    ['zwhy-fleet query hosts', 'zwhy-fleet query a|b']
    """
    return [" ".join(span.split()) for span in re.findall(r"`(zwhy-fleet\s[^`]*)`", text)]


def moved(line, folder):
    """A command with its places in the folder; fewer hosts than the page makes.

    >>> moved("zwhy-fleet ingest *.zwhy --store /mnt/fleet", "/f")
    ['ingest', '/f/night.zwhy', '--store', '/f/mnt/fleet']
    >>> moved("zwhy-fleet simulate docs/first-hour/*.zwhy --store /tmp/fleet --hosts 100 --hours 1", "/f")[-3:]
    ['1', '--hours', '1']
    """
    words = []
    for word in shlex.split(line)[1:]:
        if word.endswith(".zwhy"):
            word = f"{folder}/night.zwhy"
        elif word.startswith("/"):
            word = f"{folder}{word}"
        elif word.endswith(".pem"):
            word = f"{folder}/{word}"
        elif words and words[-1] == "--hosts":
            word = "1"
        words.append(word)
    return words


def anywhere(words):
    """The words of a server, at a port that is free.

    >>> anywhere(["serve", "--listen", "0.0.0.0:9935"]), anywhere(["scheduler"])
    (['serve', '--listen', '127.0.0.1:0'], ['scheduler', '--listen', '127.0.0.1:0'])
    """
    words = ["127.0.0.1:0" if before == "--listen" else word for before, word in zip([""] + words, words)]
    return words if "--listen" in words else words + ["--listen", "127.0.0.1:0"]


class Cluster:
    """A scheduler and executors, as the documentation starts them."""

    def __init__(self):
        self.processes, self.scheduler = [], None

    def starts(self, program, words):
        """Whether a process of the cluster says that it is ready."""
        process = subprocess.Popen([program, *anywhere(words)], stdout=subprocess.PIPE, text=True)
        self.processes.append(process)
        said = process.stdout.readline().strip()
        if words[0] == "scheduler":
            self.scheduler = said
        return "127.0.0.1:" in said, said

    def found(self, words):
        """The words of whoever asks it, with the address that the scheduler said."""
        return [self.scheduler if self.scheduler and word.startswith("df://") else word for word in words]

    def end(self):
        for process in reversed(self.processes):
            process.kill()
            process.wait()


def serves(program, words):
    """Whether a server says its address, and goes when it is told to."""
    server = subprocess.Popen([program, *anywhere(words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    address = server.stdout.readline()
    server.send_signal(signal.SIGTERM)
    _, error = server.communicate(timeout=60)
    return re.search(r"https?://", address) is not None, address + error


def ran(program, words, cluster):
    words = cluster.found(words)
    if words[0] in ("scheduler", "executor"):
        return cluster.starts(program, words)
    if words[0] == "serve":
        return serves(program, words)
    done = subprocess.run([program, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    return done.returncode == 0, done.stdout + done.stderr


def helped(program, path):
    done = subprocess.run([program, *path, "--help"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return done.stdout if done.returncode == 0 else None


def named(program, line):
    """What is wrong with a command among prose: all words before its options are commands, and it has the options."""
    words = line.split()[1:]
    path = list(itertools.takewhile(lambda word: re.fullmatch(r"[a-z|]+", word), words))
    wrong = []
    for name in path[-1].split("|") if path else []:
        told = helped(program, [*path[:-1], name])
        if told is None:
            wrong.append(f"{line}: no command {' '.join([*path[:-1], name])}")
            continue
        wrong += [f"{line}: no option {word}" for word in words if word.startswith("--") and word not in told]
    return wrong


def certificate(folder):
    """A key and a certificate for the server, where openssl is there to make them."""
    command = "openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -days 2 -subj /CN=fleet.example.org"
    made = shutil.which("openssl") and subprocess.run(shlex.split(command), cwd=folder, stderr=subprocess.DEVNULL)
    return bool(made) and made.returncode == 0


def main(program):
    wrong, seen, folder, cluster = [], 0, tempfile.mkdtemp(), Cluster()
    try:
        shutil.copy(CAPTURE, f"{folder}/night.zwhy")
        for place in ("mnt", "tmp", "etc/zwhy", "var/log"):
            Path(folder, place).mkdir(parents=True)
        done, said = ran(program, ["ingest", str(CAPTURE), "--store", f"{folder}/mnt/fleet"], cluster)
        assert done, said
        has_certificate = certificate(folder)
        for page in pages():
            text = page.read_text(encoding="utf-8")
            for line in typed(text):
                if "--certificate" in line and not has_certificate:
                    print(f"skipped, no openssl: {line}")
                    continue
                if "s3://" in line:
                    seen += 1
                    wrong += [f"{page.name}: {what}" for what in named(program, line)]
                    continue
                done, said = ran(program, moved(line, folder), cluster)
                seen += 1
                wrong += [] if done else [f"{page.name}: {line}\n{said}"]
            for line in spans(text):
                seen += 1
                wrong += [f"{page.name}: {what}" for what in named(program, line)]
    finally:
        cluster.end()
        shutil.rmtree(folder)
    assert seen > 15, f"only {seen} commands were found"
    if wrong:
        sys.exit("\n".join(wrong))
    print(f"{seen} commands of zwhy-fleet in the documentation exist and run")


if __name__ == "__main__":
    main(str(Path(sys.argv[1]).resolve()))
