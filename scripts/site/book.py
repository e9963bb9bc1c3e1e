#!/usr/bin/env python3
"""Lays the documentation out as one book for mdBook: `book.py FOLDER`.

The book is made of the files where they are. Pages keep their places, so links between them hold; the field guide's own
table of contents becomes part of the book's. A link to a file that is no page of the book becomes its path in the sources.
"""

import re
import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CONTENTS = Path("docs/SUMMARY.md")
GUIDE = Path("docs/field-guide/src")

BOOK = """[book]
title = "zwhy: why is ZFS eating my CPU?"
description = "Root causes of performance problems of OpenZFS, with evidence and remedies"
language = "en"
src = "src"

[output.html]
no-section-label = true
default-theme = "light"
preferred-dark-theme = "navy"

[output.html.fold]
enable = true
level = 1

[output.html.print]
enable = false
"""

LINK = re.compile(r"(!?)\[((?:[^\]\\]|\\.)*)\]\(([^)\s]+)\)")


def resolved(page, target):
    """The file that a link of a page means, from the root; None where it leads elsewhere or stays on the page.

    >>> resolved(Path("docs/LAB.md"), "../plugins/example.c").as_posix()
    'plugins/example.c'
    >>> resolved(Path("docs/LAB.md"), "TOP.md#keys").as_posix()
    'docs/TOP.md'
    >>> resolved(Path("README.md"), "https://rustup.rs"), resolved(Path("README.md"), "#install")
    (None, None)
    """
    file = target.partition("#")[0]
    if "://" in target or target.startswith("mailto:") or not file:
        return None
    return (ROOT / page.parent / file).resolve().relative_to(ROOT)


def contents():
    """The table of contents with paths from the root, the field guide's below its page.

    The entry of the guide is a list item; its parts become items below it.
    """
    lines = []
    for line in (ROOT / CONTENTS).read_text(encoding="utf-8").splitlines():
        lines.append(LINK.sub(lambda m: f"[{m[2]}]({resolved(CONTENTS, m[3]).as_posix()})", line))
        if f"({GUIDE.relative_to('docs').as_posix()}/README.md)" in line:
            lines += guide()
    return lines


def guide():
    summary = GUIDE / "SUMMARY.md"
    lines, part = [], False
    for line in (ROOT / summary).read_text(encoding="utf-8").splitlines():
        if line.startswith("# ") and line != "# Summary":
            part = True
            lines.append(f"  - [{line[2:]}]()")
        elif line.startswith("- ["):
            line = LINK.sub(lambda m: f"[{m[2]}]({resolved(summary, m[3]).as_posix()})", line)
            lines.append(("    " if part else "  ") + line)
    return lines


def rewritten(page, text, pages):
    """The text of a page; links out of the book as paths. Blocks of code stay as they are."""

    def link(match):
        file = resolved(page, match[3])
        if match[1] or file is None or file in pages:
            return match[0]
        path = file.as_posix()
        shown = match[2].strip("`")
        return f"`{path}`" if path.rstrip("/").endswith(shown.rstrip("/")) else f"{match[2]} (`{path}`)"

    parts = re.split(r"(^```.*?^```$)", text, flags=re.M | re.S)
    return "".join(part if part.startswith("```") else LINK.sub(link, part) for part in parts)


def images(page, text):
    return [resolved(page, match[3]) for match in LINK.finditer(text) if match[1]]


def main():
    out = Path(sys.argv[1])
    shutil.rmtree(out, ignore_errors=True)
    (out / "src").mkdir(parents=True)
    lines = contents()
    pages = {Path(match[3]) for line in lines for match in [LINK.search(line)] if match}
    for page in sorted(pages):
        text = (ROOT / page).read_text(encoding="utf-8")
        to = out / "src" / page
        to.parent.mkdir(parents=True, exist_ok=True)
        to.write_text(rewritten(page, text, pages), encoding="utf-8")
        for image in images(page, text):
            (out / "src" / image).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / image, out / "src" / image)
    (out / "src" / "SUMMARY.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (out / "book.toml").write_text(BOOK, encoding="utf-8")
    print(f"{len(pages)} pages")


if __name__ == "__main__":
    main()
