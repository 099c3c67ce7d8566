"""Recording with the installed PyTorch, on a stand-in for the CUDA runtime; the program opens what was written."""

import atexit
import functools
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import textwrap
import unittest

from common import HERE, NEEDS_PROGRAM, below, needs
from stand_in.build import build

import tilescope

TRAINING = HERE / "stand_in/training.py"
RANKS = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "4"]


@functools.cache
def stand_in():
    """Where the stand-in for this PyTorch is; it is built once, in seconds."""
    import importlib.util

    directory = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, directory, ignore_errors=True)
    package = pathlib.Path(importlib.util.find_spec("torch").origin).parent
    build(package / "lib", directory)
    return directory


def on_device(command, directory, **variables):
    """Runs a command for which PyTorch finds one device of 1 GiB."""
    variables = {"LD_LIBRARY_PATH": stand_in(), "PYTHONPATH": str(HERE.parent), **variables}
    environment = {**os.environ, **variables}
    return subprocess.run([str(one) for one in command], cwd=directory, env=environment, capture_output=True, text=True)


NEEDS_STAND_IN = unittest.skipUnless(all(map(shutil.which, ("gcc", "nm", "readelf"))), "gcc, nm or readelf is absent")


@NEEDS_PROGRAM
@NEEDS_STAND_IN
@needs("torch")
class OnDevice(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.directory = pathlib.Path(place.name)

    def python(self, script, **variables):
        done = on_device([sys.executable, "-c", textwrap.dedent(script)], self.directory, **variables)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done


class Launched(OnDevice):
    def launch(self, *command):
        record = [sys.executable, "-m", "tilescope", "record", "-o", "run", "batch=64", "--"]
        done = on_device([*record, *command], self.directory)
        self.assertNotIn("tilescope:", done.stderr)
        return done, tilescope.open(self.directory / "run")

    def test_a_run_that_ends(self):
        done, run = self.launch(sys.executable, TRAINING)
        self.assertEqual((done.returncode, run.verdict.outcome), (0, "ran"), done.stderr)
        self.assertTrue(run.summary.pytorch.devices[0].history_complete)
        self.assertTrue(all(claim.agrees for claim in run.summary.claims))
        self.assertIn("training.py", run.peak.by_line[0].name + run.peak.by_line[1].name)
        self.assertEqual(json.loads((self.directory / "run/app.json").read_text()), {"batch": 64})

    def test_a_run_that_raises(self):
        done, run = self.launch(sys.executable, TRAINING, "raise")
        self.assertEqual((done.returncode, run.verdict.outcome), (1, "ran"))
        self.assertIn("snapshot.pickle.error.txt", below(self.directory / "run"))

    def test_a_run_that_runs_out_of_memory(self):
        done, run = self.launch(sys.executable, TRAINING, "oom")
        self.assertEqual((done.returncode, run.verdict.outcome), (1, "out-of-memory"), done.stderr)
        self.assertEqual(run.verdict.capacity_bytes, 1 << 30)
        self.assertTrue(all(claim.agrees for claim in run.summary.claims))
        # Written where it failed: what filled the device was still there.
        self.assertGreater(run.summary.memory.total_bytes, 700 << 20)

    def test_a_run_that_is_ended(self):
        done, run = self.launch(sys.executable, TRAINING, "sigterm")
        self.assertEqual((done.returncode, run.verdict.outcome), (-15, "ran"))

    def test_four_ranks(self):
        done, run = self.launch(*RANKS, TRAINING, "ranks")
        self.assertEqual((done.returncode, run.verdict.outcome), (0, "ran"), done.stderr)
        self.assertEqual([device.name for device in run.verdict.devices], [f"Rank {rank}, GPU 0" for rank in range(4)])

    def test_four_ranks_one_of_which_runs_out_of_memory(self):
        done, run = self.launch(*RANKS, TRAINING, "ranks-oom")
        self.assertEqual((done.returncode, run.verdict.outcome), (1, "out-of-memory"), done.stderr)
        outcomes = [device.outcome for device in run.verdict.devices]
        self.assertEqual(outcomes, ["ran", "ran", "out-of-memory", "ran"])


class Within(OnDevice):
    def test_variants_one_after_the_other(self):
        self.python(
            f"""
            import contextlib, sys, tilescope, torch
            sys.path.insert(0, {str(TRAINING.parent)!r})
            from training import take_all, train
            for width in (256, 512, 0):
                with contextlib.suppress(torch.cuda.OutOfMemoryError), tilescope.record(f"runs/{{width}}", width=width):
                    train(width) if width else take_all()
            """
        )
        rows = tilescope.sweep(self.directory / "runs").runs().rows()
        self.assertEqual([row["settings"]["app.width"] for row in rows], [0, 256, 512])
        self.assertEqual([row["verdict"]["outcome"] for row in rows], ["out-of-memory", "ran", "ran"])
        peaks = [row["figures"]["max_allocated_bytes"] for row in rows]
        self.assertLess(peaks[1], peaks[2])

    def test_nothing_of_the_device_is_used_by_recording_itself(self):
        done = self.python(
            """
            import tilescope, torch
            with tilescope.record("run"):
                print(torch.cuda.is_initialized())
            """
        )
        self.assertEqual(done.stdout, "False\n")
        self.assertIn("no snapshot", done.stderr)

    def test_without_a_device(self):
        done = self.python(
            """
            import tilescope, torch
            with tilescope.record("run", batch=1):
                torch.zeros(1000)
            print(torch.cuda.is_available())
            """,
            STAND_IN_DEVICES="0",
        )
        self.assertEqual(done.stdout, "False\n")
        self.assertEqual(below(self.directory / "run"), ["app.json"])


class Marker(OnDevice):
    @needs("pytest")
    def test_only_what_a_test_had_alive_counts(self):
        (self.directory / "test_it.py").write_text(
            textwrap.dedent(
                """
                import pytest, torch
                MIB = 1 << 18
                kept = []

                @pytest.mark.limit_device_memory("200MiB")
                def test_keeps():
                    kept.append(torch.zeros(100 * MIB, device="cuda"))

                @pytest.mark.limit_device_memory("200MiB")
                def test_with_what_was_there():
                    torch.zeros(60 * MIB, device="cuda")

                @pytest.mark.limit_device_memory("150MiB")
                def test_too_much_with_what_was_there():
                    torch.zeros(60 * MIB, device="cuda")

                @pytest.mark.limit_device_memory("200MiB")
                def test_a_request_that_fails():
                    with pytest.raises(torch.OutOfMemoryError):
                        torch.zeros(1 << 40, device="cuda")

                @pytest.mark.limit_device_memory("200MiB")
                def test_nothing():
                    pass
                """
            )
        )
        command = [sys.executable, "-m", "pytest", "-p", "tilescope._pytest", "-p", "no:cacheprovider"]
        done = on_device(command, self.directory, TMPDIR=str(self.directory))
        self.assertIn("1 failed, 4 passed", done.stdout)
        self.assertIn("test_too_much_with_what_was_there had 160.0 MiB alive", done.stdout)


class Callbacks(OnDevice):
    TRANSFORMERS = """
        import torch
        from transformers import Trainer, TrainingArguments
        from tilescope.transformers import TilescopeCallback

        class Model(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.layers = torch.nn.Sequential(torch.nn.Linear(64, 256), torch.nn.Linear(256, 64))
            def forward(self, x, labels=None):
                if FAILS: keep = [torch.empty(1 << 26, device="cuda") for _ in range(1000)]
                return {"loss": (self.layers(x) - labels).pow(2).mean()}

        data = [{"x": torch.zeros(64), "labels": torch.zeros(64)} for _ in range(64)]
        arguments = TrainingArguments("out", per_device_train_batch_size=8, max_steps=6, report_to=[],
            save_strategy="no", logging_strategy="no", max_grad_norm=0, disable_tqdm=True)
        callback = TilescopeCallback("run", steps=4, batch=8)
        trainer = Trainer(model=Model(), args=arguments, train_dataset=data, callbacks=[callback])
        trainer.train()
        """

    LIGHTNING = """
        import torch, lightning
        from tilescope.lightning import TilescopeCallback

        class Model(lightning.LightningModule):
            def __init__(self):
                super().__init__()
                self.layers = torch.nn.Sequential(torch.nn.Linear(64, 256), torch.nn.ReLU(), torch.nn.Linear(256, 64))
            def training_step(self, batch, index):
                if FAILS: keep = [torch.empty(1 << 26, device="cuda") for _ in range(1000)]
                return self.layers(batch).pow(2).mean()
            def configure_optimizers(self):
                return torch.optim.Adam(self.parameters())

        data = torch.utils.data.DataLoader(torch.zeros(64, 64), batch_size=8)
        trainer = lightning.Trainer(accelerator="gpu", devices=1, max_steps=6, logger=False, enable_checkpointing=False,
            enable_progress_bar=False, callbacks=[TilescopeCallback("run", steps=4, batch=8)])
        trainer.fit(Model(), data)
        """

    def check(self, script):
        self.python(script.replace("if FAILS: ", "if False: "))
        run = tilescope.open(self.directory / "run")
        self.assertEqual(run.verdict.outcome, "ran")
        self.assertTrue(run.summary.pytorch.devices[0].history_complete)
        names = {name for step in self.annotations(run) for name in step}
        self.assertEqual(
            {f"ProfilerStep#{step}" for step in range(4)} & names, {f"ProfilerStep#{step}" for step in range(4)}
        )
        facts = json.loads((self.directory / "run/app.json").read_text())
        self.assertEqual(facts["batch"], 8)
        self.assertGreater(len(facts), 1)

        failed = script.replace("if FAILS: ", "").replace('"run"', '"failed"')
        done = on_device([sys.executable, "-c", textwrap.dedent(failed)], self.directory)
        self.assertEqual(done.returncode, 1)
        failed = tilescope.open(self.directory / "failed")
        self.assertEqual((failed.verdict.outcome, failed.verdict.capacity_bytes), ("out-of-memory", 1 << 30))

    def annotations(self, run):
        import pickle

        with open(self.directory / "run/snapshot.pickle", "rb") as file:
            said = pickle.load(file).get("external_annotations", [])
        return [[one["name"]] for one in said]

    @needs("transformers", "accelerate")
    def test_transformers(self):
        self.check(textwrap.dedent(self.TRANSFORMERS))

    @needs("lightning")
    def test_lightning(self):
        self.check(textwrap.dedent(self.LIGHTNING))


if __name__ == "__main__":
    unittest.main()
