"""Reading part of a table, page by page, from a Socrata server (SODA 2, resource addresses)."""

from __future__ import annotations

import csv
import datetime
import io
import json
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from dpol.data.download import Http, PassingError, get, says_its_length, with_retries
from dpol.errors import FetchError
from dpol.files import atomic_path, write_json

RESTARTS = 2
"""How often reading starts over because the table changed meanwhile."""


@dataclass(frozen=True)
class Selection:
    """What is asked of the server, in its query language SoQL."""

    columns: tuple[str, ...]
    where: str
    """Condition on the rows; empty for all rows."""
    order: str
    """Columns to sort by; with `:id` last, no two rows are equal and pages never overlap."""

    @property
    def parameters(self) -> dict[str, str]:
        """The selection as query parameters of an address."""
        where = {"$where": self.where} if self.where else {}
        return {"$select": ",".join(self.columns), **where, "$order": self.order}


class _TableChangedError(Exception):
    """The number of matching rows is no longer what it was when reading began."""


def where_clause(
    group: str | None,
    groups: tuple[str, ...],
    period: str,
    first: datetime.date | None,
    last: datetime.date | None,
) -> str:
    """The SoQL condition for these values of the group column and these periods (inclusive)."""
    parts = []
    if group and groups:
        parts.append(f"{group} in ({','.join(_quoted(value) for value in groups)})")
    if first and last:
        parts.append(f"{period} between {_midnight(first)} and {_midnight(last)}")
    elif first:
        parts.append(f"{period} >= {_midnight(first)}")
    elif last:
        parts.append(f"{period} <= {_midnight(last)}")
    return " and ".join(parts)


def fetch_pages(http: Http, url: str, selection: Selection, page_size: int, folder: Path) -> int:
    """Bring all pages of the selection into `folder` and return the number of rows.

    Pages that an earlier call left there are kept if the query is the same, and the table too.

    Raises:
        FetchError: the server does not deliver, no row matches, or the table keeps changing.
    """
    for _ in range(RESTARTS + 1):
        total, version = _count(http, url, selection)
        if not total:
            raise FetchError(f"no row matches {selection.where or 'the query'}")
        query = {"url": url, "page_size": page_size, **selection.parameters}
        _open_folder(folder, {**query, "count": total, "version": version})
        try:
            _fill_folder(http, url, selection, page_size, total, folder)
            _expect_count(http, url, selection, total)
            return total
        except _TableChangedError as change:
            http.log(f"{change}; starting over")
            _discard(folder)
    raise FetchError(f"the table changed while it was read, {RESTARTS + 1} times in a row")


def joined(folder: Path) -> Iterator[bytes]:
    """The pages of `folder` as one CSV file with one header."""
    for index, path in enumerate(sorted(folder.glob("page-*.csv"))):
        header, newline, rows = path.read_bytes().partition(b"\n")
        yield rows if index else header + newline + rows


def _fill_folder(
    http: Http, url: str, selection: Selection, page_size: int, total: int, folder: Path
) -> None:
    """Fetch the pages that are not in `folder` yet."""
    began, fresh = time.monotonic(), 0
    for index, offset in enumerate(range(0, total, page_size)):
        path = folder / f"page-{index:05d}.csv"
        expected = min(page_size, total - offset)
        if _is_kept(path, selection.columns, expected):
            http.log(f"{offset + expected:,} of {total:,} rows (kept from an earlier call)")
            continue
        text = _page(http, url, selection, page_size, offset, total)
        with atomic_path(path) as temporary:
            temporary.write_bytes(text.encode())
        fresh += expected
        rate = fresh / max(time.monotonic() - began, 1e-3)
        done, left = offset + expected, (total - offset - expected) / rate
        http.log(f"{done:,} of {total:,} rows, {rate:,.0f} rows/s, {left:.0f} s left")


def _page(
    http: Http, url: str, selection: Selection, page_size: int, offset: int, total: int
) -> str:
    """One page as CSV text, checked."""
    expected = min(page_size, total - offset)
    place = {"$limit": str(page_size), "$offset": str(offset)}

    def attempt() -> str:
        text, _ = _get_csv(http, url, {**selection.parameters, **place})
        rows = len(_rows(text, selection.columns))
        if rows != expected:
            _expect_count(http, url, selection, total)
            raise PassingError(f"{rows} rows instead of {expected}")
        return text

    return with_retries(http, attempt)


def _expect_count(http: Http, url: str, selection: Selection, total: int) -> None:
    """Raise `_TableChangedError` unless the server still counts `total` rows."""
    now, _ = _count(http, url, selection)
    if now != total:
        raise _TableChangedError(f"the table changed from {total:,} to {now:,} rows")


def _count(http: Http, url: str, selection: Selection) -> tuple[int, str]:
    """The number of matching rows, and when the server says the table was last modified."""
    where = {"$where": selection.where} if selection.where else {}

    def attempt() -> tuple[int, str]:
        text, version = _get_csv(http, url, {"$select": "count(*)", **where})
        rows = _rows(text, None)
        if len(rows) != 1 or not rows[0][0].isdecimal():
            raise PassingError(f"no row count: {text[:80]!r}")
        return int(rows[0][0]), version

    return with_retries(http, attempt)


def _get_csv(http: Http, url: str, parameters: Mapping[str, str]) -> tuple[str, str]:
    """One try: the text of a CSV answer, ending in a newline, and its Last-Modified header."""
    with get(http, url, parameters) as response:
        kind = response.headers.get("Content-Type", "no content type")
        if "csv" not in kind.lower():
            raise PassingError(f"{kind} instead of CSV")
        try:
            text = response.content.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise PassingError("the answer is not UTF-8 text") from error
        if not text.endswith("\n"):
            if not says_its_length(response):
                raise PassingError("the answer ends in the middle of a line")
            text += "\n"
        return text, response.headers.get("Last-Modified", "")


def _rows(text: str, columns: tuple[str, ...] | None) -> list[list[str]]:
    """The rows below the header of a CSV text; raises `PassingError` if it is not such a table."""
    try:
        header, *rows = csv.reader(io.StringIO(text, newline=""), strict=True)
    except (csv.Error, ValueError) as error:
        raise PassingError(f"not CSV ({error}): {text[:80]!r}") from error
    if columns is not None and header != list(columns):
        raise PassingError(f"another header than asked for: {text[:80]!r}")
    for number, row in enumerate(rows, start=1):
        if len(row) != len(header):
            raise PassingError(f"row {number} has {len(row)} fields instead of {len(header)}")
    return rows


def _is_kept(path: Path, columns: tuple[str, ...], expected: int) -> bool:
    """Whether `path` holds a whole page."""
    try:
        return len(_rows(path.read_bytes().decode(), columns)) == expected
    except (FileNotFoundError, UnicodeDecodeError, PassingError):
        return False


def _open_folder(folder: Path, manifest: Mapping[str, object]) -> None:
    """Make sure that `folder` holds pages of this query and this state of the table only."""
    note = folder / "manifest.json"
    try:
        kept = json.loads(note.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        kept = None
    if kept != manifest:
        _discard(folder)
        write_json(note, manifest)


def _discard(folder: Path) -> None:
    """Delete all pages; the manifest goes last, so that it never describes foreign pages."""
    for path in folder.glob("page-*.csv"):
        path.unlink()
    (folder / "manifest.json").unlink(missing_ok=True)


def _quoted(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def _midnight(day: datetime.date) -> str:
    return f"'{day.isoformat()}T00:00:00'"
