"""A marker for pytest: `@pytest.mark.limit_device_memory("20GiB")` fails a test that has more alive on a device."""

from __future__ import annotations

import importlib.util
import pathlib
import shutil
import tempfile
import warnings
from collections.abc import Iterator
from typing import Any

import pytest

MARKER = "limit_device_memory"
SHOWN_LINES = 5


def pytest_configure(config: pytest.Config) -> None:
    """Says which marker there is."""
    config.addinivalue_line(
        "markers", f"{MARKER}(limit): the most that PyTorch may have alive on a device at once, such as '20GiB'"
    )


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Records the test, and looks at its peak when it passed."""
    marker = item.get_closest_marker(MARKER)
    if marker is None:
        yield
        return
    if len(marker.args) != 1 or marker.kwargs:
        raise pytest.UsageError(f"{item.nodeid}: {MARKER} takes the limit alone, such as {MARKER}('20GiB')")
    if importlib.util.find_spec("torch") is None:
        warnings.warn("PyTorch is not installed, so no test is held to its limit of device memory", stacklevel=1)
        yield
        return

    from tilescope._capture import Recording

    directory = pathlib.Path(tempfile.mkdtemp(prefix="tilescope-"))
    recording = Recording(directory)
    recording.start()
    outcome: Any = yield
    recording.finish(outcome.excinfo and outcome.excinfo[1])
    snapshot = next(directory.glob("snapshot*.pickle"), None)
    if snapshot is None:
        warnings.warn("there was no device to record, so no test is held to its limit of device memory", stacklevel=1)
    elif outcome.excinfo is not None:
        item.add_report_section("call", "device memory", f"tilescope {snapshot}")
        return
    else:
        message = _exceeded(snapshot, marker.args[0])
        if message is not None:
            outcome.force_exception(pytest.fail.Exception(f"{item.name} {message}", pytrace=False))
            return
    shutil.rmtree(directory, ignore_errors=True)


def _exceeded(snapshot: pathlib.Path, limit: Any) -> str | None:
    """What a test is told whose peak is above the limit: the peak, its lines, and where the snapshot is."""
    from tilescope._display import size
    from tilescope._run import open

    run = open(snapshot)
    # A check also fails where more may have been alive before the recording, which is not the test's.
    failed = [check for check in run.check(max_peak_bytes=limit).checks if (check.actual or 0) > check.limit]
    if not failed:
        return None
    lines = [f"had {size(failed[0].actual)} alive on a device at once; its limit is {size(failed[0].limit)}"]
    rows = run.peak.by_line if run.peak else []
    lines += [f"  {size(row.bytes):>10}  {row.name}" for row in rows[:SHOWN_LINES]]
    return "\n".join([*lines, f"tilescope {snapshot}"])
