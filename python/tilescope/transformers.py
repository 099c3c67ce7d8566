"""Records the training of a Trainer of transformers.

from tilescope.transformers import TilescopeCallback

trainer = Trainer(model=model, args=args, train_dataset=data, callbacks=[TilescopeCallback("run", steps=3)])
trainer.train()
"""

from __future__ import annotations

from typing import Any

from transformers import TrainerCallback

from tilescope._capture import Recording
from tilescope._program import PathLike
from tilescope._steps import Steps

SETTINGS = (
    "per_device_train_batch_size",
    "gradient_accumulation_steps",
    "gradient_checkpointing",
    "bf16",
    "fp16",
    "optim",
    "torch_compile",
)


class TilescopeCallback(TrainerCallback):  # type: ignore[misc]
    """Records from its construction, which is before the Trainer moves the model, to the end of training; with `steps`
    to the end of that step. `facts` are settings for app.json beside those of the Trainer that decide about memory.
    """

    def __init__(self, directory: PathLike = "run", /, *, steps: int | None = None, **facts: Any) -> None:
        self._recording = Recording(directory, facts)
        self._recording.start_until_exit()
        self._steps = Steps(self._recording, steps)

    def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Notes the settings."""
        settings = {name: getattr(args, name, None) for name in SETTINGS}
        self._recording.facts = {**settings, **self._recording.facts}

    def on_step_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Names the step."""
        self._steps.begin()

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Ends the step."""
        self._steps.end()

    def on_train_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Writes the recording."""
        self._recording.finish()
