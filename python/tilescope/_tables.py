"""Tables of the program's answers for other libraries."""

from __future__ import annotations

import io
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

    def __init__(
        self, title: str, read: Callable[[], list[Any]], stream: Callable[[], bytes] | None = None
    ) -> None:
        """`stream` gives the same rows as an Arrow IPC stream, without a value of Python for each."""
        self._title = title
        self._read = read
        self._stream = stream
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
        # What has parts in one row is None in another, which is no column of its own.
        whole = {name.rsplit(".", parts)[0] for name in names for parts in range(1, name.count(".") + 1)}
        names = {name: None for name in names if name not in whole or any(row.get(name) is not None for row in flat)}
        return {name: _of_one_type([row.get(name) for row in flat]) for name in names}

    def to_arrow(self) -> pyarrow.Table:
        """A table of pyarrow.

        >>> import tilescope
        >>> tilescope.open("sample_profiles/tiny").tiles().to_arrow().num_rows
        16
        """
        pyarrow = _library("pyarrow")
        if self._stream is None:
            return pyarrow.table(self.columns())
        table = pyarrow.ipc.open_stream(self._stream()).read_all()
        while any(pyarrow.types.is_struct(field.type) for field in table.schema):
            table = table.flatten()
        return table

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
        polars = _library("polars")
        if self._stream is None:
            return polars.DataFrame(self.columns(), infer_schema_length=None)
        frame = polars.read_ipc_stream(io.BytesIO(self._stream()))
        while any(isinstance(kind, polars.Struct) for kind in frame.dtypes):
            frame = polars.DataFrame([column for one in frame for column in _fields(one, polars)])
        return frame

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


def _fields(column: polars.Series, polars: Any) -> Iterator[polars.Series]:
    """A column, or the fields of one of structs, with its name before theirs."""
    if not isinstance(column.dtype, polars.Struct):
        yield column
        return
    for field in column.struct.fields:
        yield column.struct.field(field).alias(f"{column.name}.{field}")


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
