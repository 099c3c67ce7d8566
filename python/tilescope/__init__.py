"""What fills the memory of an accelerator, and what to change: Tilescope from Python.

>>> import tilescope
>>> run = tilescope.open("sample_profiles/training/segments-2")
>>> run.verdict.outcome
'ran'
>>> run.peak.bytes
423948296

The program that comes with the package does the work; this module starts it and reads its answers. Each name is
imported when it is first used, so `import tilescope` costs next to nothing.
"""

from __future__ import annotations

import importlib

# As in the module typing, whose import takes longer than all the rest.
TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any

    from tilescope._capture import record
    from tilescope._jax import jax_dump
    from tilescope._program import Facts, TilescopeError, program
    from tilescope._run import Comparison, Run, Sweep, compare, open, sweep
    from tilescope._tables import Table

_MODULES = {
    "Comparison": "_run",
    "Facts": "_program",
    "Run": "_run",
    "Sweep": "_run",
    "Table": "_tables",
    "TilescopeError": "_program",
    "compare": "_run",
    "jax_dump": "_jax",
    "open": "_run",
    "program": "_program",
    "record": "_capture",
    "sweep": "_run",
}

__all__ = [
    "Comparison",
    "Facts",
    "Run",
    "Sweep",
    "Table",
    "TilescopeError",
    "compare",
    "jax_dump",
    "open",
    "program",
    "record",
    "sweep",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'tilescope' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"tilescope.{_MODULES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
