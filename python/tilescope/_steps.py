"""Training steps of a recording, for the callbacks of training libraries."""

from __future__ import annotations

from typing import Any

from tilescope._capture import Recording


class Steps:
    """Names steps in the recording as torch.profiler does, so that runs are compared step by step; ends the recording
    after `most` of them.
    """

    def __init__(self, recording: Recording, most: int | None = None) -> None:
        self._recording = recording
        self._most = most
        self._count = 0
        self._marker: Any = None

    def begin(self) -> None:
        """Begins a step, and ends the one before if it was left open."""
        self.end()
        if Recording.current is self._recording:
            from torch.profiler import record_function

            self._marker = record_function(f"ProfilerStep#{self._count}")
            self._marker.__enter__()

    def end(self) -> None:
        """Ends the step."""
        if self._marker is None:
            return
        self._marker.__exit__(None, None, None)
        self._marker = None
        self._count += 1
        if self._count == self._most:
            self._recording.finish()
