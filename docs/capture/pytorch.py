"""Records a memory snapshot of each variant of a training run, for `tilescope sweep DIR`.

    from pytorch import recorded

    for splits in (2, 4, 8):
        with recorded("runs", f"splits_{splits}", splits=splits):
            train(splits, steps=3)

A directory for each variant: `snapshot.pickle`, PyTorch's own totals beside it, the text of an out-of-memory error if
there was one, and `app.json` with what varies and what nvidia-smi said. A variant that runs out of memory is recorded
and does not stop the others. Without a CUDA device there is no snapshot, which is said.
"""

import contextlib
import gc
import json
import os
import pathlib
import subprocess
import sys

import torch

EVENTS = 1_000_000


def smi_id(device):
    """What nvidia-smi calls the device: its numbers are not those of PyTorch where CUDA_VISIBLE_DEVICES is set or the
    order of CUDA is another, so it goes by its UUID."""
    uuid = getattr(torch.cuda.get_device_properties(device), "uuid", None)
    if uuid is not None:
        return f"GPU-{uuid}"
    # Before PyTorch 2.4; what is named in the variable are numbers of nvidia-smi, or UUIDs.
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    return visible.split(",")[device].strip() if visible else str(device)


def smi_mib(device):
    """What nvidia-smi says is used of the device, with what others have of it; None where it cannot be asked."""
    query = ["nvidia-smi", "--query-gpu=memory.used", "--format=csv,noheader,nounits"]
    try:
        query.append(f"--id={smi_id(device)}")
        said = subprocess.run(query, capture_output=True, text=True, timeout=10, check=True).stdout
        return int(said.split()[0])
    except (OSError, RuntimeError, subprocess.SubprocessError, ValueError, IndexError):
        return None


@contextlib.contextmanager
def recorded(directory, variant, **facts):
    """Records what runs within; `facts` are the values that vary between variants, by default its name."""
    facts = facts or {"variant": variant}
    place = pathlib.Path(directory) / variant
    place.mkdir(parents=True, exist_ok=True)
    snapshot = place / "snapshot.pickle"
    error_text = place / "snapshot.pickle.oom.txt"
    # What an earlier run left would be taken for what this one said.
    error_text.unlink(missing_ok=True)
    has_device = torch.cuda.is_available()
    if has_device:
        # The tensors of a variant that failed live as long as what refers to them.
        gc.collect()
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
        torch.cuda.memory._record_memory_history(max_entries=EVENTS, stacks="python")
    else:
        print(f"{variant}: no CUDA device, so there is no memory snapshot", file=sys.stderr)
    try:
        yield place
    except torch.cuda.OutOfMemoryError as error:
        error_text.write_text(f"torch.OutOfMemoryError: {error}\n")
    finally:
        if has_device:
            facts["smi_mib"] = smi_mib(torch.cuda.current_device())
            torch.cuda.memory._dump_snapshot(str(snapshot))
            totals = json.dumps(torch.cuda.memory_stats())
            (place / "snapshot.pickle.memory_stats.json").write_text(totals)
            torch.cuda.memory._record_memory_history(enabled=None)
        said = {name: value for name, value in facts.items() if value is not None}
        (place / "app.json").write_text(json.dumps(said, indent=1) + "\n")
