"""The two kinds of endpoints: what is asked of them, and when their table counts as whole."""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import itertools
import re
import shutil
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import requests

from dpol.data.download import CHUNK, Client, PassingError, RefusedError, get, save
from dpol.errors import FetchError

MOST_ROWS = 10_000_000
"""Rows of a Socrata table; their identifiers are held in memory."""
OLD_PAGE = 50_000
"""Rows that a server of SODA 2.0 sends at once; from 2.1 on there is no maximum."""
LONGEST_ROW = 1 << 20
"""Characters; a longer row might not fit into memory."""


@dataclass(frozen=True)
class Fetched:
    """A complete table, gzip-compressed, not yet at its place."""

    file: Path
    rows: int
    address: str
    """Where the last redirect led, without its query."""
    version: tuple[str, str]
    """The headers ETag and Last-Modified that were compared; empty where there were none."""


def fetch_rows(client: Client, url: str, query: Mapping[str, str], folder: Path) -> Fetched:
    """One try to read rows of a Socrata table, sorted, between two counts that must agree.

    Args:
        client: makes the requests.
        url: the resource, ending in `.csv`.
        query: `$select`, `$order` and perhaps `$where`; the order ends with `:id`.
        folder: where files may be made.

    Raises:
        PassingError: something that may pass, such as a table that changed meanwhile.
        FetchError: the server does not deliver, or no row matches.
    """
    table, ids = folder / "table.csv.gz", set[str]()
    total, address, version = _count(client, url, query, folder)
    if not 0 < total <= MOST_ROWS:
        where = query.get("$where", "the query")
        raise FetchError(f"{total:,} rows match {where}; wanted are 1 to {MOST_ROWS:,}")
    with _packed(table) as packed, io.TextIOWrapper(packed, "utf-8", newline="") as text:
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(query["$select"].split(","))
        for *cells, identifier in _pages(client, url, query, total, version, folder):
            _expect(identifier not in ids and len(ids) < total)
            ids.add(identifier)
            writer.writerow(cells)
    _expect(_count(client, url, query, folder)[::2] == (total, version))
    return Fetched(table, total, address, version)


def _pages(
    client: Client,
    url: str,
    query: Mapping[str, str],
    total: int,
    version: tuple[str, str],
    folder: Path,
) -> Iterator[list[str]]:
    """The rows and their identifiers, with one request if the server allows it."""
    part, page, done = folder / "page.tmp", total + 1, 0
    query = {**query, "$select": query["$select"] + ",:id"}
    while done < total:
        # With room for one row more than counted, a new row shows.
        limit, offset = min(page, total - done + 1), done
        place = {"$limit": str(limit), "$offset": str(offset)}
        try:
            with get(client, url, {**query, **place}) as response:
                _expect(_version(response)[1] == version[1])
                save(client, response, part)
        except RefusedError:
            if limit <= OLD_PAGE:
                raise
            page = OLD_PAGE
            continue
        rows = read_rows(client, part)
        if (header := next(rows, [])) != query["$select"].split(","):
            raise PassingError(f"another header than asked for: {', '.join(header)[:200]}")
        for row in rows:
            done += 1
            yield row
        client.log(f"{done:,} of {total:,} rows")
        if done == offset:
            raise PassingError(f"{done:,} rows instead of {total:,}")
        if done < total and not any(version):
            raise FetchError("sends the table in parts, and no version to compare them by")


def _count(
    client: Client, url: str, query: Mapping[str, str], folder: Path
) -> tuple[int, str, tuple[str, str]]:
    """The number of matching rows, the final address, and the version of the table."""
    part, where = folder / "count.tmp", {key: query[key] for key in query if key == "$where"}
    with get(client, url, {"$select": "count(*)", **where}) as response:
        save(client, response, part)
    cells = list(itertools.chain(*itertools.islice(read_rows(client, part), 1, 3)))
    if len(cells) != 1 or not re.fullmatch("[0-9]{1,15}", cells[0]):
        raise PassingError(f"no row count: {','.join(cells)[:40]!r}")
    return int(cells[0]), _address(response), _version(response)


def _expect(same: bool) -> None:
    """Raise PassingError unless nothing has changed."""
    if not same:
        raise PassingError("the table changed while it was read")


def fetch_file(client: Client, url: str, columns: tuple[str, ...], folder: Path) -> Fetched:
    """One try to download the CSV file at `url`, plain or gzip, and to find it whole.

    What an earlier try left in `folder` is continued if the server still has the same file,
    which only a strong ETag proves (RFC 9110, sections 13.1.5 and 15.3.7).

    Raises:
        PassingError: something that may pass, such as a body cut short.
        FetchError: the file does not come, or is not a CSV file with `columns` in its header.
    """
    part, address, version = _download(client, url, folder)
    if any(version):
        with get(client, url) as response:
            now = _version(response)
    try:
        _expect(not any(version) or now == version)
        rows = read_rows(client, part)
        header = next(rows, [])
        if missing := [column for column in columns if column not in header]:
            raise FetchError(
                f"has no column {', '.join(missing)}; it has {', '.join(header)[:200]}"
            )
        if not (count := sum(1 for _ in rows)):
            raise FetchError("has a header but no rows")
    except (PassingError, FetchError):
        part.unlink()  # nothing can be built on wrong bytes
        raise
    if is_gzip(part):  # unchanged, so that published checksums hold
        return Fetched(part, count, address, version)
    table = folder / "table.csv.gz"
    with part.open("rb") as stream, _packed(table) as packed:
        shutil.copyfileobj(stream, packed, CHUNK)
    return Fetched(table, count, address, version)


def _download(client: Client, url: str, folder: Path) -> tuple[Path, str, tuple[str, str]]:
    """The file as it travels, its final address and its version.

    With a strong ETag it gets a name that only this version has, by which a later try finds it.
    """
    with get(client, url) as response:
        address, version = _address(response), _version(response)
        name = hashlib.sha256(f"{url} {version[0]}".encode()).hexdigest()
        part = folder / (f"{name}.part" if version[0].startswith('"') else "file.tmp")
        for other in {*folder.glob("*.part"), folder / "file.tmp"} - {part}:
            other.unlink(missing_ok=True)
        if part.suffix == ".tmp" or not part.exists():
            if not save(client, response, part) and not is_gzip(part):
                part.unlink()
                raise FetchError("states no length, so that a file cut short would look whole")
            return part, address, version
        length, have = response.headers.get("Content-Length", ""), part.stat().st_size
    if length != str(have):
        _append_rest(client, url, version[0], length, part)
    return part, address, version


def _append_rest(client: Client, url: str, etag: str, length: str, part: Path) -> None:
    """Go on with a file that was cut. Raises PassingError, and deletes it, if that cannot be."""
    have = part.stat().st_size
    with get(client, url, headers={"Range": f"bytes={have}-", "If-Range": etag}) as response:
        place = response.headers.get("Content-Range", "")
        numbers = re.fullmatch("bytes ([0-9]{1,15})-([0-9]{1,15})/([0-9]{1,15})", place)
        first, last, total = map(int, numbers.groups()) if numbers else (0, 0, 0)
        fits = (first, last) == (have, total - 1) and length in ("", str(total))
        if fits := fits and response.status_code == 206 and _version(response)[0] == etag:
            save(client, response, part, "ab")
    if not fits or part.stat().st_size != total:
        part.unlink()
        raise PassingError("does not go on with the file where it stopped")


def _address(response: requests.Response) -> str:
    return str(response.url).partition("?")[0]


def _version(response: requests.Response) -> tuple[str, str]:
    return response.headers.get("ETag", ""), response.headers.get("Last-Modified", "")


@contextmanager
def _packed(file: Path) -> Iterator[IO[bytes]]:
    """A gzip file to write; equal content gives equal bytes, so neither name nor time goes in."""
    with (
        file.open("wb") as stream,
        gzip.GzipFile(filename="", mode="wb", fileobj=stream, mtime=0) as packed,
    ):
        yield packed  # type: ignore[misc]


def is_gzip(path: Path) -> bool:
    """Whether the file starts like a gzip file."""
    with path.open("rb") as stream:
        return stream.read(2) == b"\x1f\x8b"


def read_rows(client: Client, part: Path) -> Iterator[list[str]]:
    """The header and the rows of a downloaded CSV file, plain or gzip; blank lines are skipped.

    No more than one row is in memory.

    Raises:
        PassingError: the file is cut short or damaged, or is a web page.
        FetchError: not UTF-8, a NUL, not CSV, rows of different widths, or a limit is passed.
    """
    number = width = length = 0
    packed = is_gzip(part)

    def lines() -> Iterator[str]:
        nonlocal length
        with (
            gzip.open(part) if packed else part.open("rb") as binary,
            io.TextIOWrapper(binary, "utf-8-sig", newline="") as text,
        ):
            while line := text.readline(LONGEST_ROW):
                client.patience()
                client.check_size(binary.tell(), "unpacks to")
                if "\0" in line:
                    raise FetchError("has a NUL byte, so it is not CSV text")
                if (length := length + len(line)) >= LONGEST_ROW:
                    raise FetchError(f"row {number} has {LONGEST_ROW:,} characters or more")
                if not packed and not line.endswith(("\n", "\r")):
                    raise PassingError("ends in the middle of a line")
                yield line

    try:
        for row in csv.reader(lines(), strict=True):
            length = 0
            if not row:
                continue
            width = width or len(row)
            if number == 0 and row[0].lstrip().startswith("<"):
                raise PassingError("a web page instead of a CSV file")
            if len(row) != width:
                raise FetchError(f"row {number} has {len(row)} fields instead of {width}")
            yield row
            number += 1
    except csv.Error as error:
        raise FetchError(f"is not CSV in row {number}: {error}") from error
    except UnicodeDecodeError as error:
        raise FetchError(f"is not UTF-8 text in row {number} or soon after") from error
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise PassingError(f"the gzip file is cut short or damaged: {error}") from error
