"""What a notebook shows. All text is escaped: names come from files that others made."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from tilescope._program import TilescopeError

if TYPE_CHECKING:
    from tilescope._run import Comparison, Run, Sweep

# Ten of them, in base64, keep a notebook below 2 MB.
MOST_PICTURE_BYTES = 140_000
SHOWN_ADVICE = 3
SHOWN_LINES = 8
COLORS = {"fits": "#2e7d32", "ran": "#2e7d32", "does-not-fit": "#c62828", "out-of-memory": "#c62828"}


class Amount(str):
    """Text that stands in a column of numbers."""


def size(count: int | None) -> Amount:
    """Bytes for people, with three digits at least.

    >>> size(423948296), size(512), size(None)
    ('404.3 MiB', '512 B', 'unknown')
    """
    if count is None:
        return Amount("unknown")
    if abs(count) < 1024:
        return Amount(f"{count} B")
    value = float(count)
    for unit in ("KiB", "MiB", "GiB", "TiB"):
        value /= 1024
        if abs(value) < 1024:
            break
    return Amount(f"{value:.2f} {unit}" if abs(value) < 10 else f"{value:.1f} {unit}")


def words(key: str) -> str:
    """A key of the JSON as words.

    >>> words("does-not-fit"), words("optimizer_state")
    ('does not fit', 'optimizer state')
    """
    return key.replace("-", " ").replace("_", " ")


def table_html(columns: Mapping[str, Sequence[Any]], left_out: int = 0) -> str:
    """A table whose columns hold values of one type; numbers are at the right."""
    head = "".join(f"<th>{escape(name)}</th>" for name in columns)
    rows = "".join(_row(values) for values in zip(*columns.values()))
    more = f"<p>{left_out:,} more rows</p>" if left_out > 0 else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>{more}"


def run_html(run: Run) -> str:
    """Verdict, curve, peak and the first advice."""
    verdict = run.verdict
    color = COLORS.get(verdict.outcome, "inherit")
    facts = f"used {size(verdict.used_bytes)}"
    if verdict.capacity_bytes is not None:
        facts += f" of {size(verdict.capacity_bytes)}"
    parts = [
        f"<p><b>{escape(str(run.path))}</b>: "
        f"<b style='color:{color}'>{escape(words(verdict.outcome))}</b>, {escape(verdict.text)} ({facts})</p>"
    ]
    picture = _picture(run)
    if picture is not None:
        data = base64.b64encode(picture).decode()
        parts.append(
            f"<img alt='Memory over steps' style='max-width:100%' width='584' src='data:image/png;base64,{data}'>"
        )
    peak = run.peak
    if peak:
        parts.append(f"<p>Peak {size(peak.bytes)}{_at(peak.step)}</p>")
        owners = [("line", peak.by_line), ("operation", peak.by_operation), ("value", peak.largest)]
        groups = [("category", peak.by_category), *[owner for owner in owners if owner[1]][:1]]
        parts += [_peak_table(title, rows) for title, rows in groups if rows]
    if run.advice:
        items = "".join(f"<li>{escape(one.text)}{_saving(one)}</li>" for one in run.advice[:SHOWN_ADVICE])
        parts.append(f"<p>To try:</p><ol>{items}</ol>")
    return "".join(parts)


def comparison_html(comparison: Comparison) -> str:
    """Conclusions, and the figures that differ."""
    items = "".join(f"<li>{escape(one.text)}</li>" for one in comparison.conclusions)
    figures = comparison.figures().columns()
    shown = {"figure": figures["title"]}
    for name in ("source", "target", "difference"):
        if name in figures:  # not of more than two runs
            shown[name] = [
                size(value) if unit == "bytes" and value is not None else value
                for value, unit in zip(figures[name], figures["unit"])
            ]
    return f"<ul>{items}</ul>{table_html(shown)}"


def sweep_html(sweep: Sweep) -> str:
    """A row for each run: what varies, how it ended, what it needs."""
    settings = [(one.id, one.name) for one in sweep.document.settings]
    rows = sweep.document.runs
    columns: dict[str, list[Any]] = {"run": [row.name for row in rows]}
    for key, name in settings:
        columns[name] = [(row.settings or {}).get(key) for row in rows]
    columns["verdict"] = [words(row.verdict.outcome) if row.verdict else None for row in rows]
    columns["needed"] = [size((row.figures or {}).get("needed_bytes")) for row in rows]
    best = f"<p>Best: <b>{escape(sweep.best.name)}</b></p>" if sweep.best else ""
    return table_html(columns) + best


def _picture(run: Run) -> bytes | None:
    """The curve, if the program draws pictures: at two pixels a point, or one where that is too large to keep."""
    try:
        pictures: Iterable[bytes] = (run.png("liveness", scale=scale, size="560x200") for scale in (2, 1))
        return next((one for one in pictures if len(one) <= MOST_PICTURE_BYTES), None)
    except TilescopeError:
        return None


def _at(step: int | None) -> str:
    """Where a peak is; without a history nobody knows."""
    if step is None:
        return ""
    return f" at step {step:,}" if step >= 0 else " before the first step"


def _saving(advice: Any) -> str:
    expected = advice.saving and advice.saving.expected_bytes
    return f". Saves about {size(expected)}." if expected is not None else ""


def _peak_table(title: str, rows: Sequence[Any]) -> str:
    shown = rows[:SHOWN_LINES]
    names, sizes = (
        [words(row.name) if title == "category" else row.name for row in shown],
        [size(row.bytes) for row in shown],
    )
    return table_html({title: names, "bytes": sizes}, len(rows) - SHOWN_LINES)


def _row(values: Sequence[Any]) -> str:
    return f"<tr>{''.join(_cell(value) for value in values)}</tr>"


def _cell(value: Any) -> str:
    if value is None:
        return "<td></td>"
    if isinstance(value, Amount):
        return f"<td style='text-align:right'>{escape(value)}</td>"
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return f"<td style='text-align:right'>{value:,}</td>"
    return f"<td style='text-align:left'>{escape(str(value))}</td>"
