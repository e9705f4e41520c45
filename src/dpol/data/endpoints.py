"""Rows of a Socrata server and whole files: what is asked, and when a table counts as whole."""

from __future__ import annotations

import csv
import gzip
import io
import itertools
import os
import shutil
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import requests

from dpol.core.errors import FetchError
from dpol.core.files import packed_file, sha256, write_text
from dpol.data.download import CHUNK, Client, PassingError, get, save
from dpol.data.query import Query

PAGE = 50_000
"""Rows asked for at once: what a server of SODA 2.0 sends at most."""
_PART, _NOTE = "file.tmp", "file.etag"

Version = tuple[str, str]
"""The headers ETag and Last-Modified, by which states of a table are told apart; may be empty."""


@dataclass(frozen=True)
class Fetched:
    """A complete table, gzip-compressed, not yet at its place."""

    file: Path
    rows: int
    address: str
    """Address to which the last redirect led, without its query."""
    version: Version


def fetch_rows(client: Client, query: Query) -> Fetched:
    """One try to read rows of a Socrata table, sorted, between two counts that must agree.

    Raises:
        PassingError: something that may pass, such as a table that changed meanwhile.
        FetchError: the server does not deliver, or no row matches.
    """
    table, ids = client.folder / "table.csv.gz", set[str]()
    total, version, address = _count(client, query)
    if not total:
        raise FetchError(f"no row matches {query.where or 'the query'}")
    if not version[1]:  # an ETag is of one answer; it does not tie rows to counts
        raise FetchError("sends no Last-Modified, so that a change of the table would not show")
    with packed_file(table) as packed, io.TextIOWrapper(packed, "utf-8", newline="") as text:
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(query.columns)
        for *cells, identifier in _pages(client, query, total, version):
            _expect(identifier not in ids and len(ids) < total)
            ids.add(identifier)
            writer.writerow(cells)
    _expect(_count(client, query)[:2] == (total, version))
    return Fetched(table, total, address, version)


def _pages(client: Client, query: Query, total: int, version: Version) -> Iterator[list[str]]:
    """The rows and their identifiers, page by page; a server may send fewer than asked for."""
    done, columns = 0, [*query.columns, ":id"]
    while done < total:
        # With room for one row more than counted, a new row shows.
        limit, offset = min(PAGE, total - done + 1), done
        place = {"$limit": str(limit), "$offset": str(offset)}
        response, rows = _ask(client, {**query.soql, "$select": ",".join(columns), **place})
        _expect(_version(response)[1] == version[1])
        if (header := next(rows, [])) != columns:
            raise PassingError(f"another header than asked for: {', '.join(header)[:200]}")
        for row in rows:
            done += 1
            yield row
        client.log(f"{done:,} of {total:,} rows")
        if done == offset:
            raise PassingError(f"{done:,} rows instead of {total:,}")


def _count(client: Client, query: Query) -> tuple[int, Version, str]:
    """The number of matching rows, the version of the table, and the final address."""
    asked = {"$select": "count(*)", **({"$where": query.where} if query.where else {})}
    response, answer = _ask(client, asked)
    rows = list(itertools.islice(answer, 3))
    if len(rows) != 2 or not rows[1][0].isdecimal():
        raise PassingError(f"no row count: {str(rows)[:80]}")
    return int(rows[1][0]), _version(response), _address(response)


def _ask(
    client: Client, parameters: Mapping[str, str]
) -> tuple[requests.Response, Iterator[list[str]]]:
    """A whole answer of a Socrata server, and its rows."""
    part = client.folder / "answer.tmp"
    with get(client, parameters) as response:
        save(client, response, part)
    return response, read_rows(client, part)


def fetch_file(client: Client, query: Query, checksum: str | None = None) -> Fetched:
    """One try to download a CSV file, plain or gzip, and to find it whole.

    What an earlier try left in the folder is continued if the server still has the same file,
    which only a strong ETag proves (RFC 9110, sections 13.1.5 and 15.3.7).

    Raises:
        PassingError: something that may pass, such as a body cut short.
        FetchError: the file does not come, or is not a CSV file with the columns in its header.
    """
    part, note = client.folder / _PART, client.folder / _NOTE
    version, address = _download(client, part, note)
    size = str(part.stat().st_size)
    with get(client) as response:
        now, length = _version(response), response.headers.get("Content-Length", size)
    note.unlink(missing_ok=True)  # nothing can be built on wrong bytes
    # With the rest of a file, a server need not send Last-Modified.
    _expect(now[0] == version[0] and version[1] in ("", now[1]) and length == size)
    if checksum and (found := sha256(part)) != checksum:
        raise FetchError(f"has SHA-256 {found} instead of {checksum}: not the file it was")
    rows = read_rows(client, part)
    header = next(rows, [])
    if missing := [column for column in query.columns if column not in header]:
        raise FetchError(f"has no column {', '.join(missing)}; it has {', '.join(header)}")
    if not (count := sum(1 for _ in rows)):
        raise FetchError("has a header but no rows")
    if is_gzip(part):  # unchanged, so that published checksums hold
        return Fetched(part, count, address, now)
    table = client.folder / "table.csv.gz"
    with part.open("rb") as stream, packed_file(table) as packed:
        shutil.copyfileobj(stream, packed, CHUNK)
    return Fetched(table, count, address, now)


def resumable(folder: Path) -> bool:
    """True if a file that has arrived in part can be continued."""
    return (folder / _NOTE).exists() and (folder / _PART).exists()


def _download(client: Client, part: Path, note: Path) -> tuple[Version, str]:
    """Get the file as it travels into `part`; return its version and its final address.

    `note` holds the address and the strong ETag of the bytes in `part`. The last byte is asked
    for again, so that a complete file is continued like any other.
    """
    noted, _, etag = note.read_text("utf-8").partition("\n") if note.exists() else ("", "", "")
    have = part.stat().st_size - 1 if noted == client.url and part.exists() else -1
    headers = {"Range": f"bytes={have}-", "If-Range": etag} if have >= 0 else {}
    with get(client, headers=headers) as response:
        version, place = _version(response), response.headers.get("Content-Range", "")
        fresh = response.status_code == 200
        goes_on = response.status_code == 206 and place.startswith(f"bytes {have}-")
        if fresh:
            for old in (note, part):
                old.unlink(missing_ok=True)
            if version[0].startswith('"'):
                write_text(note, f"{client.url}\n{version[0]}")
        elif goes_on and version[0] == etag:
            os.truncate(part, have)
        else:
            note.unlink()
            raise PassingError("does not go on with the file where it stopped")
        save(client, response, part)
    size = part.stat().st_size
    ends = any(name in response.headers for name in ("Content-Length", "Transfer-Encoding"))
    if not fresh and place != f"bytes {have}-{size - 1}/{size}":
        note.unlink()
        raise PassingError("does not send the rest of the file")
    if fresh and not ends and not is_gzip(part):
        note.unlink(missing_ok=True)
        raise FetchError("states no length, so that a file cut short would look whole")
    return version, _address(response)


def _expect(same: bool) -> None:
    """Raise PassingError unless nothing has changed."""
    if not same:
        raise PassingError("the table changed while it was read")


def _address(response: requests.Response) -> str:
    return str(response.url).partition("?")[0]


def _version(response: requests.Response) -> Version:
    return response.headers.get("ETag", ""), response.headers.get("Last-Modified", "")


def is_gzip(path: Path) -> bool:
    """True if the file starts like a gzip file."""
    with path.open("rb") as stream:
        return stream.read(2) == b"\x1f\x8b"


def read_rows(client: Client, part: Path) -> Iterator[list[str]]:
    """The header and the rows of a downloaded CSV file, plain or gzip; blank lines are skipped.

    Raises:
        PassingError: the file is cut short or damaged, or is a web page.
        FetchError: not UTF-8, a NUL, not CSV, rows of different widths, or too large.
    """
    packed = is_gzip(part)

    def lines() -> Iterator[str]:
        with (
            gzip.open(part) if packed else part.open("rb") as binary,
            io.TextIOWrapper(binary, "utf-8-sig", newline="") as text,
        ):
            for line in text:
                client.check_size(binary.tell(), "unpacks to")
                if "\0" in line:
                    raise FetchError("has a NUL byte, so it is not CSV text")
                if not packed and not line.endswith(("\n", "\r")):
                    raise PassingError("ends in the middle of a line")
                yield line

    number = width = 0
    try:
        for row in filter(None, csv.reader(lines(), strict=True)):
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
