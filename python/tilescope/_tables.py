"""Tables of the program's answers for other libraries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Callable

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

SHOWN_ROWS = 20


class Table:
    """Rows that the program answered with. They are read when they are first asked for.

    >>> import tilescope
    >>> table = tilescope.open("sample_profiles/training/segments-2").liveness()
    >>> len(table)
    1947
    >>> table.rows()[1]["bytes"]
    4194304
    """

    def __init__(self, title: str, read: Callable[[], list[Any]]) -> None:
        self._title = title
        self._read = read
        self._rows: list[dict[str, Any]] | None = None

    def rows(self) -> list[dict[str, Any]]:
        """A dictionary for each row, as the JSON of the command has it.

        >>> import tilescope
        >>> by = tilescope.open("sample_profiles/training/segments-2").liveness(step="peak", by="category")
        >>> by.rows()[0]
        {'name': 'activation', 'bytes': 226623488, 'count': 29}
        """
        if self._rows is None:
            self._rows = self._read()
        return self._rows

    def columns(self) -> dict[str, list[Any]]:
        """The rows as columns. What lies within another value has its path as name: `verdict.outcome`.

        >>> import tilescope
        >>> list(tilescope.sweep("sample_profiles/training").runs().columns())[:2]
        ['path', 'name']
        """
        flat = [dict(_flat(row)) for row in self.rows()]
        names = dict.fromkeys(name for row in flat for name in row)
        return {name: _of_one_type([row.get(name) for row in flat]) for name in names}

    def to_arrow(self) -> pyarrow.Table:
        """A table of pyarrow.

        >>> import tilescope
        >>> tilescope.open("sample_profiles/tiny").tiles().to_arrow().num_rows
        16
        """
        return _library("pyarrow").table(self.columns())

    def to_pandas(self) -> pandas.DataFrame:
        """A data frame of pandas.

        >>> import tilescope
        >>> int(tilescope.open("sample_profiles/tiny").tiles().to_pandas()["bytes"].max())
        541964
        """
        return _library("pandas").DataFrame(self.columns())

    def to_polars(self) -> polars.DataFrame:
        """A data frame of polars.

        >>> import tilescope
        >>> tilescope.open("sample_profiles/tiny").tiles().to_polars().height
        16
        """
        return _library("polars").DataFrame(self.columns(), infer_schema_length=None)

    def __len__(self) -> int:
        return len(self.rows())

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.rows())

    def __repr__(self) -> str:
        return f"<{self._title}: {len(self)} rows; .to_pandas(), .to_polars(), .to_arrow(), .rows()>"

    def _repr_html_(self) -> str:
        from tilescope._display import table_html

        columns = self.columns()
        shown = {name: values[:SHOWN_ROWS] for name, values in columns.items()}
        return table_html(shown, len(self) - SHOWN_ROWS)


def _library(name: str) -> Any:
    import importlib

    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        raise ModuleNotFoundError(
            f"{name} is not installed: pip install 'tilescope[{name}]', or use .rows()", name=name
        ) from None


def _flat(row: Mapping[str, Any], before: str = "") -> Iterator[Any]:
    for name, value in row.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{before}{name}.")
        else:
            yield before + name, value


def _of_one_type(values: list[Any]) -> list[Any]:
    """A setting may be a number in one run and a word in another, which columns cannot hold: then all are words."""
    kinds = {float if isinstance(value, int) and not isinstance(value, bool) else type(value) for value in values}
    kinds.discard(type(None))
    if len(kinds) <= 1:
        return values
    return [value if value is None or isinstance(value, str) else str(value) for value in values]
