#!/usr/bin/env python3
"""Writes the notices of everything that is compiled into the program: each crate with its license, and every license text once.

usage: scripts/notices.py OUTPUT
"""

import collections
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PLATFORM = "x86_64-unknown-linux-gnu"
TEXT = re.compile(r"(LICEN[CS]E|COPYING|COPYRIGHT|NOTICE|UNLICEN[CS]E|OFL|UFL)\b.*", re.IGNORECASE)
# Beside the fonts of epaint_default_fonts, under any name.
TEXT_OF_A_FONT = re.compile(r"fonts/[^/]+\.txt")
NOT_COMPILED = {"assets", "benches", "ci", "examples", "fuzz", "test", "tests"}
OURS = "tilescope"


def crates():
    """The packages of cargo's metadata whose code is in the program, by name and version; macros and what they use are among them."""
    cargo = ["cargo", "--quiet"]
    options = {"capture_output": True, "text": True, "check": True, "cwd": ROOT}
    tree = [*cargo, "tree", "--locked", "--package", OURS, "--edges", "normal", "--target", PLATFORM, "--prefix", "none"]
    listed = subprocess.run([*tree, "--no-dedupe", "--format", "{p}"], **options).stdout.splitlines()
    compiled = {tuple(line.split()[:2]) for line in listed}
    metadata = [*cargo, "metadata", "--locked", "--format-version", "1", "--filter-platform", PLATFORM]
    packages = json.loads(subprocess.run(metadata, **options).stdout)["packages"]
    named = {(package["name"], "v" + package["version"]): package for package in packages}
    return [named[name] for name in sorted(compiled) if name[0] != OURS]


def texts(package):
    """The license texts that a package brings."""
    top = pathlib.Path(package["manifest_path"]).parent
    for path in sorted(top.rglob("*")):
        place = path.relative_to(top)
        if not path.is_file() or NOT_COMPILED.intersection(place.parts):
            continue
        if (TEXT.fullmatch(path.name) and path.suffix != ".rs") or TEXT_OF_A_FONT.fullmatch(place.as_posix()):
            yield path.read_text(encoding="utf-8", errors="replace").strip().replace("\r\n", "\n")


def notices():
    """The whole text."""
    apache = (ROOT / "LICENSE-APACHE").read_text(encoding="utf-8").strip()
    # Without our own line of copyright.
    mit = (ROOT / "LICENSE-MIT").read_text(encoding="utf-8").strip().split("\n\n", 2)[2]
    fonts = (ROOT / "assets/fonts/OFL.txt").read_text(encoding="utf-8").strip()
    users = collections.defaultdict(list)
    lines = []

    def component(name, terms, authors, found):
        lines.append(f"{name}: {terms}" + (f", by {authors}" if authors else ""))
        for text in found:
            # The same text with other line breaks is the same text.
            users[" ".join(text.split())].append((name, text))

    component("Rust standard library", "MIT OR Apache-2.0", "The Rust Project Developers", [apache])
    component("libunwind and compiler-rt", "Apache-2.0 WITH LLVM-exception OR MIT", "The LLVM Project, Zig contributors", [apache])
    component("Inter and JetBrains Mono, fonts", "OFL-1.1", "", [fonts])
    for package in crates():
        terms, authors = package["license"] or "", ", ".join(package["authors"])
        found = list(texts(package))
        # Many crates of a workspace leave the text at its top.
        if not found and "Apache-2.0" in terms:
            found = [apache]
        elif not found and terms == "MIT" and authors:
            found = [f"MIT License\n\nCopyright (c) {authors}\n\n{mit}"]
        elif not found:
            sys.exit(f"{package['name']} {package['version']} brings no text of its license, {terms!r}")
        component(f"{package['name']} {package['version']}", terms, authors, found)

    yield "What is compiled into Tilescope, and on what terms. Where there is a choice of licenses, each may be chosen."
    yield "\n".join(lines)
    for used in users.values():
        yield "=" * 80 + "\nFor " + ", ".join(dict.fromkeys(name for name, _ in used))
        yield used[0][1]


def main():
    pathlib.Path(sys.argv[1]).write_text("\n\n".join(notices()) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
