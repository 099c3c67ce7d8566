"""Shared by the tests: where the program and the samples are, and which packages are there."""

import contextlib
import importlib.util
import os
import pathlib
import shutil
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
FAKE = HERE / "fake"
SAMPLES = HERE.parents[1] / "sample_profiles"
sys.path.insert(0, str(HERE.parent))

# Tests work in directories of their own.
if os.environ.get("TILESCOPE_BIN"):
    os.environ["TILESCOPE_BIN"] = os.path.abspath(os.environ["TILESCOPE_BIN"])
PROGRAM = os.environ.get("TILESCOPE_BIN") or shutil.which("tilescope")
NEEDS_PROGRAM = unittest.skipUnless(PROGRAM, "TILESCOPE_BIN names no program")

_said = set()


def is_installed(package):
    """Whether a package is there; says once that it is not."""
    if importlib.util.find_spec(package) is not None:
        return True
    if package not in _said:
        _said.add(package)
        print(f"skipped: {package} is not installed", file=sys.stderr)
    return False


def needs(*packages):
    """Skips a test where one of the packages is absent."""
    missing = [package for package in packages if not is_installed(package)]
    return unittest.skipIf(missing, f"not installed: {', '.join(missing)}")


def below(directory):
    """The names in a directory, in order."""
    return sorted(path.name for path in pathlib.Path(directory).iterdir())


@contextlib.contextmanager
def inside(directory):
    """Within, the process is in that directory."""
    before = os.getcwd()
    os.chdir(directory)
    try:
        yield
    finally:
        os.chdir(before)
