#!/usr/bin/env python3
"""What zwhy is made of, from cargo's own data: licences are checked, an SBOM and the texts of licences are written.

    bill.py licences                    every dependency is under a licence of the list, or exit status 1
    bill.py sbom --target TRIPLE        CycloneDX 1.5 (JSON) of what is in the program
    bill.py texts --target TRIPLE       names, licences and texts of what is in the program

`--program zwhy-fleet` asks the same of that program, which is a workspace of its own. Needs no network where the dependencies
are downloaded.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import time
import uuid
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# Licences that may be part of a program under Apache-2.0 without more than their notice.
ALLOWED = {
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "ISC",
    "MIT",
    "MIT-0",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
    # As Zlib: keep the notice, mark what was changed, and do not use the author's name.
    "bzip2-1.0.6",
}

# What only tests and benchmarks use may be under these, too: nobody is given it.
ALLOWED_IN_TESTS = ALLOWED | {"CDDL-1.0"}


def is_allowed(expression, allowed=frozenset(ALLOWED)):
    """Whether an SPDX expression can be met with licences of the list.

    >>> is_allowed("MIT OR Apache-2.0"), is_allowed("GPL-3.0-only OR MIT"), is_allowed("MIT/Apache-2.0")
    (True, True, True)
    >>> is_allowed("GPL-3.0-only"), is_allowed("MIT AND GPL-2.0-only"), is_allowed("")
    (False, False, False)
    >>> is_allowed("(MIT OR Apache-2.0) AND Unicode-3.0"), is_allowed("Apache-2.0 WITH LLVM-exception OR MIT")
    (True, True)
    >>> is_allowed("(MIT OR GPL-2.0-only) AND (GPL-3.0-only OR MPL-2.0)")
    False
    >>> is_allowed("CDDL-1.0"), is_allowed("CDDL-1.0", ALLOWED_IN_TESTS)
    (False, True)
    """
    words = re.findall(r"\(|\)|[^\s()]+", (expression or "").replace("/", " OR "))
    if not words:
        return False
    value, rest = _either(words, allowed)
    return value and not rest


def _either(words, allowed):
    value, words = _both(words, allowed)
    while words and words[0] == "OR":
        other, words = _both(words[1:], allowed)
        value = value or other
    return value, words


def _both(words, allowed):
    value, words = _one(words, allowed)
    while words and words[0] == "AND":
        other, words = _one(words[1:], allowed)
        value = value and other
    return value, words


def _one(words, allowed):
    if not words:
        return False, []
    if words[0] == "(":
        value, words = _either(words[1:], allowed)
        return value and words[:1] == [")"], words[1:]
    name, words = words[0], words[1:]
    if words[:1] == ["WITH"]:
        name, words = f"{name} WITH {' '.join(words[1:2])}", words[2:]
    return name in allowed, words


# Programs and the folders of their workspaces.
PROGRAMS = {"zwhy": ROOT, "zwhy-fleet": ROOT / "fleet"}


def metadata(program, target=None):
    manifest = str(PROGRAMS[program] / "Cargo.toml")
    command = ["cargo", "metadata", "--locked", "--format-version", "1", "--manifest-path", manifest]
    command += ["--filter-platform", target] if target else []
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=False)
    if done.returncode != 0:
        sys.exit("error: cargo metadata failed; it needs the dependencies that Cargo.lock names")
    return json.loads(done.stdout)


def is_own(package):
    return package["source"] is None


def in_program(data, program):
    """Packages that are linked into it, with what each depends on; build scripts and tests are left out."""
    nodes = {node["id"]: node for node in data["resolve"]["nodes"]}
    by_id = {package["id"]: package for package in data["packages"]}
    (top,) = [p["id"] for p in data["packages"] if p["name"] == program and is_own(p)]
    linked, todo = {}, [top]
    while todo:
        at = todo.pop()
        if at in linked:
            continue
        normal = [
            dep["pkg"] for dep in nodes[at]["deps"] if any(kind["kind"] is None for kind in dep["dep_kinds"])
        ]
        # Macros run while the program is built; nothing of them is in it.
        normal = [d for d in normal if not any("proc-macro" in t["kind"] for t in by_id[d]["targets"])]
        linked[at] = sorted(normal)
        todo.extend(normal)
    return {by_id[key]["id"]: (by_id[key], deps) for key, deps in linked.items()}, by_id


def built_or_linked(data, program):
    """Packages that are in the program, or run while it is built."""
    nodes = {node["id"]: node for node in data["resolve"]["nodes"]}
    (top,) = [p["id"] for p in data["packages"] if p["name"] == program and is_own(p)]
    seen, todo = set(), [top]
    while todo:
        at = todo.pop()
        if at not in seen:
            seen.add(at)
            todo += [d["pkg"] for d in nodes[at]["deps"] if any(k["kind"] != "dev" for k in d["dep_kinds"])]
    return seen


def check_licences(program):
    data = metadata(program, host())
    used = built_or_linked(data, program)
    known = {node["id"] for node in data["resolve"]["nodes"]}
    foreign = [p for p in data["packages"] if not is_own(p) and p["id"] in known]
    wrong = [
        p for p in foreign if not is_allowed(p["license"], ALLOWED if p["id"] in used else ALLOWED_IN_TESTS)
    ]
    for package in wrong:
        print(f"error: {package['name']} {package['version']} is under {package['license'] or 'no stated licence'}")
    if wrong:
        sys.exit("Take another library, or discuss the licence and add it to scripts/dist/bill.py.")
    if not foreign:
        sys.exit("error: cargo names no dependency")
    print(f"{len(foreign)} dependencies, all under licences of the list")


def host():
    told = subprocess.run(["rustc", "-vV"], stdout=subprocess.PIPE, check=True, text=True).stdout
    return next(line.split()[1] for line in told.splitlines() if line.startswith("host: "))


def reference(package):
    return f"pkg:cargo/{package['name']}@{package['version']}"


def checksums(program):
    found, name = {}, None
    for line in (PROGRAMS[program] / "Cargo.lock").read_text(encoding="utf-8").splitlines():
        if match := re.fullmatch(r'(name|version|checksum) = "(.*)"', line):
            key, value = match.groups()
            if key == "name":
                name = value
            elif key == "version":
                name = (name, value)
            else:
                found[name] = value
    return found


def component(package, sums):
    entry = {
        "type": "library",
        "bom-ref": reference(package),
        "name": package["name"],
        "version": package["version"],
        "purl": reference(package),
        "licenses": [{"expression": (package["license"] or "NOASSERTION").replace("/", " OR ")}],
    }
    if package.get("description"):
        entry["description"] = " ".join(package["description"].split())
    if digest := sums.get((package["name"], package["version"])):
        entry["hashes"] = [{"alg": "SHA-256", "content": digest}]
    if package.get("repository"):
        entry["externalReferences"] = [{"type": "vcs", "url": package["repository"]}]
    return entry


def write_sbom(program, target):
    linked, by_id = in_program(metadata(program, target), program)
    sums = checksums(program)
    order = sorted(linked.values(), key=lambda entry: (entry[0]["name"], entry[0]["version"]))
    top = next(package for package, _ in order if package["name"] == program)
    bill = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "component": {**component(top, sums), "type": "application"},
            "properties": [{"name": "target", "value": target}],
        },
        "components": [component(package, sums) for package, _ in order if package is not top],
        "dependencies": [
            {"ref": reference(package), "dependsOn": sorted(reference(by_id[dep]) for dep in deps)}
            for package, deps in order
        ],
    }
    if epoch := os.environ.get("SOURCE_DATE_EPOCH"):
        bill["metadata"]["timestamp"] = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(int(epoch)))
    content = json.dumps(bill, sort_keys=True)
    # The same content has the same number.
    bill["serialNumber"] = uuid.uuid5(uuid.NAMESPACE_URL, content).urn
    json.dump(bill, sys.stdout, indent=1, sort_keys=True)
    print()


def licence_files(package):
    folder = Path(package["manifest_path"]).parent
    names = re.compile(r"(licen[cs]e|copying|notice|unlicense)([-._].*)?", re.IGNORECASE)
    return sorted(p for p in folder.iterdir() if p.is_file() and names.fullmatch(p.name))


def write_texts(program, target):
    linked, _ = in_program(metadata(program, target), program)
    foreign = [package for package, _ in linked.values() if not is_own(package)]
    foreign.sort(key=lambda package: (package["name"], package["version"]))
    print(f"Libraries that are part of the program {program}, with their licences\n")
    texts = {}
    for package in foreign:
        name = f"{package['name']} {package['version']}"
        print(f"{name}: {package['license']}")
        for path in licence_files(package):
            text = path.read_text(encoding="utf-8", errors="replace").strip()
            texts.setdefault(text, []).append(f"{name} ({path.name})")
    for text, of in texts.items():
        print(f"\n{'=' * 78}\n{', '.join(of)}\n{'=' * 78}\n\n{text}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["licences", "sbom", "texts"])
    parser.add_argument("--program", choices=sorted(PROGRAMS), default="zwhy")
    parser.add_argument("--target")
    args = parser.parse_args()
    if args.what == "licences":
        return check_licences(args.program)
    if not args.target:
        parser.error(f"{args.what} needs --target")
    write = write_sbom if args.what == "sbom" else write_texts
    return write(args.program, args.target)


if __name__ == "__main__":
    main()
