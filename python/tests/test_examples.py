"""The examples of the documentation strings, on the runs that come with the program."""

import doctest
import importlib
import pkgutil
import sys
import unittest
from unittest import mock

from common import FAKE, NEEDS_PROGRAM, SAMPLES, inside, is_installed

import tilescope

LIBRARIES = {"to_arrow": "pyarrow", "to_pandas": "pandas", "to_polars": "polars"}
# They import libraries that are not always there, and are tested with them.
OTHERS = ("tilescope.transformers", "tilescope.lightning", "tilescope._pytest", "tilescope._hook")


@NEEDS_PROGRAM
class Examples(unittest.TestCase):
    def test_every_example_is_right(self):
        finder = doctest.DocTestFinder(exclude_empty=True)
        runner = doctest.DocTestRunner(verbose=False)
        silent = mock.patch("tilescope._capture.say_once")
        self.addCleanup(sys.modules.pop, "torch", None)
        with inside(SAMPLES.parent), mock.patch.object(sys, "path", [str(FAKE), *sys.path]), silent:
            for module in self.modules():
                for test in finder.find(module):
                    library = LIBRARIES.get(test.name.rpartition(".")[2])
                    if library is None or is_installed(library):
                        runner.run(test)
        self.assertEqual(runner.failures, 0)
        self.assertGreater(runner.tries, 50)

    def test_every_public_name_has_an_example(self):
        for name in tilescope.__all__:
            value = getattr(tilescope, name)
            members = vars(value).items() if isinstance(value, type) else ()
            for of, one in [(name, value), *((f"{name}.{of}", one) for of, one in members if not of.startswith("_"))]:
                one = getattr(one, "fget", None) or getattr(one, "func", None) or one
                self.assertIn(">>> ", one.__doc__ or "", of)

    @staticmethod
    def modules():
        for found in pkgutil.walk_packages(tilescope.__path__, "tilescope."):
            if not found.name.endswith("__main__") and found.name not in OTHERS:
                yield importlib.import_module(found.name)
        yield tilescope


if __name__ == "__main__":
    unittest.main()
