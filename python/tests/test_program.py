"""How the program is found and started, how its errors arrive, and what its answers become."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

from common import HERE, NEEDS_PROGRAM, PROGRAM, SAMPLES, is_installed

import tilescope
from tilescope import _display
from tilescope._program import options

TRAINING = SAMPLES / "training/segments-2"


class Package(unittest.TestCase):
    def test_the_import_is_fast_and_imports_nothing_else(self):
        script = (
            "import time; began = time.process_time(); import tilescope; took = time.process_time() - began;"
            "print(took, 'subprocess' in sys.modules, 'json' in sys.modules)"
        )
        best = 1.0
        for _ in range(3):
            done = subprocess.run(
                [sys.executable, "-I", "-c", f"import sys; sys.path.insert(0, {str(HERE.parent)!r}); {script}"],
                capture_output=True,
                text=True,
                check=True,
            )
            took, *imported = done.stdout.split()
            self.assertEqual(imported, ["False", "False"])
            best = min(best, float(took))
        self.assertLess(best, 0.05)

    def test_names_are_those_that_are_listed(self):
        self.assertEqual(dir(tilescope), sorted(tilescope.__all__))
        with self.assertRaises(AttributeError):
            _ = tilescope.nothing

    def test_options_are_words_of_the_command_line(self):
        said = options(max_peak_bytes=-8, must_fit=True, step=None, brief=False)
        self.assertEqual(said, ["--max-peak-bytes=-8", "--must-fit"])


class Search(unittest.TestCase):
    def test_a_variable_comes_first_and_must_be_right(self):
        with mock.patch.dict(os.environ, TILESCOPE_BIN=sys.executable):
            self.assertEqual(tilescope.program(), sys.executable)
        with mock.patch.dict(os.environ, TILESCOPE_BIN="/no/such"), self.assertRaises(tilescope.TilescopeError):
            tilescope.program()

    def test_then_what_was_installed_with_the_package_then_path(self):
        with tempfile.TemporaryDirectory() as directory:
            scripts, other = pathlib.Path(directory, "scripts"), pathlib.Path(directory, "other")
            for place in (scripts, other):
                place.mkdir()
                (place / "tilescope").touch(mode=0o755)
            variables = {"PATH": str(other), "TILESCOPE_BIN": ""}
            with mock.patch.dict(os.environ, variables):
                with mock.patch("tilescope._program._script_directories", return_value=[scripts]):
                    self.assertEqual(tilescope.program(), str(scripts / "tilescope"))
                with mock.patch("tilescope._program._script_directories", return_value=[]):
                    self.assertEqual(tilescope.program(), str(other / "tilescope"))
                    os.environ["PATH"] = directory
                    with self.assertRaises(tilescope.TilescopeError) as raised:
                        tilescope.program()
            self.assertIn("TILESCOPE_BIN", raised.exception.hint)


@NEEDS_PROGRAM
class Errors(unittest.TestCase):
    def test_an_error_in_json_has_its_parts(self):
        with self.assertRaises(tilescope.TilescopeError) as raised:
            tilescope.open("/no/such.pickle")
        error = raised.exception
        self.assertEqual((error.kind, error.file, error.hint), ("not-found", "/no/such.pickle", "Check the path."))
        self.assertIn("hint: Check the path.", str(error))

    def test_wrong_arguments_are_an_error_too(self):
        run = tilescope.open(TRAINING)
        with self.assertRaises(tilescope.TilescopeError) as raised:
            run.liveness(by="nothing").rows()
        self.assertIn("invalid value 'nothing'", raised.exception.message)

    def test_a_table_that_the_system_lacks_is_an_error_with_a_hint(self):
        with self.assertRaises(tilescope.TilescopeError) as raised:
            tilescope.open(TRAINING).ops().rows()
        self.assertEqual(raised.exception.kind, "usage")

    def test_a_module_is_never_left_out_of_account(self):
        run = tilescope.open(SAMPLES / "xla/keep", module="jit_train_step")
        self.assertEqual(run.liveness(peaks=1).rows()[0]["bytes"], run.peak.bytes)
        with self.assertRaises(tilescope.TilescopeError) as raised:
            run.map(0).rows()
        self.assertIn("--module", raised.exception.message)

    def test_a_path_may_look_like_an_option(self):
        with self.assertRaises(tilescope.TilescopeError) as raised:
            tilescope.sweep("--version")
        self.assertEqual(raised.exception.kind, "not-found")


@NEEDS_PROGRAM
class Answers(unittest.TestCase):
    def test_rows_add_up(self):
        run = tilescope.open(TRAINING)
        for by in ("category", "module", "line"):
            self.assertEqual(sum(row["bytes"] for row in run.liveness(by=by)), run.peak.bytes)
        self.assertEqual(sum(row["bytes"] for row in run.liveness(step="peak")), run.peak.bytes)
        self.assertEqual(run.liveness(peaks=1).rows()[0]["bytes"], run.peak.bytes)

    def test_a_run_is_found_after_the_process_changed_its_directory(self):
        before = os.getcwd()
        try:
            os.chdir(SAMPLES)
            run = tilescope.open("training/segments-2")
            os.chdir("/")
            self.assertEqual(len(run.liveness()), 1947)
        finally:
            os.chdir(before)

    def test_tables_of_other_libraries_have_the_same_rows(self):
        tables = [tilescope.sweep(SAMPLES / "training", SAMPLES / "xla").runs(), tilescope.open(SAMPLES / "tiny").ops()]
        for table in tables:
            names = list(table.columns())
            if is_installed("pandas"):
                frame = table.to_pandas()
                self.assertEqual((list(frame.columns), len(frame)), (names, len(table)))
            if is_installed("pyarrow"):
                self.assertEqual(table.to_arrow().column_names, names)
            if is_installed("polars"):
                self.assertEqual(table.to_polars().columns, names)

    def test_a_library_that_is_absent_is_named_with_its_extra(self):
        with mock.patch.dict(sys.modules, pandas=None), self.assertRaises(ModuleNotFoundError) as raised:
            tilescope.open(TRAINING).liveness().to_pandas()
        self.assertIn("pip install 'tilescope[pandas]'", str(raised.exception))

    def test_columns_have_one_type_each(self):
        table = tilescope.Table(
            "made up", lambda: [{"a": 1, "b": {"c": "x"}}, {"a": "two"}, {"a": None, "b": {"c": 1.5}}]
        )
        self.assertEqual(table.columns(), {"a": ["1", "two", None], "b.c": ["x", None, "1.5"]})

    def test_pictures_are_drawn_or_refused_with_a_hint(self):
        run = tilescope.open(TRAINING)
        try:
            png = run.png()
        except tilescope.TilescopeError as error:
            self.assertIn("without the window", error.message)
            self.assertTrue(error.hint)
            with self.assertRaises(tilescope.TilescopeError):
                run.show()
            return
        self.assertTrue(png.startswith(b"\x89PNG"))
        self.assertIn("<svg", run.svg())
        self.assertIn("data:image/png;base64,", run._repr_html_())

    def test_reports_of_one_run_and_of_several_are_written(self):
        run = tilescope.open(TRAINING)
        with tempfile.TemporaryDirectory() as directory:
            one = run.html(os.path.join(directory, "one.html")).read_text(encoding="utf-8")
            two = run.html(os.path.join(directory, "two.html"), SAMPLES / "training/segments-0").read_text(
                encoding="utf-8"
            )
            self.assertIn("<html", one)
            self.assertIn("segments-0", two)
            with self.assertRaises(tilescope.TilescopeError) as raised:
                run.html(os.path.join(directory, "no/such/directory.html"))
        self.assertTrue(raised.exception.message)

    def test_python_dash_m_is_the_program(self):
        for arguments in (["--version"], ["summary", "--json", "/no/such"]):
            ours, own = (
                subprocess.run([*command, *arguments], cwd=HERE.parent, capture_output=True)
                for command in ([sys.executable, "-m", "tilescope"], [PROGRAM])
            )
            self.assertEqual((ours.returncode, ours.stdout), (own.returncode, own.stdout))


@NEEDS_PROGRAM
class Notebook(unittest.TestCase):
    def test_a_run_shows_its_verdict_and_its_peak(self):
        run = tilescope.open(TRAINING, capacity="1GiB")
        with mock.patch("tilescope._display._picture", return_value=b"PNG"):
            html = run._repr_html_()
        for said in (
            "fits",
            "Peak 404.3 MiB at step 1,257",
            "activation",
            "216.1 MiB",
            "/workspace/train.py:25",
            "Saves about 168.0 MiB.",
        ):
            self.assertIn(said, html)
        self.assertLess(len(html), 10_000)

    def test_names_of_files_and_rows_stay_text(self):
        with tempfile.TemporaryDirectory() as directory:
            hostile = pathlib.Path(directory, "<script>alert(1)<&script>")
            hostile.symlink_to(TRAINING)
            run = tilescope.open(hostile)
            run.peak.by_category[0]["name"] = "<img src=x onerror=alert(1)>"
            self.assertNotRegex(run._repr_html_(), "<script|<img src=x")
        table = tilescope.Table("made up", lambda: [{"<b>": "<i>"}])
        self.assertNotRegex(table._repr_html_(), "<b>|<i>")

    def test_other_answers_are_tables(self):
        found = tilescope.compare(SAMPLES / "training/segments-0", TRAINING)
        self.assertIn("140.1 MiB less", found._repr_html_())
        swept = tilescope.sweep(SAMPLES / "training", SAMPLES / "xla")
        self.assertIn("checkpoint_segments", swept._repr_html_())
        html = tilescope.open(TRAINING).liveness()._repr_html_()
        self.assertIn("1,927 more rows", html)

    def test_a_picture_that_is_too_large_is_left_out(self):
        run = mock.Mock()
        run.png.side_effect = [b"x" * 200_000, b"y"]
        self.assertEqual(_display._picture(run), b"y")
        run.png.side_effect = [b"x" * 200_000] * 2
        self.assertIsNone(_display._picture(run))


if __name__ == "__main__":
    unittest.main()
