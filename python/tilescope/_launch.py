"""`python -m tilescope record [-o DIRECTORY] [NAME=VALUE…] -- COMMAND…`: records all processes of a command."""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import subprocess
import sys
import time
from collections.abc import Sequence
from typing import Any

HOOK = pathlib.Path(__file__).resolve().parent / "_hook"


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command with an environment in which Python records; its exit status is that of the command."""
    said = list(sys.argv[1:] if arguments is None else arguments)
    parser = argparse.ArgumentParser(
        prog="python -m tilescope record",
        usage="python -m tilescope record [-o DIRECTORY] [NAME=VALUE ...] -- COMMAND ...",
        description="Records the memory of PyTorch in a command and in all processes that it starts.",
        epilog="Example: python -m tilescope record -o runs/batch-8 batch=8 -- torchrun --nproc-per-node 4 train.py",
    )
    parser.add_argument("-o", "--output", default="run", metavar="DIRECTORY", help="where the snapshots go (run)")
    parser.add_argument("settings", nargs="*", metavar="NAME=VALUE", help="settings that tell this run from others")
    own, command = (said[: said.index("--")], said[said.index("--") + 1 :]) if "--" in said else (said, [])
    chosen = parser.parse_args(own)
    if not command:
        parser.error("no command: put it behind --")
    wrong = [one for one in chosen.settings if "=" not in one]
    if wrong:
        parser.error(f"{wrong[0]!r} is no NAME=VALUE; the command goes behind --")
    settings = dict(one.split("=", 1) for one in chosen.settings)
    environment = {**os.environ, **environment_for(chosen.output, {name: _value(settings[name]) for name in settings})}
    try:
        if os.name == "posix":
            os.execvpe(command[0], command, environment)
        return subprocess.call(command, env=environment)
    except OSError as error:
        print(f"error: {command[0]}: {error.strerror}", file=sys.stderr)
        return 127


def environment_for(directory: str, facts: dict[str, Any]) -> dict[str, str]:
    """The variables that make Python record: its sitecustomize is the hook, which runs the user's own as well."""
    paths: list[str] = [str(HOOK)]
    if os.environ.get("PYTHONPATH"):
        paths.append(os.environ["PYTHONPATH"])
    return {
        "PYTHONPATH": os.pathsep.join(paths),
        "TILESCOPE_RECORD": os.path.abspath(os.path.expanduser(directory)),
        "TILESCOPE_RECORD_FACTS": json.dumps(facts),
        "TILESCOPE_RECORD_STARTED": repr(time.time()),
    }


def _value(text: str) -> Any:
    """Numbers and true or false as such, so that a sweep orders them."""
    try:
        return json.loads(text)
    except ValueError:
        return text


if __name__ == "__main__":
    sys.exit(main())
