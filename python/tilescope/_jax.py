"""Dumps what XLA compiles for JAX, with JAX's own figures beside it."""

from __future__ import annotations

import json
import os
import pathlib
from types import TracebackType
from typing import Any

from tilescope._program import PathLike, TilescopeError


class jax_dump:
    """Dumps every module that JAX compiles into a directory, which the program opens.

    Call it, or enter it as a context, before the first computation: XLA reads its flags once. At the end (of the
    context or of the process) `memory_analysis.json` is written there: JAX's own figures of the largest module.

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
        self._has_cache = jax.config.jax_enable_compilation_cache
        jax.config.update("jax_enable_compilation_cache", False)
        flags = [f"--xla_dump_to={_quoted(self.directory)}", "--xla_dump_hlo_as_text", "--xla_dump_hlo_as_proto"]
        self._flags = os.environ.get("XLA_FLAGS")
        os.environ["XLA_FLAGS"] = " ".join([*([self._flags] if self._flags else []), *flags])
        self._figures: dict[str, int] | None = None
        self._is_open = True
        jax.monitoring.register_event_duration_secs_listener(self._happened)
        atexit.register(self._finish)

    def __enter__(self) -> pathlib.Path:
        return self.directory

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        where: TracebackType | None,
    ) -> None:
        self._finish()

    def _happened(self, event: str, *_: Any, **__: Any) -> None:
        """After each compilation; a module lives no longer than the function that it was compiled for."""
        if self._is_open and "backend_compile" in event:
            known = [self._figures] if self._figures else []
            self._figures = max(known + _figures_of_newest(), key=lambda figures: sum(figures.values()), default=None)

    def _finish(self) -> None:
        import jax

        if not self._is_open:
            return
        self._is_open = False
        jax.config.update("jax_enable_compilation_cache", self._has_cache)
        # For processes that are started from now on.
        if self._flags is None:
            os.environ.pop("XLA_FLAGS", None)
        else:
            os.environ["XLA_FLAGS"] = self._flags
        if self._figures is not None and self.directory.is_dir():
            text = json.dumps(self._figures, indent=1) + "\n"
            (self.directory / "memory_analysis.json").write_text(text, encoding="utf-8")


def _quoted(path: pathlib.Path) -> str:
    """A value of XLA_FLAGS, which may have spaces."""
    escaped = str(path).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _figures_of_newest() -> list[dict[str, int]]:
    """What `memory_analysis()` says of the module that was compiled last; a backend may not have it."""
    import jax

    try:
        executables: Any = jax.local_devices()[0].client.live_executables()
        # It is the first of those that are alive; in other releases it may be the last.
        return [_figures_of(one.get_compiled_memory_stats()) for one in (executables[0], executables[-1])]
    except (AttributeError, IndexError, RuntimeError, TypeError):
        return []


def _figures_of(stats: Any) -> dict[str, int]:
    return {name: int(getattr(stats, name)) for name in dir(stats) if name.endswith("_in_bytes")}
