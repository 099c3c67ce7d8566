"""Writes the samples beside it: one training step of a small transformer under lax.scan, compiled for the CPU by XLA.

    pip install jax==0.10.2 && python make.py

`keep` keeps what the forward pass makes for the backward pass, `again` computes it again (jax.checkpoint), `donate` is
`again` with its parameters donated. Nothing is run: what XLA decides is in the dump of the compilation.
"""

import functools
import os
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
VARIANTS = {"keep": (False, False), "again": (True, False), "donate": (True, True)}
LAYERS, BATCH, SEQUENCE, WIDTH, HEADS = 6, 4, 64, 64, 4


def compile_step(again, donate):
    import jax
    import jax.numpy as jnp

    # Names of files without the directories of whoever runs this.
    jax.config.update("jax_hlo_source_file_canonicalization_regex", ".*/")

    def attention(x, weights):
        def heads(name):
            return (x @ weights[name]).reshape(BATCH, SEQUENCE, HEADS, WIDTH // HEADS)

        scores = jnp.einsum("bqhd,bkhd->bhqk", heads("query"), heads("key")) / (WIDTH // HEADS) ** 0.5
        mixed = jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), heads("value"))
        return mixed.reshape(x.shape) @ weights["out"]

    def layer(x, weights):
        with jax.named_scope("attention"):
            x = x + attention(x, weights)
        with jax.named_scope("feed_forward"):
            x = x + jax.nn.gelu(x @ weights["widen"]) @ weights["narrow"]
        return x, None

    body = jax.checkpoint(layer) if again else layer

    def loss(weights, x):
        return jnp.mean(jax.lax.scan(body, x, weights)[0] ** 2)

    @functools.partial(jax.jit, donate_argnums=(0,) if donate else ())
    def train_step(weights, x):
        value, gradients = jax.value_and_grad(loss)(weights, x)
        return jax.tree.map(lambda w, g: w - 1e-3 * g, weights, gradients), value

    square = ["query", "key", "value", "out"]
    shapes = {name: (WIDTH, WIDTH) for name in square} | {"widen": (WIDTH, 4 * WIDTH), "narrow": (4 * WIDTH, WIDTH)}
    weights = {name: jax.ShapeDtypeStruct((LAYERS, *shape), jnp.float32) for name, shape in shapes.items()}
    train_step.lower(weights, jax.ShapeDtypeStruct((BATCH, SEQUENCE, WIDTH), jnp.float32)).compile()


def main():
    if len(sys.argv) > 1:
        return compile_step(*VARIANTS[sys.argv[1]])
    for name in VARIANTS:
        directory = HERE / name
        shutil.rmtree(directory, ignore_errors=True)
        dump = f"--xla_dump_to={directory} --xla_dump_hlo_as_proto --xla_dump_hlo_module_re=jit_train_step"
        environment = os.environ | {"XLA_FLAGS": dump, "JAX_PLATFORMS": "cpu"}
        subprocess.run([sys.executable, __file__, name], env=environment, check=True)
        for path in directory.iterdir():
            if not path.name.endswith("_after_optimizations.hlo.pb"):
                shutil.rmtree(path) if path.is_dir() else path.unlink()


if __name__ == "__main__":
    main()
