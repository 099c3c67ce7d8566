"""Recording, with a PyTorch that is made up: what is called, what is written, and when."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import textwrap
import unittest

from common import FAKE, HERE, NEEDS_PROGRAM, PROGRAM, below

import tilescope

RANKS = ("RANK", "WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID", "LOCAL_RANK")


def python(script, directory, *launcher, **variables):
    """Runs a script in a process of its own, in which torch is the made up one."""
    environment = {name: value for name, value in os.environ.items() if name not in RANKS}
    environment.update(
        PYTHONPATH=os.pathsep.join([str(FAKE), str(HERE.parent)]), PYTHONDONTWRITEBYTECODE="1", **variables
    )
    command = [*launcher, sys.executable, "-c", textwrap.dedent(script)]
    return subprocess.run(command, cwd=directory, env=environment, capture_output=True, text=True)


class InADirectory(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.directory = pathlib.Path(place.name)
        self.run_directory = self.directory / "run"

    def facts(self):
        return json.loads((self.run_directory / "app.json").read_text())


class Record(InADirectory):
    def record(self, body, **variables):
        script = "import torch, tilescope, json, os, sys\n" + textwrap.dedent(body)
        return python(script, self.directory, **variables)

    def test_a_run_that_ends(self):
        done = self.record(
            """
            with tilescope.record("run", batch=8, name=None) as directory:
                torch.cuda.init()
            print(json.dumps([str(directory), torch.calls]))
            """
        )
        directory, calls = json.loads(done.stdout)
        self.assertEqual(directory, str(self.run_directory.resolve()))
        started = {"max_entries": 1000000, "stacks": "python"}
        self.assertEqual(calls, [["record", "all", started], "dump", ["record", None, {}]])
        self.assertEqual(
            below(self.run_directory), ["app.json", "snapshot.pickle", "snapshot.pickle.memory_stats.json"]
        )
        self.assertEqual(self.facts(), {"batch": 8})
        self.assertEqual(done.stderr, "")

    def test_what_was_there_before_is_let_go_where_the_device_is_in_use(self):
        done = self.record(
            """
            torch.cuda.init()
            for batch in (2, 4):
                with tilescope.record(f"runs/{batch}"):
                    pass
            print(json.dumps([call if isinstance(call, str) else call[:2] for call in torch.calls]))
            """
        )
        one = ["empty_cache", "reset_peak_memory_stats", ["record", "all"], "dump", ["record", None]]
        self.assertEqual(json.loads(done.stdout), one + one)

    def test_a_run_that_raises(self):
        done = self.record(
            """
            with tilescope.record("run"):
                torch.cuda.init()
                raise ValueError("what was wrong")
            """
        )
        self.assertEqual(done.returncode, 1)
        text = (self.run_directory / "snapshot.pickle.error.txt").read_text()
        self.assertIn("ValueError: what was wrong", text)
        self.assertTrue((self.run_directory / "snapshot.pickle").is_file())

    def test_a_run_that_runs_out_of_memory_is_written_where_it_failed(self):
        done = self.record(
            """
            @tilescope.record("run")
            def train():
                torch.cuda.init()
                torch.run_out_of_memory()
            try:
                train()
            except torch.OutOfMemoryError as error:
                print(json.dumps([call for call in torch.calls if isinstance(call, str)]))
            """
        )
        self.assertEqual(json.loads(done.stdout), ["oom", "dump"], done.stderr)
        text = (self.run_directory / "snapshot.pickle.oom.txt").read_text()
        self.assertTrue(text.startswith("torch.OutOfMemoryError: CUDA out of memory."))

    def test_an_error_that_was_caught_does_not_end_the_recording(self):
        done = self.record(
            """
            with tilescope.record("run"):
                torch.cuda.init()
                for attempt in range(3):
                    try:
                        torch.run_out_of_memory()
                    except torch.OutOfMemoryError:
                        pass
            print(json.dumps([call for call in torch.calls if isinstance(call, str)]))
            """
        )
        self.assertEqual(json.loads(done.stdout), ["oom", "dump", "oom", "oom", "dump"], done.stderr)
        self.assertFalse((self.run_directory / "snapshot.pickle.oom.txt").exists())

    def test_without_a_device_that_is_said_once_and_facts_are_kept(self):
        body = """
            for batch in (2, 4):
                with tilescope.record("run", batch=batch):
                    torch.cuda.init()
            print(torch.calls)
            """
        done = self.record(body, FAKE_DEVICE="0")
        self.assertEqual(done.stdout, "[]\n")
        self.assertEqual(done.stderr.count("no snapshot"), 1, done.stderr)
        self.assertEqual(below(self.run_directory), ["app.json"])
        self.assertEqual(self.facts(), {"batch": 4})

    def test_a_recording_within_another_is_left_out(self):
        done = self.record(
            """
            with tilescope.record("run"), tilescope.record("inner"):
                torch.cuda.init()
            """
        )
        self.assertIn("already recording", done.stderr)
        self.assertFalse((self.directory / "inner").exists())
        self.assertTrue((self.run_directory / "snapshot.pickle").is_file())

    def test_a_device_that_comes_after_the_recording_is_not_recorded(self):
        done = self.record(
            """
            with tilescope.record("run"):
                pass
            torch.cuda.init()
            print(torch.calls)
            """
        )
        self.assertEqual(done.stdout, "[]\n", done.stderr)

    def test_ranks_write_files_of_their_own(self):
        body = """
            with tilescope.record("run", batch=8):
                torch.cuda.init()
            """
        self.run_directory.mkdir()
        for name in ("snapshot.pickle", "snapshot_rank7.pickle", "snapshot-12.pickle.oom.txt", "own.txt"):
            (self.run_directory / name).write_text("earlier")
            os.utime(self.run_directory / name, (0, 0))
        for rank in (1, 0):
            done = self.record(body, RANK=str(rank), WORLD_SIZE="2")
            self.assertEqual(done.stderr, "")
        files = ["snapshot_rank0.pickle", "snapshot_rank1.pickle"]
        beside = [f"{file}.memory_stats.json" for file in files]
        self.assertEqual(below(self.run_directory), sorted(["app.json", "own.txt", *files, *beside]))

    def test_sigterm_writes_and_ends(self):
        done = self.record(
            """
            with tilescope.record("run"):
                torch.cuda.init()
                os.kill(os.getpid(), 15)
            """
        )
        self.assertEqual(done.returncode, -signal.SIGTERM)
        self.assertTrue((self.run_directory / "snapshot.pickle").is_file())

    def test_a_forked_process_still_ends_at_sigterm(self):
        done = self.record(
            """
            with tilescope.record("run"):
                torch.cuda.init()
                child = os.fork()
                if child == 0:
                    os.kill(os.getpid(), 15)
                    os._exit(3)
                print(os.WTERMSIG(os.waitpid(child, 0)[1]))
            """
        )
        self.assertEqual((done.returncode, done.stdout.strip()), (0, str(int(signal.SIGTERM))))
        self.assertTrue((self.run_directory / "snapshot.pickle").is_file())

    def test_a_snapshot_that_cannot_be_written_does_not_end_the_run(self):
        done = self.record(
            """
            def dump(path):
                open(path, "w").write("half")
                raise OSError("disk full")
            torch.cuda.memory._dump_snapshot = dump
            with tilescope.record("run"):
                torch.cuda.init()
            print("went on")
            """
        )
        self.assertEqual(done.stdout, "went on\n")
        self.assertIn("disk full", done.stderr)
        self.assertEqual(below(self.run_directory), [])

    def test_other_devices_than_cuda_have_the_same_words(self):
        done = self.record(
            """
            with tilescope.record("run"):
                torch.xpu.init()
            print(json.dumps([call if isinstance(call, str) else call[:2] for call in torch.calls]))
            """,
            FAKE_XPU="1",
        )
        self.assertEqual(json.loads(done.stdout), [["record", "all"], "dump", ["record", None]], done.stderr)

    def test_nvidia_smi_is_asked_by_the_name_of_the_card(self):
        smi = self.directory / "nvidia-smi"
        smi.write_text('#!/bin/sh\ncase "$*" in *--id=GPU-1234-5678) echo 700;; *) exit 1;; esac\n')
        smi.chmod(0o755)
        body = """
            with tilescope.record("run", batch=8):
                torch.cuda.init()
            """
        self.record(body, PATH=os.pathsep.join([str(self.directory), os.environ["PATH"]]))
        self.assertEqual(self.facts(), {"batch": 8, "smi_mib": 700})

    @NEEDS_PROGRAM
    def test_the_program_opens_all_of_it(self):
        self.record(
            """
            import contextlib
            for batch in (2, 4):
                with contextlib.suppress(torch.OutOfMemoryError), tilescope.record(f"run/batch-{batch}", batch=batch):
                    torch.cuda.init()
                    if batch == 4:
                        torch.run_out_of_memory()
            """
        )
        rows = tilescope.sweep(self.run_directory).runs().rows()
        self.assertEqual([row["settings"] for row in rows], [{"app.batch": 2}, {"app.batch": 4}])
        self.assertEqual(rows[1]["verdict"]["capacity_bytes"], 8 << 30)


@NEEDS_PROGRAM
class Launch(InADirectory):
    def launch(self, script, *options, **variables):
        launcher = [PROGRAM, "record", *options, "--"]
        return python(script, self.directory, *launcher, **variables)

    def test_a_command_is_recorded_to_its_end(self):
        done = self.launch("import torch; torch.cuda.init(); print('done'); raise SystemExit(3)", "batch=8", "name=a b")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (3, "done\n", ""))
        self.assertEqual(
            below(self.run_directory), ["app.json", "snapshot.pickle", "snapshot.pickle.memory_stats.json"]
        )
        self.assertEqual(self.facts(), {"batch": 8, "name": "a b"})

    def test_a_process_that_the_command_starts_is_recorded(self):
        below = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'import torch; torch.cuda.init()'])"
        self.assertEqual(self.launch(below).stderr, "")
        self.assertTrue((self.run_directory / "snapshot.pickle").exists())

    def test_exceptions_are_kept(self):
        done = self.launch("import torch; torch.cuda.init(); raise ValueError('what was wrong')", "-o", "other/run")
        self.assertEqual(done.returncode, 1)
        text = (self.directory / "other/run/snapshot.pickle.error.txt").read_text()
        self.assertIn("ValueError: what was wrong", text)
        self.launch("import torch; torch.cuda.init(); torch.run_out_of_memory()")
        self.assertTrue((self.run_directory / "snapshot.pickle.oom.txt").is_file())

    def test_a_process_that_dies_at_once_leaves_where_it_failed(self):
        done = self.launch(
            """
            import torch, os
            torch.cuda.init()
            try:
                torch.run_out_of_memory()
            finally:
                os._exit(9)
            """,
            "batch=8",
        )
        self.assertEqual(done.returncode, 9)
        self.assertEqual(
            below(self.run_directory), ["app.json", "snapshot.pickle", "snapshot.pickle.memory_stats.json"]
        )

    def test_a_library_may_look_for_torch_first(self):
        done = self.launch(
            """
            import importlib.util
            for _ in range(2):
                assert importlib.util.find_spec("torch") is not None
            import torch
            torch.cuda.init()
            """
        )
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertTrue((self.run_directory / "snapshot.pickle").is_file())

    def test_without_torch_nothing_is_imported_and_that_is_said(self):
        done = self.launch("import sys; print('torch' in sys.modules, 'tilescope' in sys.modules)")
        said = "tilescope: nothing is recorded: the command did not import PyTorch\n"
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "False False\n", said))
        self.assertFalse(self.run_directory.exists())

    def test_the_users_sitecustomize_still_runs(self):
        own = self.directory / "own"
        own.mkdir()
        (own / "sitecustomize.py").write_text("print('mine')\n")
        script = "import torch, sys, sitecustomize; torch.cuda.init(); print(sitecustomize.__file__)"
        environment = os.pathsep.join([str(own), str(FAKE), str(HERE.parent)])
        launcher = [sys.executable, "-m", "tilescope", "record", "--"]
        done = subprocess.run(
            [*launcher, sys.executable, "-c", script],
            cwd=self.directory,
            env={**os.environ, "PYTHONPATH": environment},
            capture_output=True,
            text=True,
        )
        said = done.stdout.splitlines()
        # Once of the launcher, once of the command.
        self.assertEqual(said, ["mine", "mine", str(own / "sitecustomize.py")], done.stderr)
        self.assertTrue((self.run_directory / "snapshot.pickle").is_file())

    def test_processes_without_ranks_do_not_overwrite_each_other(self):
        child = "import torch; torch.cuda.init()"
        script = (
            f"import subprocess, sys\nfor _ in range(2): subprocess.run([sys.executable, '-c', {child!r}], check=True)"
        )
        done = self.launch(script)
        self.assertEqual(done.returncode, 0, done.stderr)
        snapshots = [name for name in below(self.run_directory) if name.endswith(".pickle")]
        self.assertEqual(len(snapshots), 2)
        self.assertIn("snapshot.pickle", snapshots)

    def test_wrong_arguments_are_named(self):
        for arguments, status, said in (
            (["batch=8"], 2, "COMMAND"),
            (["train.py", "--", "python"], 2, "no NAME=VALUE"),
            (["--", "no-such-program"], 127, "no-such-program"),
        ):
            done = subprocess.run([PROGRAM, "record", *arguments], capture_output=True, text=True)
            self.assertEqual(done.returncode, status)
            self.assertIn(said, done.stderr)

    def test_without_a_directory_for_the_cache_it_is_recorded_as_well(self):
        nowhere = str(self.directory / "absent")
        script = "import torch; torch.cuda.init()"
        (self.directory / "absent").write_text("a file")
        done = self.launch(script, XDG_CACHE_HOME=nowhere)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertTrue((self.run_directory / "snapshot.pickle").is_file())


if __name__ == "__main__":
    unittest.main()
