"""Runs, comparisons and sweeps."""

from __future__ import annotations

import functools
import os
import pathlib
from collections.abc import Sequence
from typing import Any, Union

from tilescope._program import Facts, PathLike, answer, carry_out, error_of_text, options, program
from tilescope._tables import Table

Bytes = Union[int, str]


def open(
    path: PathLike,
    *,
    capacity: Bytes | None = None,
    other: Bytes | None = None,
    module: str | None = None,
) -> Run:
    """Opens a run: a PyTorch snapshot, an XLA dump or profile, a TT-NN or IPU report, or a directory that holds one.

    `capacity` is the memory of the device ("16GiB", "H100"), `other` what other processes use of it, `module` the
    module to read where a run has several.

    >>> import tilescope
    >>> tilescope.open("sample_profiles/training/segments-2", capacity="1GiB").verdict.outcome
    'fits'
    """
    run = Run(path, capacity=capacity, other=other, module=module)
    # An error belongs here, not to the first use.
    _ = run.summary
    return run


def compare(
    source: PathLike | Run,
    target: PathLike | Run,
    *more: PathLike | Run,
    device: int | None = None,
    capacity: Bytes | None = None,
    other: Bytes | None = None,
    module: str | None = None,
) -> Comparison:
    """What changed from one run to another, and what the change consists of.

    >>> import tilescope
    >>> before, after = "sample_profiles/training/segments-0", "sample_profiles/training/segments-2"
    >>> tilescope.compare(before, after).conclusions[0].is_better
    True
    """
    chosen = options(device=device, capacity=capacity, other=other, module=module)
    return Comparison(answer(["compare", "--json", *chosen, "--", *_places([source, target, *more])]))


def sweep(
    *paths: PathLike | Run,
    capacity: Bytes | None = None,
    other: Bytes | None = None,
    reference: str | None = None,
    device: int | None = None,
    module: str | None = None,
) -> Sweep:
    """All runs below directories side by side, and the best run that fits.

    >>> import tilescope
    >>> tilescope.sweep("sample_profiles/training", capacity="1GiB").best.settings
    {'app.checkpoint_segments': 2}
    """
    chosen = options(capacity=capacity, other=other, reference=reference, device=device, module=module)
    return Sweep(answer(["sweep", "--json", *chosen, "--", *_places(paths)]))


class Run:
    """A run that was opened. In a notebook it shows its verdict, its curve and its peak.

    >>> import tilescope
    >>> tilescope.open("sample_profiles/training/segments-2")
    <Run sample_profiles/training/segments-2: ran, No request failed, peak 404.3 MiB>
    """

    def __init__(
        self,
        path: PathLike,
        *,
        capacity: Bytes | None = None,
        other: Bytes | None = None,
        module: str | None = None,
    ) -> None:
        self.path = pathlib.Path(path).expanduser()
        # The directory of the process may change before a table is asked for.
        self._place = os.path.abspath(self.path)
        self._module = module
        self._capacity = capacity
        self._other = other

    @functools.cached_property
    def summary(self) -> Facts:
        """The whole answer of `tilescope summary`, as docs/user/schemas/summary.json describes it.

        >>> import tilescope
        >>> tilescope.open("sample_profiles/training/segments-2").summary.source.system
        'pytorch'
        """
        return self._answer("summary", capacity=self._capacity, other=self._other)

    @property
    def verdict(self) -> Facts:
        """Whether it fits or ran: `outcome`, `text`, `used_bytes`, `capacity_bytes`, `devices` …

        >>> import tilescope
        >>> tilescope.open("sample_profiles/does-not-fit").verdict.outcome
        'does-not-fit'
        """
        return Facts(self.summary.verdict)

    @property
    def peak(self) -> Facts | None:
        """What is alive at the peak: `bytes`, `step`, `by_category`, `by_line`, `largest` …; None if no step is known.

        >>> import tilescope
        >>> tilescope.open("sample_profiles/training/segments-2").peak.by_category[0].name
        'activation'
        """
        liveness = self.summary.liveness
        return Facts(liveness.peak) if liveness and liveness.peak else None

    @property
    def advice(self) -> list[Facts]:
        """What to try, the best first: `id`, `text`, `saving`, `makes_it_fit`, `how` …

        >>> import tilescope
        >>> tilescope.open("sample_profiles/training/segments-2").advice[0].id
        'chunked-loss'
        """
        return list(self.summary.insights.advice)

    def liveness(
        self,
        *,
        step: int | str | None = None,
        by: str | None = None,
        peaks: int | None = None,
        device: int | None = None,
        arena: int | None = None,
        filter: str | None = None,
    ) -> Table:
        """Memory at every step; with `step` ("peak" or a number) what is alive there, with `by`, too, in groups
        ("category", "module", "line" …); with `peaks` that many peaks.

        >>> import tilescope
        >>> run = tilescope.open("sample_profiles/training/segments-2")
        >>> run.liveness(step="peak", by="line").rows()[1]["name"]
        '/workspace/train.py:25 (forward)'
        """
        if by is not None and step is None:
            step = "peak"
        chosen = {"step": step, "by": by, "peaks": peaks, "device": device, "arena": arena, "filter": filter}

        def rows(document: Facts) -> list[Any]:
            if by is not None:
                return list(document.by.rows)
            if step is not None:
                return [*document.variables, *document.always_live_variables]
            return list(document.steps if peaks is None else document.peaks)

        return self._table("liveness", rows, **chosen)

    def tiles(self, *, ipu: int | None = None, by: str | None = None) -> Table:
        """Memory of each tile of an IPU report.

        >>> import tilescope
        >>> tilescope.open("sample_profiles/tiny").tiles().rows()[0]["including_gaps_bytes"]
        538844
        """
        return self._table("tiles", lambda document: list(document.tiles), ipu=ipu, by=by)

    def ops(self, *, layer: str | None = None) -> Table:
        """Each operation of an IPU report with its bytes, vertices, cycles and steps; each call of a TT-NN report.

        >>> import tilescope
        >>> tilescope.open("sample_profiles/tiny").ops().rows()[0]["name"]
        'layer1.0.conv2'
        """
        return self._table("ops", lambda document: list(document.get("calls", document.operations)), layer=layer)

    def trace(self, *, ipu: int | None = None) -> Table:
        """What ran when on each IPU, for reports that recorded it.

        >>> import tilescope
        >>> len(tilescope.open("sample_profiles/pipeline").trace())
        128
        """
        return self._table("trace", lambda document: list(document.steps), ipu=ipu)

    def map(self, arena: int, *, step: int | None = None) -> Table:
        """What lies where in one arena: a segment, an allocation, a tile.

        >>> import tilescope
        >>> tilescope.open("sample_profiles/training/segments-2").map(0).rows()[0]["bytes"]
        4194304
        """
        return self._table("map", lambda document: list(document.variables), arena=arena, step=step)

    def compare(self, *others: PathLike | Run) -> Comparison:
        """What changed from this run to another one, with the capacity that this one was opened with.

        >>> import tilescope
        >>> run = tilescope.open("sample_profiles/training/segments-0")
        >>> run.compare("sample_profiles/training/segments-2").figures().rows()[0]["difference"]
        -146931712
        """
        first, *more = others
        return compare(self, first, *more, capacity=self._capacity, other=self._other, module=self._module)

    def check(
        self,
        *,
        must_fit: bool = False,
        max_peak_bytes: Bytes | None = None,
        max_total_bytes: Bytes | None = None,
        max_tile_bytes: Bytes | None = None,
        min_headroom_bytes: Bytes | None = None,
        baseline: PathLike | None = None,
        max_growth: float | None = None,
    ) -> Facts:
        """Checks the run against budgets: `passed`, and `checks` with the limit and the figure of each.

        >>> import tilescope
        >>> tilescope.open("sample_profiles/training/segments-2").check(max_peak_bytes="200MiB").passed
        False
        """
        return self._answer(
            "check",
            allowed=(0, 1),
            capacity=self._capacity,
            other=self._other,
            must_fit=must_fit,
            max_peak_bytes=max_peak_bytes,
            max_total_bytes=max_total_bytes,
            max_tile_bytes=max_tile_bytes,
            min_headroom_bytes=min_headroom_bytes,
            baseline=baseline and os.path.abspath(baseline),
            max_growth=max_growth,
        )

    def svg(self, page: str = "liveness", *, picture: str | None = None, theme: str | None = None) -> str:
        """A page of the window, or a picture of it, as SVG; needs a program with the window.

        >>> import tilescope
        >>> run = tilescope.open("sample_profiles/training/segments-2")
        >>> curve = run.svg("liveness")   # doctest: +SKIP
        """
        return self._rendered("svg", page, picture=picture, theme=theme).decode()

    def png(
        self,
        page: str = "liveness",
        *,
        picture: str | None = None,
        theme: str | None = None,
        scale: float = 2,
        size: str | None = None,
    ) -> bytes:
        """A page of the window, or a picture of it, as PNG; needs a program with the window.

        >>> import tilescope
        >>> run = tilescope.open("sample_profiles/training/segments-2")
        >>> png = run.png("overview", size="1280x800")   # doctest: +SKIP
        """
        return self._rendered("png", page, picture=picture, theme=theme, scale=scale, size=size)

    def html(self, path: PathLike, *others: PathLike | Run) -> pathlib.Path:
        """Writes the run, or several runs beside each other, as one HTML file that opens anywhere.

        >>> import tempfile, tilescope
        >>> run = tilescope.open("sample_profiles/training/segments-2")
        >>> with tempfile.TemporaryDirectory() as directory:
        ...     run.html(f"{directory}/report.html").name
        'report.html'
        """
        file = pathlib.Path(path).expanduser()
        budget = options(capacity=self._capacity, other=self._other, module=self._module)
        answer(["report", "--json", *budget, *options(output=file), "--", *_places([self, *others])])
        return file

    def show(self) -> None:
        """Opens the window on the run, and does not wait for it.

        >>> import tilescope
        >>> tilescope.open("sample_profiles/training/segments-2").show()   # doctest: +SKIP
        """
        import subprocess
        import tempfile

        # A file: a pipe that nobody reads any more would end the program.
        with tempfile.TemporaryFile() as said:
            null = subprocess.DEVNULL
            command = [program(), "--", self._place]
            window = subprocess.Popen(command, stdin=null, stdout=null, stderr=said, start_new_session=True)
            try:
                status = window.wait(timeout=1)
            except subprocess.TimeoutExpired:
                return
            said.seek(0)
            if status:
                raise error_of_text(said.read().decode(errors="replace"), status, ["window"])

    def _rendered(self, kind: str, page: str, **chosen: Any) -> bytes:
        import tempfile

        with tempfile.TemporaryDirectory() as directory:
            file = os.path.join(directory, f"picture.{kind}")
            budget = {"capacity": self._capacity, "other": self._other, "module": self._module}
            carry_out(["render", *options(page=page, output=file, **budget, **chosen), "--", self._place])
            return pathlib.Path(file).read_bytes()

    def _answer(self, command: str, allowed: Sequence[int] = (0,), **chosen: Any) -> Facts:
        # A command that cannot choose a module refuses, instead of showing another one.
        return answer([command, "--json", *options(module=self._module, **chosen), "--", self._place], allowed)

    def _table(self, command: str, rows: Any, **chosen: Any) -> Table:
        def stream() -> bytes:
            return carry_out([command, "--arrow=-", *options(module=self._module, **chosen), "--", self._place])

        has_stream = command in ("liveness", "tiles", "ops", "trace")
        return Table(
            f"{command} of {self.path}",
            lambda: rows(self._answer(command, **chosen)),
            stream if has_stream else None,
        )

    def __repr__(self) -> str:
        from tilescope._display import size

        peak = f", peak {size(self.peak.bytes)}" if self.peak else ""
        return f"<Run {self.path}: {self.verdict.outcome}, {self.verdict.text}{peak}>"

    def _repr_html_(self) -> str:
        from tilescope._display import run_html

        return run_html(self)


class Comparison:
    """What changed between runs; `document` has the whole answer of `tilescope compare`.

    >>> import tilescope
    >>> tilescope.compare("sample_profiles/training/segments-0", "sample_profiles/training/segments-2")
    <Comparison of 2 runs: The requested peak of GPU 0 is 140.1 MiB less: 404.3 MiB instead of 544.4 MiB, 74.3 % of it>
    """

    def __init__(self, document: Facts) -> None:
        self.document = document

    @property
    def conclusions(self) -> list[Facts]:
        """What the change consists of: `text`, `is_better`, `evidence`.

        >>> import tilescope
        >>> found = tilescope.compare("sample_profiles/training/segments-0", "sample_profiles/training/segments-2")
        >>> found.conclusions[0].id
        'peak'
        """
        return list(self.document.conclusions)

    def figures(self) -> Table:
        """The figures of both runs and their differences.

        >>> import tilescope
        >>> found = tilescope.compare("sample_profiles/training/segments-0", "sample_profiles/training/segments-2")
        >>> found.figures().rows()[0]["title"]
        'Allocated peak'
        """
        return Table("figures", lambda: list(self.document.figures))

    def peak(self, by: str = "category") -> Table:
        """What the peak gained and lost, by "category", "operation", "module", "line" or "variable".

        >>> import tilescope
        >>> found = tilescope.compare("sample_profiles/training/segments-0", "sample_profiles/training/segments-2")
        >>> sum(row["difference_bytes"] for row in found.peak())
        -146931712
        """
        return Table(f"peak by {by}", lambda: list(self.document.peak[f"by_{by}"]))

    def __repr__(self) -> str:
        runs = len(self.document.verdicts)
        first = f": {self.conclusions[0].text}" if self.conclusions else ""
        return f"<Comparison of {runs} runs{first}>"

    def _repr_html_(self) -> str:
        from tilescope._display import comparison_html

        return comparison_html(self)


class Sweep:
    """Runs side by side; `document` has the whole answer of `tilescope sweep`.

    >>> import tilescope
    >>> tilescope.sweep("sample_profiles/training", capacity="1GiB")
    <Sweep of 2 runs: best segments-2/snapshot>
    """

    def __init__(self, document: Facts) -> None:
        self.document = document

    @property
    def best(self) -> Facts | None:
        """The best run that fits, or None.

        >>> import tilescope
        >>> tilescope.sweep("sample_profiles/training").best.name
        'segments-2/snapshot'
        """
        return self.document.best and Facts(self.document.best)

    def runs(self) -> Table:
        """A row for each run: its settings, verdict and figures.

        >>> import tilescope
        >>> tilescope.sweep("sample_profiles/training").runs().rows()[0]["figures"]["needed_bytes"]
        601882624
        """
        return Table("sweep", lambda: list(self.document.runs))

    def __repr__(self) -> str:
        best = f"best {self.best.name}" if self.best else "none is best"
        return f"<Sweep of {len(self.document.runs)} runs: {best}>"

    def _repr_html_(self) -> str:
        from tilescope._display import sweep_html

        return sweep_html(self)


def _places(paths: Sequence[PathLike | Run]) -> list[str]:
    return [path._place if isinstance(path, Run) else os.path.expanduser(path) for path in paths]
