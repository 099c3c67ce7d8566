"""What of PyTorch a recording calls, without PyTorch. Calls are kept; a snapshot is a copy of a sample.

The device is first used by `torch.cuda.init()`. FAKE_DEVICE=0: there is none. FAKE_XPU: there is also an XPU.
"""

import os
import pathlib
import shutil
import types

SAMPLE = pathlib.Path(__file__).resolve().parents[3] / "sample_profiles/training/segments-0/snapshot.pickle"

calls = []
_observers = []


class OutOfMemoryError(RuntimeError):
    pass


class _Devices(types.ModuleType):
    OutOfMemoryError = OutOfMemoryError

    def __init__(self, name):
        super().__init__(name)
        self._is_there, self._queued = False, []
        self.memory = types.SimpleNamespace(
            _record_memory_history=_record_memory_history, _dump_snapshot=_dump_snapshot
        )

    def _lazy_call(self, function):
        function() if self._is_there else self._queued.append(function)

    def is_initialized(self):
        return self._is_there

    def init(self):
        if os.environ.get("FAKE_DEVICE") != "0":
            while self._queued:
                self._queued.pop(0)()
            self._is_there = True

    def empty_cache(self):
        calls.append("empty_cache")

    def reset_peak_memory_stats(self):
        calls.append("reset_peak_memory_stats")

    def memory_stats(self):
        return {"allocated_bytes.all.peak": 570881024}

    def current_device(self):
        return 0

    def get_device_properties(self, device):
        return types.SimpleNamespace(uuid="1234-5678")


def _record_memory_history(enabled="all", **options):
    calls.append(("record", enabled, options))


def _dump_snapshot(path):
    calls.append("dump")
    shutil.copy(SAMPLE, path)


def run_out_of_memory():
    """A request fails: observers are told, and it raises."""
    calls.append("oom")
    for observe in _observers:
        observe(0, 2 << 20, 8 << 30, 1 << 20)
    raise OutOfMemoryError(
        "CUDA out of memory. Tried to allocate 2.00 MiB. "
        "GPU 0 has a total capacity of 8.00 GiB of which 1.00 MiB is free."
    )


cuda = _Devices("torch.cuda")
if os.environ.get("FAKE_XPU"):
    xpu = _Devices("torch.xpu")
_C = types.SimpleNamespace(_cuda_attach_out_of_memory_observer=_observers.append)
