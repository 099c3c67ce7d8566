"""Finds the program, runs it, and turns its errors into exceptions."""

from __future__ import annotations

import json
import os
import pathlib
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from typing import Any, Union

PathLike = Union[str, "os.PathLike[str]"]


class TilescopeError(Exception):
    """What the program could not do: its message, what to do about it, and where.

    >>> import tilescope
    >>> try:
    ...     tilescope.open("missing.pickle")
    ... except tilescope.TilescopeError as error:
    ...     print(error.kind, "-", error.hint)
    not-found - Check the path.
    """

    # The name that a traceback prints.
    __module__ = "tilescope"

    def __init__(
        self,
        message: str,
        hint: str | None = None,
        kind: str | None = None,
        file: str | None = None,
        at: Any = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.kind = kind
        self.file = file
        self.at = at

    def __str__(self) -> str:
        return f"{self.message}\n  hint: {self.hint}" if self.hint else self.message


class Facts(dict[str, Any]):
    """An object of the program's JSON: a dictionary whose keys are attributes, too.

    >>> Facts(outcome="fits", used_bytes=8).used_bytes
    8
    """

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"there is no {name!r}, but {', '.join(self)}") from None


def program() -> str:
    """The path of the program: TILESCOPE_BIN, else the one that was installed with this package, else one on PATH.

    >>> import os
    >>> os.access(program(), os.X_OK)
    True
    """
    stated = os.environ.get("TILESCOPE_BIN")
    if stated:
        if not os.access(stated, os.X_OK):
            raise TilescopeError(f"TILESCOPE_BIN is {stated!r}, which is not a program", "Correct or unset it.")
        return stated
    name = "tilescope.exe" if os.name == "nt" else "tilescope"
    for directory in _script_directories():
        if os.access(directory / name, os.X_OK):
            return str(directory / name)
    found = shutil.which(name)
    if found is None:
        raise TilescopeError(
            "the program tilescope was not found",
            "Install the package again, or set TILESCOPE_BIN to the path of the program.",
        )
    return found


def _script_directories() -> Iterator[pathlib.Path]:
    """Where an installer puts the programs of a wheel: of the environment, of the user, of `--target` or `--prefix`."""
    import sysconfig

    yield pathlib.Path(sysconfig.get_path("scripts"))
    user = f"{os.name}_user"
    if user in sysconfig.get_scheme_names():
        yield pathlib.Path(sysconfig.get_path("scripts", user))
    package = pathlib.Path(__file__).resolve().parent
    yield package.parent / "bin"
    if len(package.parents) > 3:
        yield package.parents[3] / "bin"


def options(**values: Any) -> list[str]:
    """Arguments of the command line: `max_peak_bytes=8` becomes `--max-peak-bytes 8`; None and False are left out."""
    arguments: list[str] = []
    for name, value in values.items():
        if value is None or value is False:
            continue
        # One argument, so that a value may begin with a minus.
        flag = f"--{name.replace('_', '-')}"
        arguments.append(flag if value is True else f"{flag}={value}")
    return arguments


def answer(arguments: Sequence[str], allowed: Sequence[int] = (0,)) -> Facts:
    """The JSON document with which a command answers. `allowed` are exit statuses that are answers."""
    done = _done(arguments)
    try:
        document = json.loads(done.stdout, object_hook=Facts)
    except ValueError:
        raise _error_of_text(done, arguments) from None
    if "error" in document:
        error = document["error"]
        raise TilescopeError(error["message"], error["hint"], error["kind"], error["file"], error["at"])
    if done.returncode not in allowed:
        raise _error_of_text(done, arguments)
    return Facts(document)


def carry_out(arguments: Sequence[str]) -> bytes:
    """Runs a command that has no JSON; what it printed."""
    done = _done(arguments)
    if done.returncode:
        raise _error_of_text(done, arguments)
    return done.stdout


def _done(arguments: Sequence[str]) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([program(), *arguments], stdin=subprocess.DEVNULL, capture_output=True)


def _error_of_text(done: subprocess.CompletedProcess[bytes], arguments: Sequence[str]) -> TilescopeError:
    """An error that was printed for people: of wrong arguments, and of commands without JSON."""
    return error_of_text(done.stderr.decode(errors="replace"), done.returncode, arguments)


def error_of_text(said: str, status: int, arguments: Sequence[str]) -> TilescopeError:
    """The error in what a command printed: `error: …`, and `  hint: …` below it."""
    lines = [line for line in said.splitlines() if line.strip() and not line.startswith("warning:")]
    hints = [line.split(":", 1)[1].strip() for line in lines if line.strip().startswith(("hint:", "tip:"))]
    message = next((line[len("error:") :].strip() for line in lines if line.startswith("error:")), None)
    if message is None:
        message = lines[-1] if lines else f"tilescope {arguments[0]} ended with status {status}"
    return TilescopeError(message, hints[0] if hints else None)
