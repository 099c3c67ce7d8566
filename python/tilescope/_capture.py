"""Records the memory of a PyTorch run: a snapshot, PyTorch's own totals, settings, and the text of an error."""

from __future__ import annotations

import atexit
import contextlib
import functools
import gc
import json
import math
import os
import pathlib
import re
import signal
import sys
import threading
import time
import traceback
from collections.abc import Iterator
from types import FrameType, TracebackType
from typing import Any

from tilescope._program import PathLike

EVENTS = 1_000_000
OWN_NAMES = re.compile(r"snapshot(?:_rank(\d+)|-\d+)?\.pickle(?:\.memory_stats\.json|\.oom\.txt|\.error\.txt)?")


class record(contextlib.ContextDecorator):
    """Records what PyTorch allocates within, into a directory that the program opens.

    There are `snapshot.pickle`, PyTorch's totals, `app.json` with `facts` and what nvidia-smi said, and the text of an
    error. Several processes write a snapshot each (`snapshot_rank0.pickle` …). It is written at the end, on an
    exception, on SIGTERM, and at once when memory runs out. Exceptions are passed on. Without a device nothing is
    written but `facts`, and that is said once.

    >>> import tempfile, tilescope
    >>> def train(batch):
    ...     pass
    >>> with tempfile.TemporaryDirectory() as runs:   # for example: runs = "runs"
    ...     for batch in (2, 4):
    ...         with tilescope.record(f"{runs}/batch-{batch}", batch=batch):
    ...             train(batch)

    It decorates functions as well:

    >>> with tempfile.TemporaryDirectory() as directory:
    ...     @tilescope.record(directory, batch=8)
    ...     def main():
    ...         train(8)
    ...     main()
    """

    def __init__(self, directory: PathLike = "run", /, **facts: Any) -> None:
        self._directory = directory
        self._facts = facts
        self._recording: Recording | None = None

    def __enter__(self) -> pathlib.Path:
        self._recording = Recording(self._directory, self._facts)
        self._recording.start()
        return self._recording.directory

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        where: TracebackType | None,
    ) -> None:
        if self._recording is not None:
            self._recording.finish(error)
            self._recording = None


class Recording:
    """One recording of this process. There is one at a time, as PyTorch has one history."""

    current: Recording | None = None

    def __init__(self, directory: PathLike, facts: dict[str, Any] | None = None) -> None:
        self.directory = pathlib.Path(directory).expanduser().absolute()
        self.facts = dict(facts or {})
        self._process = os.getpid()
        self._started = time.time()
        self._backend: Any = None
        self._rank: tuple[int, int] | None = None
        self._failures = 0
        self._smi_mib: int | None = None
        self._snapshot: pathlib.Path | None = None
        self._is_finished = False
        self._is_ended = False

    def start(self) -> None:
        """Begins to record as soon as PyTorch uses a device. Recording by itself uses none."""
        earlier = Recording.current
        if earlier is not None and earlier._process == self._process:
            say(f"already recording into {earlier.directory}, so not into {self.directory}")
            return
        if earlier is not None:
            earlier._leave_sigterm()  # This process is a fork, and that handler its parent's.
        backends = _backends(_torch())
        self.directory.mkdir(parents=True, exist_ok=True)
        self._remove_earlier()
        Recording.current = self
        self._watch_sigterm()
        for backend in backends:
            backend._lazy_call(lambda backend=backend: self._record(backend))

    def start_until_exit(self) -> None:
        """Begins to record, and finishes at the latest when the process ends."""
        self.start()
        # Python keeps an exception that ends a program there.
        atexit.register(lambda: self.finish(getattr(sys, "last_value", None)))

    def finish(self, error: BaseException | None = None) -> None:
        """Writes everything and stops. It raises nothing: a run does not fail because of its recording."""
        if Recording.current is not self:
            return
        Recording.current = None
        # A fork has the recording of its parent, and writes nothing of it.
        if os.getpid() == self._process:
            self._write_and_stop(error)
        self._is_finished = True
        self._leave_sigterm()

    def _write_and_stop(self, error: BaseException | None) -> None:
        with _only_said("the recording could not be written"):
            self._write_all(error)
        if self._backend is not None:
            with _only_said("the recording could not be stopped"):
                self._backend.memory._record_memory_history(enabled=None)

    def _write_all(self, error: BaseException | None) -> None:
        out_of_memory = _out_of_memory(error)
        if self._backend is None:
            if self._has_snapshot() or (rank_of_process() or (0, 1))[0] > 0:
                return  # Another process writes: the ranks of a launcher, or the first rank.
            say_once("PyTorch used no device that it can record (CUDA, ROCm, XPU), so there is no snapshot")
        # It was written when the request failed; since then memory was freed.
        elif not (out_of_memory and self._failures == 1):
            self._dump()
        if error is not None and not isinstance(error, (SystemExit, KeyboardInterrupt)):
            self._write_error(error, out_of_memory)
        self._write_facts()

    def _record(self, backend: Any) -> None:
        """Called when PyTorch initializes a device, which may be long after the start, or after the end."""
        if Recording.current is not self or self._backend is not None or os.getpid() != self._process:
            return
        with _only_said("PyTorch cannot be recorded"):
            if backend.is_initialized():
                # Tensors of an earlier failure live until their references are collected.
                gc.collect()
                backend.empty_cache()
                backend.reset_peak_memory_stats()
            backend.memory._record_memory_history(max_entries=EVENTS, stacks="python")
            self._backend = backend
            self._rank = self._rank or rank_of_process()
            _observe_out_of_memory(backend.__name__.rpartition(".")[2])

    def fail(self) -> None:
        """Memory ran out: writes what holds it, before it is freed or the process dies."""
        self._failures += 1
        if self._failures == 1 and os.getpid() == self._process:
            with _only_said("the recording could not be written"):
                self._dump()
                self._write_facts()

    def _dump(self) -> None:
        backend = self._backend
        snapshot = self._snapshot = self._own_file()
        partial = snapshot.with_name(f"{snapshot.name}.partial")
        try:
            backend.memory._dump_snapshot(str(partial))
            os.replace(partial, snapshot)
        finally:
            with contextlib.suppress(OSError):
                partial.unlink()
        _write(_beside(snapshot, "memory_stats.json"), json.dumps(backend.memory_stats()))
        self._smi_mib = smi_mib(backend)

    def _own_file(self) -> pathlib.Path:
        """The snapshot of this process. Names with the number of the rank make the files of all ranks one run."""
        self._rank = rank_of_process() or self._rank
        if self._rank is not None and self._rank[1] > 1:
            return self.directory / f"snapshot_rank{self._rank[0]}.pickle"
        alone = self.directory / "snapshot.pickle"
        is_of_another = self._snapshot != alone and self._is_new(alone)
        return alone.with_name(f"snapshot-{self._process}.pickle") if is_of_another else alone

    def _has_snapshot(self) -> bool:
        return any(self._is_new(file) for file in self.directory.glob("snapshot*.pickle"))

    def _is_new(self, file: pathlib.Path) -> bool:
        """Whether it was written since the first process of the run started."""
        launched = float(os.environ.get("TILESCOPE_RECORD_STARTED") or self._started)
        try:
            return file.stat().st_mtime >= launched
        except OSError:
            return False

    def _write_error(self, error: BaseException, out_of_memory: BaseException | None) -> None:
        snapshot = self._snapshot or self._own_file()
        if out_of_memory is not None:
            _write(_beside(snapshot, "oom.txt"), f"torch.OutOfMemoryError: {out_of_memory}\n")
        else:
            lines = traceback.format_exception(type(error), error, error.__traceback__)
            _write(_beside(snapshot, "error.txt"), "".join(lines))

    def _write_facts(self) -> None:
        """app.json, which is there once for all ranks; rank 0 writes it."""
        if self._rank is not None and self._rank[0] != 0:
            return
        file = self.directory / "app.json"
        facts = {name: _in_json(value) for name, value in self.facts.items() if value is not None}
        if not facts:
            with contextlib.suppress(OSError, TypeError, ValueError):
                facts = dict(json.loads(file.read_text(encoding="utf-8")))
                facts.pop("smi_mib", None)
        if self._smi_mib is not None:
            facts["smi_mib"] = self._smi_mib
        if facts:
            _write(file, json.dumps(facts, indent=1, default=str) + "\n")

    def _remove_earlier(self) -> None:
        """Files that an earlier recording left here would be taken for what this one said."""
        for file in self.directory.iterdir():
            named = OWN_NAMES.fullmatch(file.name)
            if named and self._is_to_remove(named[1]) and not self._is_new(file):
                file.unlink(missing_ok=True)  # Another rank may have been first.

    @staticmethod
    def _is_to_remove(number: str | None) -> bool:
        """A process alone removes all; a rank its own file, and rank 0 also those that no rank of this run has."""
        rank, size = rank_of_process() or (0, 1)
        of = int(number) if number else None
        if size == 1 or of == rank:
            return True
        return rank == 0 and (of is None or of >= size)

    def _watch_sigterm(self) -> None:
        """A launcher ends the other ranks of a run that failed, and Slurm one whose time is over."""
        is_main = threading.current_thread() is threading.main_thread()
        if is_main and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
            signal.signal(signal.SIGTERM, self._end)

    def _leave_sigterm(self) -> None:
        is_main = threading.current_thread() is threading.main_thread()
        if is_main and signal.getsignal(signal.SIGTERM) == self._end:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
        if self._is_ended:
            os.kill(os.getpid(), signal.SIGTERM)

    def _end(self, number: int, frame: FrameType | None) -> None:
        """Ends the process after the recording is written, or at once if nothing is left to write."""
        self._is_ended = True
        self.finish()
        # Another thread finished; it could not remove this handler.
        if self._is_finished:
            self._leave_sigterm()


def say(message: str) -> None:
    """A line for people; standard output is the run's."""
    print(f"tilescope: {message}", file=sys.stderr)


@functools.cache
def say_once(message: str) -> None:
    """Says it the first time."""
    say(message)


def rank_of_process() -> tuple[int, int] | None:
    """The rank of this process and the number of ranks, as its launcher or torch.distributed says."""
    torch = sys.modules.get("torch")
    distributed = getattr(torch, "distributed", None)
    with contextlib.suppress(Exception):
        if distributed is not None and distributed.is_available() and distributed.is_initialized():
            return distributed.get_rank(), distributed.get_world_size()
    for rank, size in (
        ("RANK", "WORLD_SIZE"),
        ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
        ("PMI_RANK", "PMI_SIZE"),
        ("SLURM_PROCID", "SLURM_STEP_NUM_TASKS"),
        ("LOCAL_RANK", "LOCAL_WORLD_SIZE"),
    ):
        try:
            return int(os.environ[rank]), int(os.environ[size])
        except (KeyError, ValueError):
            continue
    return None


def smi_mib(backend: Any) -> int | None:
    """What nvidia-smi says is used of the device, by all processes; None where it cannot be asked."""
    import shutil
    import subprocess

    if backend.__name__ != "torch.cuda" or shutil.which("nvidia-smi") is None:
        return None
    query = ["nvidia-smi", "--query-gpu=memory.used", "--format=csv,noheader,nounits"]
    try:
        # Its numbers differ from those of PyTorch where CUDA_VISIBLE_DEVICES is set or CUDA orders devices otherwise.
        uuid = backend.get_device_properties(backend.current_device()).uuid
        query.append(f"--id=GPU-{uuid}")
        said = subprocess.run(query, capture_output=True, text=True, timeout=10, check=True).stdout
        return int(said.split()[0])
    except (AttributeError, OSError, RuntimeError, subprocess.SubprocessError, ValueError, IndexError):
        return None


def _torch() -> Any:
    import torch

    return torch


def _backends(torch: Any) -> list[Any]:
    """The kinds of devices whose allocator this PyTorch can record. ROCm goes by the name of CUDA."""
    named = [getattr(torch, name, None) for name in ("cuda", "xpu")]
    return [one for one in named if hasattr(getattr(one, "memory", None), "_record_memory_history")]


@functools.cache
def _observe_out_of_memory(backend: str) -> None:
    """An observer stays for as long as the process lives, so it is attached once."""
    attach = getattr(_torch()._C, f"_{backend}_attach_out_of_memory_observer", None)
    if attach is not None:
        attach(_out_of_memory_observed)


def _out_of_memory_observed(*_: Any) -> None:
    if Recording.current is not None:
        Recording.current.fail()


def _out_of_memory(error: BaseException | None) -> BaseException | None:
    """The out-of-memory error of PyTorch that an exception is, or that it was raised from."""
    seen: list[BaseException] = []
    while error is not None and error not in seen:
        if type(error).__name__ == "OutOfMemoryError":
            return error
        seen.append(error)
        error = error.__cause__ or error.__context__
    return None


def _beside(snapshot: pathlib.Path, what: str) -> pathlib.Path:
    return snapshot.with_name(f"{snapshot.name}.{what}")


def _in_json(value: Any) -> Any:
    """JSON has neither infinity nor NaN: they are written as text, so that the file can be read."""
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def _write(file: pathlib.Path, text: str) -> None:
    file.write_text(text, encoding="utf-8")


@contextlib.contextmanager
def _only_said(what: str) -> Iterator[None]:
    try:
        yield
    except Exception as error:
        say(f"{what}: {type(error).__name__}: {error}")


def record_whole_process() -> None:
    """Records from now to the end of this process, as the variables of `tilescope record` say."""
    facts = json.loads(os.environ.get("TILESCOPE_RECORD_FACTS") or "{}")
    Recording(os.environ["TILESCOPE_RECORD"], facts).start_until_exit()
