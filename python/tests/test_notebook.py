"""A notebook that is run: its displays are there, and it stays small."""

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
        for cell in notebook.cells[1:]:
            self.assertIn("text/html", cell.outputs[0].data)
        print(
            f"a notebook of {len(RUNS) * 2} displays: {len(text):,} B", "" if "base64" in text else "without pictures"
        )


if __name__ == "__main__":
    unittest.main()
