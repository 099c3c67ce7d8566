"""The page about Python: its sessions are run, its other blocks are Python."""

import ast
import doctest
import re
import unittest

from common import HERE, NEEDS_PROGRAM, inside

ROOT = HERE.parents[1]
PAGE = ROOT / "docs/user/python.md"


class Page(unittest.TestCase):
    @NEEDS_PROGRAM
    def test_its_sessions_are_right(self):
        text = "\n".join(re.findall(r"```pycon\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL))
        session = doctest.DocTestParser().get_doctest(text, {}, PAGE.name, str(PAGE), 0)
        with inside(ROOT):
            result = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(session)
        self.assertEqual(result.failed, 0)
        self.assertGreater(result.attempted, 10)

    def test_its_blocks_can_be_read(self):
        blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
        self.assertGreater(len(blocks), 5)
        for block in blocks:
            ast.parse(block)


if __name__ == "__main__":
    unittest.main()
