"""The README's ways from the installation to the verdict: each line is run as it stands there.

The variable TILESCOPE_WHEEL names the wheel that is installed in place of the download; without it the program and the
module at hand stand for what `pip install` brings.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

from common import HERE, NEEDS_PROGRAM, PROGRAM, SAMPLES, needs

README = HERE.parents[1] / "README.md"
TITLE = "## From install to verdict"
INSTALL = re.compile(r"%?pip install tilescope")
CELL = 80
VERDICT = re.compile(r"\bfits\b", re.IGNORECASE)


def ways():
    """Where somebody is, with what they type: the installation, and what answers."""
    section = README.read_text(encoding="utf-8").split(TITLE + "\n", 1)[1].split("\n## ")[0]
    rows = [line.strip("|").split(" | ") for line in section.splitlines() if line.startswith("| ")]
    return {row[0].strip(): [re.fullmatch(r"`(.+)`", cell.strip())[1] for cell in row[1:3]] for row in rows[1:]}


@NEEDS_PROGRAM
class Ways(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.place = pathlib.Path(directory.name)
        shutil.copytree(SAMPLES / "training/segments-2", self.place / "run")
        self.environment = {name: value for name, value in os.environ.items() if "DISPLAY" not in name}

    def install(self, line):
        """Carries the line out, or puts what is at hand in its place."""
        self.assertRegex(line, INSTALL)
        programs = self.place / "bin"
        wheel = os.environ.get("TILESCOPE_WHEEL")
        if wheel:
            subprocess.run([sys.executable, "-m", "venv", self.place], check=True)
            line = INSTALL.sub(f"pip install --quiet --no-index {wheel}", line)
        else:
            programs.mkdir()
            (programs / "tilescope").symlink_to(pathlib.Path(PROGRAM).resolve())
            line = "true"
        self.environment["PATH"] = os.pathsep.join([str(programs), self.environment["PATH"]])
        self.environment.pop("TILESCOPE_BIN", None)
        self.shell(line)

    def shell(self, line):
        done = subprocess.run(
            ["bash", "-e", "-c", line], cwd=self.place, env=self.environment, capture_output=True, text=True
        )
        self.assertEqual(done.returncode, 0, f"{line}\n{done.stdout}{done.stderr}")
        return done.stdout

    def test_the_table_is_narrow_and_has_all_ways(self):
        self.assertEqual(list(ways()), ["Shell without a display", "CI job", "Colleague's browser", "Notebook"])
        for where, lines in ways().items():
            for cell in [where, *lines]:
                self.assertLessEqual(len(cell) + 2, CELL, cell)

    def test_in_a_shell(self):
        install, ask = ways()["Shell without a display"]
        self.install(install)
        self.assertRegex(self.shell(ask), VERDICT)

    def test_in_a_ci_job(self):
        install, ask = ways()["CI job"]
        self.install(install)
        self.environment["GITHUB_ACTIONS"] = "true"
        self.assertIn("kept", self.shell(ask))
        too_little = re.sub(r"--capacity \S+", "--capacity 100MiB", ask)
        self.assertNotEqual(too_little, ask)
        with self.assertRaises(AssertionError):
            self.shell(too_little)

    def test_in_a_browser(self):
        install, ask = ways()["Colleague's browser"]
        self.install(install)
        self.shell(ask)
        page = (self.place / "run.html").read_text(encoding="utf-8")
        self.assertRegex(page, VERDICT)
        self.assertIn("default-src 'none'", page)

    @needs("nbformat", "nbclient", "ipykernel")
    def test_in_a_notebook(self):
        import nbformat
        from nbclient import NotebookClient

        install, ask = ways()["Notebook"]
        self.install(install.lstrip("%"))
        # The kernel is this Python: its module is the one beside the tests, or the one of the wheel.
        if not os.environ.get("TILESCOPE_WHEEL"):
            self.environment["PYTHONPATH"] = str(HERE.parent)
        notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(ask)])
        client = NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(self.place)}})
        client.execute(env=self.environment)
        shown = notebook.cells[0].outputs[0].data["text/html"]
        self.assertRegex(shown, VERDICT)


if __name__ == "__main__":
    unittest.main()
