"""Dumps of what the installed JAX compiles."""

import os
import pathlib
import subprocess
import sys
import tempfile
import textwrap
import unittest

from common import HERE, NEEDS_PROGRAM, needs

import tilescope

SCRIPT = """
import tilescope

def train():
    import jax, jax.numpy as jnp
    @jax.jit
    def train_step(weights, batch):
        return weights - 0.1 * jax.grad(lambda w: (jnp.tanh(batch @ w) ** 2).sum())(weights)
    return train_step(jnp.zeros((512, 512)), jnp.ones((256, 512)))
"""


@NEEDS_PROGRAM
@needs("jax")
class Dump(unittest.TestCase):
    def run_with(self, body):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        environment = {**os.environ, "PYTHONPATH": str(HERE.parent), "JAX_PLATFORMS": "cpu"}
        command = [sys.executable, "-c", SCRIPT + textwrap.dedent(body)]
        done = subprocess.run(command, cwd=place.name, env=environment, capture_output=True, text=True)
        return done, pathlib.Path(place.name, "dump")

    def check(self, body):
        done, dump = self.run_with(body)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        run = tilescope.open(dump, module="jit_train_step")
        stated = {claim.name: claim.agrees for claim in run.summary.claims if claim.file == "memory_analysis.json"}
        self.assertEqual(stated.get("temp_size_in_bytes"), True)
        self.assertEqual(stated.get("argument_size_in_bytes"), True)

    def test_within_a_context(self):
        self.check("with tilescope.jax_dump('dump'): kept = train()")

    def test_to_the_end_of_the_process(self):
        self.check("tilescope.jax_dump('dump'); kept = train()")

    def test_too_late_is_an_error(self):
        done, _ = self.run_with("train(); tilescope.jax_dump('dump')")
        self.assertEqual(done.returncode, 1)
        self.assertIn("before the first use of a device", done.stderr)


if __name__ == "__main__":
    unittest.main()
