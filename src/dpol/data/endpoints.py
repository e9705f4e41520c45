"""The two kinds of endpoints: what is asked of them, and when their table counts as whole."""

from __future__ import annotations

import csv
import gzip
import io
import itertools
import os
import re
import shutil
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import requests

from dpol.core.errors import FetchError
from dpol.core.files import packed_file, write_text
from dpol.data.download import CHUNK, Client, PassingError, RefusedError, get, save

MOST_ROWS = 10_000_000
"""Rows of a Socrata table; their identifiers are held in memory."""
OLD_PAGE = 50_000
"""Rows that a server of SODA 2.0 sends at once; from 2.1 on there is no maximum."""
LONGEST_ROW = 1 << 20
"""Characters; a longer row might not fit into memory."""
_PART, _NOTE = "file.tmp", "file.etag"

Version = tuple[str, str]
"""The headers ETag and Last-Modified, by which states of a table are told apart; may be empty."""


@dataclass(frozen=True)
class Fetched:
    """A complete table, gzip-compressed, not yet at its place."""

    file: Path
    rows: int
    address: str
    """Where the last redirect led, without its query."""
    version: Version


def fetch_rows(client: Client, url: str, query: Mapping[str, str], folder: Path) -> Fetched:
    """One try to read rows of a Socrata table, sorted, between two counts that must agree.

    The query has `$select`, perhaps `$where`, and `$order`, which ends with `:id`.

    Raises:
        PassingError: something that may pass, such as a table that changed meanwhile.
        FetchError: the server does not deliver, or no row matches.
    """
    table, ids = folder / "table.csv.gz", set[str]()
    total, version, address = _count(client, url, query, folder)
    if not 0 < total <= MOST_ROWS:
        where = query.get("$where", "the query")
        raise FetchError(f"{total:,} rows match {where}; wanted are 1 to {MOST_ROWS:,}")
    if not version[1]:  # an ETag is of one answer; it does not tie rows to counts
        raise FetchError("sends no Last-Modified, so that a change of the table would not show")
    with packed_file(table) as packed, io.TextIOWrapper(packed, "utf-8", newline="") as text:
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(query["$select"].split(","))
        for *cells, identifier in _pages(client, url, query, total, version, folder):
            _expect(identifier not in ids and len(ids) < total)
            ids.add(identifier)
            writer.writerow(cells)
    _expect(_count(client, url, query, folder)[:2] == (total, version))
    return Fetched(table, total, address, version)


def _pages(
    client: Client, url: str, query: Mapping[str, str], total: int, version: Version, folder: Path
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


def _count(
    client: Client, url: str, query: Mapping[str, str], folder: Path
) -> tuple[int, Version, str]:
    """The number of matching rows, the version of the table, and the final address."""
    part, where = folder / "count.tmp", {key: query[key] for key in query if key == "$where"}
    with get(client, url, {"$select": "count(*)", **where}) as response:
        save(client, response, part)
    match list(itertools.islice(read_rows(client, part), 3)):
        case [_, [number]] if re.fullmatch("[0-9]{1,15}", number):
            return int(number), _version(response), _address(response)
        case rows:
            raise PassingError(f"no row count: {str(rows)[:80]}")


def fetch_file(client: Client, url: str, columns: tuple[str, ...], folder: Path) -> Fetched:
    """One try to download the CSV file at `url`, plain or gzip, and to find it whole.

    What an earlier try left in `folder` is continued if the server still has the same file,
    which only a strong ETag proves (RFC 9110, sections 13.1.5 and 15.3.7).

    Raises:
        PassingError: something that may pass, such as a body cut short.
        FetchError: the file does not come, or is not a CSV file with `columns` in its header.
    """
    part, note = folder / _PART, folder / _NOTE
    version, address = _download(client, url, part, note)
    now, length = version, (size := str(part.stat().st_size))
    if any(version):
        with get(client, url) as response:
            now, length = _version(response), response.headers.get("Content-Length", size)
    try:
        # With the rest of a file, a server need not send Last-Modified.
        _expect(now[0] == version[0] and version[1] in ("", now[1]) and length == size)
        rows = read_rows(client, part)
        header = next(rows, [])
        if missing := [column for column in columns if column not in header]:
            raise FetchError(f"has no column {', '.join(missing)}; it has {', '.join(header)}")
        if not (count := sum(1 for _ in rows)):
            raise FetchError("has a header but no rows")
    except (PassingError, FetchError):
        note.unlink(missing_ok=True)  # nothing can be built on wrong bytes
        raise
    if is_gzip(part):  # unchanged, so that published checksums hold
        return Fetched(part, count, address, now)
    table = folder / "table.csv.gz"
    with part.open("rb") as stream, packed_file(table) as packed:
        shutil.copyfileobj(stream, packed, CHUNK)
    return Fetched(table, count, address, now)


def resumable(folder: Path) -> bool:
    """Whether a file that has arrived in part can be continued."""
    return (folder / _NOTE).exists() and (folder / _PART).exists()


def _download(client: Client, url: str, part: Path, note: Path) -> tuple[Version, str]:
    """Get the file as it travels into `part`; return its version and its final address.

    `note` says of which address and strong ETag the bytes in `part` are. The last of them is
    asked for again, so that a complete file is continued like any other.
    """
    noted, _, etag = note.read_text("utf-8").partition("\n") if note.exists() else ("", "", "")
    have = part.stat().st_size - 1 if noted == url and part.exists() else -1
    headers = {"Range": f"bytes={have}-", "If-Range": etag} if have >= 0 else None
    with get(client, url, headers=headers) as response:
        version, address = _version(response), _address(response)
        if response.status_code != 200:
            if not (version[0] == etag and _append(client, response, part, have)):
                note.unlink()
                raise PassingError("does not go on with the file where it stopped")
            return version, address
        for old in (part, note):
            old.unlink(missing_ok=True)
        if re.fullmatch('"[!-~]+"', version[0]):
            write_text(note, f"{url}\n{version[0]}")
        if not save(client, response, part) and not is_gzip(part):
            note.unlink(missing_ok=True)
            raise FetchError("states no length, so that a file cut short would look whole")
    return version, address


def _append(client: Client, response: requests.Response, part: Path, have: int) -> bool:
    """Go on with a file after `have` bytes; return whether it is complete then."""
    place = response.headers.get("Content-Range", "")
    if response.status_code != 206 or not place.startswith(f"bytes {have}-"):
        return False
    os.truncate(part, have)
    save(client, response, part, "ab")
    size = part.stat().st_size
    return place == f"bytes {have}-{size - 1}/{size}"


def _expect(same: bool) -> None:
    """Raise PassingError unless nothing has changed."""
    if not same:
        raise PassingError("the table changed while it was read")


def _address(response: requests.Response) -> str:
    return str(response.url).partition("?")[0]


def _version(response: requests.Response) -> Version:
    return response.headers.get("ETag", ""), response.headers.get("Last-Modified", "")


def is_gzip(path: Path) -> bool:
    """Whether the file starts like a gzip file."""
    with path.open("rb") as stream:
        return stream.read(2) == b"\x1f\x8b"


def read_rows(client: Client, part: Path) -> Iterator[list[str]]:
    """The header and the rows of a downloaded CSV file, plain or gzip; blank lines are skipped.

    No more than one row is in memory.

    Raises:
        PassingError: the file is cut short or damaged, or is a web page.
        FetchError: not UTF-8, a NUL, not CSV, rows of different widths, or too large.
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
