"""Records the training of a Trainer of Lightning.

from tilescope.lightning import TilescopeCallback

trainer = Trainer(max_steps=3, callbacks=[TilescopeCallback("run")])
trainer.fit(model, data)
"""

from __future__ import annotations

from typing import Any

try:
    from lightning.pytorch.callbacks import Callback
except ModuleNotFoundError:
    from pytorch_lightning.callbacks import Callback

from tilescope._capture import Recording
from tilescope._program import PathLike
from tilescope._steps import Steps

SETTINGS = ("precision", "accumulate_grad_batches", "world_size")


class TilescopeCallback(Callback):  # type: ignore[misc]
    """Records from before the model is moved to the device to the end of `fit`, or to an exception; with `steps` to
    the end of that batch. `facts` are settings for app.json beside those of the Trainer that decide about memory.
    """

    def __init__(self, directory: PathLike = "run", /, *, steps: int | None = None, **facts: Any) -> None:
        super().__init__()
        self._directory, self._facts, self._most = directory, facts, steps
        self._recording = Recording(directory, facts)
        self._steps = Steps(self._recording, steps)

    def setup(self, trainer: Any, pl_module: Any, stage: str) -> None:
        """Notes the settings, and begins."""
        if stage == "fit":
            settings = {name: getattr(trainer, name, None) for name in SETTINGS}
            # Each `fit` is a recording of its own.
            self._recording = Recording(self._directory, {**settings, **self._facts})
            self._steps = Steps(self._recording, self._most)
            self._recording.start_until_exit()

    def on_train_batch_start(self, trainer: Any, pl_module: Any, batch: Any, batch_idx: int) -> None:
        """Names the step."""
        self._steps.begin()

    def on_train_batch_end(self, trainer: Any, pl_module: Any, outputs: Any, batch: Any, batch_idx: int) -> None:
        """Ends the step."""
        self._steps.end()

    def on_exception(self, trainer: Any, pl_module: Any, exception: BaseException) -> None:
        """Writes the recording with the error."""
        self._recording.finish(exception)

    def teardown(self, trainer: Any, pl_module: Any, stage: str) -> None:
        """Writes the recording."""
        if stage == "fit":
            self._recording.finish()
