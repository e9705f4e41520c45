"""Reading a raw table as text, exactly as it was published."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from dpol.errors import DataError
from dpol.files import atomic_path


@dataclass(frozen=True)
class RawTable:
    """A table whose cells are text; row i of `cells` is line i + `first_line` of the file."""

    file: str
    cells: pd.DataFrame
    first_line: int

    def place(self, row: int) -> str:
        """How a message names a row."""
        return f"{self.file}, row {row + self.first_line}"


def read_table(path: Path | str, columns: Sequence[str]) -> RawTable:
    """Read some columns of a `.csv`, `.csv.gz` or `.parquet` table as text.

    Missing cells of a Parquet table become empty text.

    Raises:
        DataError: no such file, empty, cut short, not a table, or a column is missing.
    """
    path = Path(path)
    if not path.exists():
        raise DataError(f"{path}: no such file; put the table there or change dataset.source.file")
    if path.stat().st_size == 0:
        raise DataError(f"{path}: the file is empty; fetch or copy it again")
    wanted = list(dict.fromkeys(columns))
    try:
        cells = (
            _read_parquet(path, wanted) if path.suffix == ".parquet" else _read_csv(path, wanted)
        )
    except (EOFError, zlib.error, OSError, pa.ArrowException, pd.errors.ParserError) as error:
        raise DataError(
            f"{path}: cannot be read ({error}); the file is damaged or cut short:"
            " delete it, then fetch or copy it again"
        ) from None
    except pd.errors.EmptyDataError:
        raise DataError(f"{path}: holds no table; fetch or copy it again") from None
    except UnicodeDecodeError:
        raise DataError(f"{path}: is not UTF-8 text; save it as UTF-8 CSV") from None
    if cells.empty:
        raise DataError(f"{path}: has a header but no rows; fetch or copy it again")
    return RawTable(str(path), cells, 1 if path.suffix == ".parquet" else 2)


def _read_csv(path: Path, columns: list[str]) -> pd.DataFrame:
    _refuse_missing(path, columns, list(pd.read_csv(path, nrows=0, dtype=str).columns))
    cells: pd.DataFrame = pd.read_csv(
        path, usecols=columns, dtype=str, keep_default_na=False, na_filter=False, low_memory=False
    )
    return cells[columns]


def _read_parquet(path: Path, columns: list[str]) -> pd.DataFrame:
    _refuse_missing(path, columns, pq.read_schema(path).names)
    table = pq.read_table(path, columns=columns)
    texts = {name: table.column(name).cast(pa.string()).fill_null("") for name in columns}
    frame: pd.DataFrame = pa.table(texts).to_pandas().astype(str)
    return frame


def _refuse_missing(path: Path, wanted: list[str], present: list[str]) -> None:
    missing = [name for name in wanted if name not in present]
    if missing:
        raise DataError(
            f"{path}: no column named {', '.join(missing)}; it has {', '.join(present)}."
            " Name the right ones under dataset.columns in the config"
        )


def write_table(cells: pd.DataFrame, path: Path | str) -> None:
    """Write a table of text as `.csv.gz`; equal tables give equal bytes."""
    with atomic_path(path) as temporary:
        cells.to_csv(
            temporary, index=False, lineterminator="\n", compression={"method": "gzip", "mtime": 0}
        )
