"""Dumps what XLA compiles for JAX, with JAX's own figures beside it."""

from __future__ import annotations

import json
import os
import pathlib
from types import TracebackType
from typing import Any, Dict, Optional, Type

from tilescope._program import PathLike, TilescopeError


class jax_dump:
    """Dumps every module that JAX compiles into a directory, which the program opens.

    Call it, or enter it as a context, before the first computation: XLA reads its flags once. At the end (of the
    context or of the process) `memory_analysis.json` is written there: JAX's own figures of the largest module.

        import tilescope
        with tilescope.jax_dump("dump"):
            train_step(params, batch)

    >>> import tempfile, tilescope
    >>> def train_step():
    ...     pass
    >>> with tempfile.TemporaryDirectory() as directory:   # doctest: +SKIP
    ...     with tilescope.jax_dump(directory):
    ...         train_step()
    """

    def __init__(self, directory: PathLike = "dump") -> None:
        import atexit

        import jax
        from jax._src import xla_bridge

        if xla_bridge.backends_are_initialized():
            raise TilescopeError(
                "JAX has started its devices already, and with them XLA has read its flags",
                "Call jax_dump() before the first use of a device, such as jax.devices() or jnp.zeros().",
            )
        self.directory = pathlib.Path(directory).expanduser().absolute()
        self.directory.mkdir(parents=True, exist_ok=True)
        # A module from the cache of compilations is not dumped.
        jax.config.update("jax_enable_compilation_cache", False)
        flags = [f"--xla_dump_to={self.directory}", "--xla_dump_hlo_as_text", "--xla_dump_hlo_as_proto"]
        os.environ["XLA_FLAGS"] = " ".join([os.environ.get("XLA_FLAGS", ""), *flags]).strip()
        atexit.register(self._finish)

    def __enter__(self) -> pathlib.Path:
        return self.directory

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        where: Optional[TracebackType],
    ) -> None:
        self._finish()

    def _finish(self) -> None:
        import atexit

        atexit.unregister(self._finish)
        figures = max(_figures_of_all(), key=lambda figures: sum(figures.values()), default=None)
        if figures is not None and self.directory.is_dir():
            text = json.dumps(figures, indent=1) + "\n"
            (self.directory / "memory_analysis.json").write_text(text, encoding="utf-8")


def _figures_of_all() -> "list[Dict[str, int]]":
    """What `memory_analysis()` says of each executable that is alive; not every backend has it."""
    import jax

    found = []
    try:
        executables: Any = jax.local_devices()[0].client.live_executables()
        for executable in executables:
            stats = executable.get_compiled_memory_stats()
            names = [name for name in dir(stats) if name.endswith("_in_bytes")]
            found.append({name: int(getattr(stats, name)) for name in names})
    except (AttributeError, RuntimeError, TypeError) as error:
        import sys

        print(f"tilescope: JAX gave no memory_analysis: {error}", file=sys.stderr)
    return found
