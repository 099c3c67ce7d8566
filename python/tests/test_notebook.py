"""A notebook that is run: its displays are there, and it stays small."""

import base64
import re
import unittest

from common import HERE, NEEDS_PROGRAM, SAMPLES, needs

RUNS = ["training/segments-0", "training/segments-2", "tiny", "does-not-fit", "xla/keep"]


@NEEDS_PROGRAM
@needs("nbformat", "nbclient", "ipykernel")
class Notebook(unittest.TestCase):
    def test_ten_displays_are_below_two_megabytes(self):
        import nbformat
        from nbclient import NotebookClient

        notebook = nbformat.v4.new_notebook()
        setup = f"import sys; sys.path.insert(0, {str(HERE.parent)!r})\nimport tilescope"
        cells = [setup] + [f"tilescope.open({run!r})" for run in RUNS * 2]
        notebook.cells = [nbformat.v4.new_code_cell(cell) for cell in cells]
        NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(SAMPLES)}}).execute()
        nbformat.validate(notebook)
        text = nbformat.writes(notebook)
        self.assertLess(len(text), 2_000_000)
        pictures = []
        for cell in notebook.cells[1:]:
            shown = cell.outputs[0].data["text/html"]
            pictures += [base64.b64decode(data) for data in re.findall(r"data:image/png;base64,([^']+)", shown)]
        for picture in pictures:
            self.assertEqual(picture[:4], b"\x89PNG")
            self.assertLessEqual(len(picture), 150_000)
        # A program without the window draws none.
        self.assertIn(len(pictures), (0, len(RUNS) * 2))
        largest = max(map(len, pictures), default=0)
        print(f"a notebook of {len(RUNS) * 2} displays: {len(text):,} B, the largest picture {largest:,} B")


if __name__ == "__main__":
    unittest.main()
