"""The marker of pytest that limits device memory, with a PyTorch that is made up."""

import os
import subprocess
import sys
import tempfile
import unittest

from common import FAKE, HERE, NEEDS_PROGRAM, needs

TESTS = """
import pytest, torch

@pytest.mark.limit_device_memory("1GiB")
def test_small():
    torch.cuda.init()

@pytest.mark.limit_device_memory("200MiB")
def test_large():
    torch.cuda.init()

@pytest.mark.limit_device_memory("200MiB")
def test_fails_by_itself():
    torch.cuda.init()
    assert False

@pytest.mark.limit_device_memory("200 apples")
def test_with_a_wrong_limit():
    torch.cuda.init()

def test_without_a_limit():
    assert torch.calls[-1][:2] == ("record", None)
"""


@NEEDS_PROGRAM
@needs("pytest")
class Marker(unittest.TestCase):
    def pytest(self, *arguments, **variables):
        with tempfile.TemporaryDirectory() as directory:
            with open(os.path.join(directory, "test_it.py"), "w") as file:
                file.write(TESTS)
            paths = os.pathsep.join([str(FAKE), str(HERE.parent)])
            environment = {**os.environ, "PYTHONPATH": paths, "TMPDIR": directory, **variables}
            # An installed package is found by its entry point.
            command = [
                sys.executable,
                "-m",
                "pytest",
                "-p",
                "tilescope._pytest",
                "-p",
                "no:cacheprovider",
                "-rA",
                *arguments,
            ]
            done = subprocess.run(command, cwd=directory, env=environment, capture_output=True, text=True)
            left = [name for name in os.listdir(directory) if name.startswith("tilescope-")]
            return done.stdout, left

    def test_a_test_above_its_limit_fails_with_what_holds_the_memory(self):
        said, left = self.pytest("--strict-markers")
        self.assertIn("3 failed, 2 passed", said)
        self.assertIn("test_large had 544.4 MiB alive on a device at once; its limit is 200.0 MiB", said)
        self.assertIn("/workspace/train.py:25 (forward)", said)
        self.assertIn("invalid value '200 apples'", said)
        self.assertNotIn("test_small had", said)
        # What failed can be opened.
        self.assertEqual(len(left), 3)

    def test_without_a_device_that_is_said(self):
        said, left = self.pytest("-k", "small or large", FAKE_DEVICE="0")
        self.assertIn("2 passed", said)
        self.assertIn("there was no device to record", said)
        self.assertEqual(left, [])


if __name__ == "__main__":
    unittest.main()
