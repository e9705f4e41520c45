"""A raw table is read as it was published, or refused with the reason and the remedy."""

from __future__ import annotations

import datetime
import decimal
import gzip
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dpol.core.errors import DataError
from dpol.data.tables.raw_table import RawTable, read_raw_table, write_raw_table

COLUMNS = ("a", "b")
"""Control characters, which are read as `?`; tabs and line breaks are kept."""
MANY_ROWS = b"a,b\n" + b"".join(b"%d,%d\n" % (i, i * i) for i in range(3_000))
PACKED = gzip.compress(MANY_ROWS, mtime=0)
PARQUET = pd.DataFrame({"a": [1], "b": [2]}).to_parquet(index=False)


def text(cells: pd.DataFrame) -> dict[str, list[str]]:
    return {str(name): column.tolist() for name, column in cells.items()}


@dataclass(frozen=True)
class Files:
    """A folder in which tables are written and read."""

    folder: Path

    def csv(self, content: bytes, name: str = "t.csv") -> RawTable:
        (self.folder / name).write_bytes(content)
        return read_raw_table(self.folder / name, COLUMNS)

    def parquet(self, columns: dict[str, object]) -> RawTable:
        pq.write_table(pa.table(columns), self.folder / "t.parquet")
        return read_raw_table(self.folder / "t.parquet", COLUMNS)

    def refused(self, content: bytes, name: str = "t.csv") -> str:
        """Return the message for bytes that are not a table, without the path that starts it."""
        with pytest.raises(DataError) as caught:
            self.csv(content, name)
        assert str(caught.value).startswith(str(self.folder / name))
        return str(caught.value).removeprefix(str(self.folder / name)).removeprefix(": ")


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return Files(tmp_path)


def test_cells_are_text_exactly_as_published(files: Files) -> None:
    table = files.csv(b"b,x,a\n007, 1 ,NA\n-999999.0,,\n1e3,nan,null\n")
    assert text(table.cells) == {"a": ["NA", "", "null"], "b": ["007", "-999999.0", "1e3"]}


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("t.csv", b"a,b\r\n1,2\r\n"),
        ("t.csv", b"\xef\xbb\xbfa,b\n1,2\n"),
        ("t.csv", b'"a","b"\n"1","2"\n'),
        ("t.csv", b"a,b\n1,2"),
        ("t.csv.gz", gzip.compress(b"a,b\n1,2\n")),
    ],
    ids=["CRLF", "BOM", "quotes", "no newline at the end", "packed"],
)
def test_other_ways_to_write_the_same_csv_are_read(files: Files, name: str, content: bytes) -> None:
    assert text(files.csv(content, name).cells) == {"a": ["1"], "b": ["2"]}


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        *((f"t.csv{suffix}", b"", "holds no table; get") for suffix in ("", ".gz")),
        ("t.csv", b"\n\n", "holds no table; get"),
        ("t.csv.gz", gzip.compress(b"a,b\n", mtime=0), "has a header but no rows; get"),
        *(("t.csv", content, "is not UTF-8 text. Set dataset.format.encoding, such as to utf-8,")
          for content in ("a,b\nMüller,1\n".encode("latin-1"), "a,b\n1,2\n".encode("utf-16"))),
        ("t.csv", b"PK\x03\x04\xff", "is a workbook or an archive, not CSV; save it as"),
    ],
    ids=repr,
)  # fmt: skip
def test_a_file_without_a_table_is_refused_with_the_remedy(
    files: Files, name: str, content: bytes, message: str
) -> None:
    assert files.refused(content, name).startswith(message)
    with pytest.raises(DataError, match="no such file; put the table there or change dataset"):
        read_raw_table(files.folder)


def flipped(content: bytes, place: int) -> bytes:
    return content[:place] + bytes([content[place] ^ 0xFF]) + content[place:][1:]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        *(("t.csv.gz", PACKED[:kept]) for kept in (1, 5, 12, len(PACKED) // 2, -8, -4, -1)),
        *(("t.csv.gz", flipped(PACKED, place)) for place in (10, len(PACKED) // 2, -5)),
        *(("t.parquet", PARQUET[: int(kept * len(PARQUET))]) for kept in (0, 0.1, 0.5, 0.99)),
        ("t.parquet", flipped(PARQUET, 4)),  # the header of a page
        *((name, MANY_ROWS) for name in ("t.csv.gz", "t.parquet", "t.xlsx")),
        *(("t.xlsx", content) for content in (b"", b"PK\x03\x04" + bytes(99))),
    ],
    ids=lambda value: value if isinstance(value, str) else f"{len(value)} bytes",
)
def test_a_table_that_is_damaged_or_not_what_its_name_says_is_refused(
    files: Files, name: str, content: bytes
) -> None:
    told = files.refused(content, name)
    assert told.startswith(f"cannot be read as a {Path(name).suffix} file: ")
    assert "get an intact copy of it" in told


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'a,b\n1,2\n"3,4\n', "3: is not CSV: unexpected end of data; get an intact copy"),
        (b"a,b\n1,2\n3", "3: has 1 cell, but the header has 2. Quote cells that hold ',' or a"),
        (b"a,b\n1,2\n\n1,16,8\n", "4: has 3 cells, but the header has 2. Quote cells that"),
        (b"a,b,c\n1,2,3\n4,x\ry,6\n", "3: has 2 cells, but the header has 3. Quote cells that"),
    ],
    ids=["open quote", "half a row", "decimal comma", "return"],
)
def test_a_row_of_another_length_than_the_header_is_named_with_the_likely_cause(
    files: Files, content: bytes, message: str
) -> None:
    assert files.refused(content).startswith(f", row {message}")


def test_rows_have_the_lines_of_the_file_on_which_they_end(files: Files) -> None:
    table = files.csv(b'a,b\n1,2\n\n"3\n3",4\n\n5,6\n')
    assert table.cells.index.tolist() == [2, 5, 7]


@pytest.mark.parametrize("name", ["t.csv", "t.parquet"])
def test_missing_columns_are_named_beside_those_that_exist(tmp_path: Path, name: str) -> None:
    frame = pd.DataFrame({"a": ["1"], "beds": ["2"], "week": ["3"]})
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.to_parquet(tmp_path / "t.parquet", index=False)
    with pytest.raises(DataError) as caught:
        read_raw_table(tmp_path / name, ["a", "capacity", "period"])
    assert "no column named capacity, period; it has a, beds, week. Name" in str(caught.value)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([-999999.0], "-999999"),
        ([float("nan")], ""),
        ([-999999], "-999999"),
        ([datetime.date(2021, 1, 31)], "2021-01-31"),
        ([decimal.Decimal("1.50")], "1.50"),
        (pa.array(["x"]).dictionary_encode(), "x"),
        (pa.array(["ü"], pa.large_string()), "ü"),
        ([None], ""),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_all_types_of_parquet_are_read_as_text(files: Files, values: object, expected: str) -> None:
    assert files.parquet({"a": values, "b": [1]}).cells["a"].tolist() == [expected]


def test_columns_of_lists_are_no_part_of_a_parquet_table(files: Files) -> None:
    pq.write_table(pa.table({"a": [[1, 2]], "b": [1]}), files.folder / "t.parquet")
    assert [*read_raw_table(files.folder / "t.parquet").cells] == ["b"]


def test_a_written_table_is_read_back_and_has_equal_bytes_for_equal_cells(tmp_path: Path) -> None:
    cells, made = pd.DataFrame({"a": ['x,"y', "é\nz"], "b": ["01", ""]}), set[bytes]()
    for _ in range(2):
        write_raw_table(cells, tmp_path / "t.csv.gz")
        made.add((tmp_path / "t.csv.gz").read_bytes())
    assert len(made) == 1
    assert text(read_raw_table(tmp_path / "t.csv.gz", COLUMNS).cells) == text(cells)


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_table_beyond_the_largest_size_is_refused_with_the_limit(
    files: Files, pack: Callable[[bytes], bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Compressed, it is far below the limit."""
    monkeypatch.setattr("dpol.data.tables.raw_table.MOST_MB", 1)
    said = files.refused(
        pack(b"a,b\n" + b"1,2\n" * 300_000), f"t.csv{'' if pack is bytes else '.gz'}"
    )
    assert said.startswith("has more than 1 MB as CSV; leave out rows")


def test_a_csv_table_of_too_many_cells_is_refused_with_the_row_beyond(
    files: Files, monkeypatch: pytest.MonkeyPatch
) -> None:
    """51 kB of gzip can hold a million rows of two cells."""
    monkeypatch.setattr("dpol.data.tables.raw_table.MOST_CELLS", 6)
    table = b"a,b\n" + b"1,2\n" * 4
    assert "more than 6 cells up to row 5; leave out" in files.refused(table)
    monkeypatch.setattr("dpol.data.tables.raw_table.MOST_CELLS", 8)
    assert len(files.csv(table).cells) == 4
