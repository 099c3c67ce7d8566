#!/usr/bin/env python3
"""Checks a wheel: what is in it, its tag, its size, and the oldest glibc that its program runs with.

usage: scripts/wheel_checks.py WHEEL
"""

import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile

MOST_BYTES = 16_000_000
# The oldest that login nodes of clusters have: RHEL 8.
NEWEST_GLIBC = (2, 28)
WANTED = [
    r"tilescope/__init__\.py",
    r"tilescope/py\.typed",
    r"tilescope/_hook/sitecustomize\.py",
    r"tilescope-[^/]+\.data/scripts/tilescope",
    r"tilescope-[^/]+\.dist-info/entry_points\.txt",
    r"tilescope-[^/]+\.dist-info/licenses/LICENSE-MIT",
    r"tilescope-[^/]+\.dist-info/licenses/LICENSE-APACHE",
    r"tilescope-[^/]+\.dist-info/licenses/LICENSE-THIRD-PARTY",
]


def newest_glibc(program):
    """The highest version of a symbol of glibc that a program needs."""
    listed = subprocess.run(["objdump", "-T", program], capture_output=True, text=True, check=True).stdout
    versions = [tuple(map(int, version.split("."))) for version in re.findall(r"GLIBC_([0-9.]+)", listed)]
    return max(versions)


def faults(wheel):
    """What is wrong with a wheel, a line each."""
    if not re.fullmatch(r"tilescope-[^-]+-py3-none-manylinux_2_28_x86_64\.whl", wheel.name):
        yield f"{wheel.name}: the tag is not py3-none-manylinux_2_28_x86_64"
    size = wheel.stat().st_size
    if size > MOST_BYTES:
        yield f"{wheel.name}: {size:,} bytes, more than {MOST_BYTES:,}"
    with zipfile.ZipFile(wheel) as archive, tempfile.TemporaryDirectory() as directory:
        names = archive.namelist()
        for wanted in WANTED:
            if not any(re.fullmatch(wanted, name) for name in names):
                yield f"{wheel.name}: nothing in it is {wanted}"
        for name in names:
            if "__pycache__" in name or name.startswith("tests"):
                yield f"{wheel.name}: {name} does not belong in it"
            if name.endswith(".data/scripts/tilescope"):
                glibc = newest_glibc(archive.extract(name, directory))
                print(f"{wheel.name}: {size:,} bytes, glibc {glibc[0]}.{glibc[1]}")
                if glibc > NEWEST_GLIBC:
                    yield f"{wheel.name}: needs glibc {glibc[0]}.{glibc[1]}"


def main():
    found = list(faults(pathlib.Path(sys.argv[1])))
    print("\n".join(found), end="\n" if found else "")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
