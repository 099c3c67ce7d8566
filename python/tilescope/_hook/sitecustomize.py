"""Python runs this at its start below `tilescope record`. Recording begins when PyTorch is imported."""

import atexit
import importlib.util
import os
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent


class AfterTorch:
    """Starts the recording once the module torch is there. Libraries also look for it without importing it."""

    is_looking = False

    def find_spec(self, name, path=None, target=None):
        if name != "torch" or self.is_looking:
            return None
        self.is_looking = True
        try:
            spec = importlib.util.find_spec(name)
        finally:
            self.is_looking = False
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def exec_module(module):
                if self in sys.meta_path:
                    sys.meta_path.remove(self)
                execute(module)
                start()

            spec.loader.exec_module = exec_module
        return spec


def start():
    """A run does not fail because it cannot be recorded."""
    try:
        own_tilescope()
        from tilescope._capture import record_whole_process

        record_whole_process()
    except Exception as error:
        print(f"tilescope: nothing is recorded: {type(error).__name__}: {error}", file=sys.stderr)


def own_tilescope():
    """The package that this file belongs to, also where the Python of the command has none, or another."""
    package = HERE.parent
    spec = importlib.util.spec_from_file_location(
        "tilescope", package / "__init__.py", submodule_search_locations=[str(package)]
    )
    if "tilescope" not in sys.modules:
        module = sys.modules["tilescope"] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)


def run_the_next():
    """The sitecustomize that Python would have found without this one."""
    sys.path[:] = [path for path in sys.path if pathlib.Path(path or ".").resolve() != HERE]
    this = sys.modules.pop("sitecustomize", None)
    try:
        import sitecustomize  # noqa: F401
    except ModuleNotFoundError as error:
        if error.name != "sitecustomize":
            raise
    finally:
        if this is not None:
            sys.modules.setdefault("sitecustomize", this)


def is_the_command():
    """Whether this process is the recorded command itself, not one that it starts."""
    return os.environ.get("TILESCOPE_RECORD_PROCESS") == str(os.getpid())


def say_that_nothing_is_recorded():
    """Otherwise an earlier recording in the directory could be taken for one of this command."""
    if "torch" in sys.modules or not is_the_command():
        return
    started = float(os.environ.get("TILESCOPE_RECORD_STARTED") or 0)
    try:
        files = list(pathlib.Path(os.environ["TILESCOPE_RECORD"]).iterdir())
        is_recorded = any(file.stat().st_mtime >= started for file in files)
    except OSError:
        is_recorded = False
    # A process that the command started may have recorded.
    if not is_recorded:
        print("tilescope: nothing is recorded: the command did not import PyTorch", file=sys.stderr)


if os.environ.get("TILESCOPE_RECORD"):
    sys.meta_path.insert(0, AfterTorch())
    if is_the_command():
        atexit.register(say_that_nothing_is_recorded)
run_the_next()
