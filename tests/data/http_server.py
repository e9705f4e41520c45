"""A small web server with a table, and faults on demand.

`/resource/table.csv` answers like a Socrata server ($select, $where, $order, $limit, $offset,
count(*)); `/table.csv` and `/table.csv.gz` are plain files with ETag and Range.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import re
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl, urlsplit


@dataclass(frozen=True)
class Answer:
    """What the server is about to send."""

    status: int
    headers: dict[str, str]
    body: bytes
    sent: int | None = None
    """Bytes of the body after which the connection is cut; None for all."""
    framing: str = "length"
    """How its end is told: by its `length`, in `chunked` parts, or by the `close` of the line."""
    silent: bool = False
    """Nothing is sent until the server stops."""


Fault = Callable[["TableServer", Answer], Answer]


@dataclass(frozen=True)
class Request:
    """One line of the request log."""

    kind: str
    """`count`, `page` or `file`."""
    parameters: dict[str, str]
    headers: dict[str, str]


@dataclass
class TableServer:
    """The table, the faults still to come for each kind of request, and the request log."""

    columns: tuple[str, ...]
    rows: list[tuple[str, ...]]
    faults: dict[str, list[Fault | None]] = field(default_factory=dict)
    log: list[Request] = field(default_factory=list)
    etag: bool = True
    stopped: threading.Event = field(default_factory=threading.Event)
    url: str = ""

    def offsets(self) -> list[int]:
        """The offsets of the pages asked for, in order."""
        return [int(one.parameters["$offset"]) for one in self.log if one.kind == "page"]

    def kinds(self) -> list[str]:
        """The kinds of the requests, in order."""
        return [one.kind for one in self.log]

    def csv(self) -> bytes:
        """The whole table in the order in which the server stores it."""
        return _csv(self.columns, self.rows)


@contextmanager
def serve(server: TableServer) -> Iterator[TableServer]:
    """Run the server on a free port of this machine."""

    class Handler(_Handler):
        table = server

    listener = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=listener.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    server.url = f"http://127.0.0.1:{listener.server_address[1]}"
    try:
        yield server
    finally:
        server.stopped.set()
        listener.shutdown()
        listener.server_close()
        thread.join()


@contextmanager
def dead_address() -> Iterator[str]:
    """An address of this machine at which every connection is refused."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))  # bound but not listening: nobody else can take the port
        yield f"http://127.0.0.1:{bound.getsockname()[1]}"


def status(code: int, text: str = "", **headers: str) -> Fault:
    """Answer with this status; `Retry_After="3"` gives the header Retry-After."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    sent = {"Content-Type": "application/json", **named}
    return lambda _, answer: Answer(code, sent, text.encode())


def html(kind: str = "text/html") -> Fault:
    """A web page with status 200."""
    page = b"<!DOCTYPE html>\n<html><body>Down for maintenance</body></html>\n"
    return lambda _, answer: Answer(200, {"Content-Type": kind}, page)


def cut(sent: int, framing: str = "length") -> Fault:
    """Close the connection after `sent` bytes of the body; negative counts from its end."""
    return lambda _, answer: replace(answer, sent=sent % len(answer.body), framing=framing)


def framed(framing: str) -> Fault:
    """Tell the end of the body in this way."""
    return lambda _, answer: replace(answer, framing=framing)


def packed(sent: int | None = None) -> Fault:
    """Compress the body on its way, and cut it after `sent` bytes."""

    def fault(_: TableServer, answer: Answer) -> Answer:
        headers = {**answer.headers, "Content-Encoding": "gzip"}
        body = gzip.compress(answer.body, mtime=0)
        return replace(answer, headers=headers, body=body, sent=sent, framing="close")

    return fault


def silence() -> Fault:
    """Never answer."""
    return lambda _, answer: replace(answer, silent=True)


def replaced(old: str, new: str) -> Fault:
    """Replace text in the body."""
    return lambda _, answer: replace(answer, body=answer.body.replace(old.encode(), new.encode()))


def then(change: Callable[[TableServer], object]) -> Fault:
    """Answer as usual, and change the server before its next answer."""

    def fault(server: TableServer, answer: Answer) -> Answer:
        change(server)
        return answer

    return fault


class _Handler(BaseHTTPRequestHandler):
    table: TableServer
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        address = urlsplit(self.path)
        parameters = dict(parse_qsl(address.query))
        headers = {name.lower(): value for name, value in self.headers.items()}
        if address.path == "/resource/table.csv":
            kind = "count" if parameters["$select"] == "count(*)" else "page"
            answer = _socrata(self.table, parameters)
        else:
            kind = "file"
            answer = _file(self.table, address.path, headers)
        self.table.log.append(Request(kind, parameters, headers))
        coming = self.table.faults.get(kind, [])
        fault = coming.pop(0) if coming else None
        self._send(fault(self.table, answer) if fault else answer)

    def _send(self, answer: Answer) -> None:
        if answer.silent:
            self.table.stopped.wait(60)
            self.close_connection = True
            return
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        body = answer.body[: answer.sent]
        if answer.framing == "length":
            self.send_header("Content-Length", str(len(answer.body)))
        elif answer.framing == "chunked":
            self.send_header("Transfer-Encoding", "chunked")
            body = b"%x\r\n%b\r\n" % (len(body), body)
            body += b"0\r\n\r\n" if answer.sent is None else b""
        else:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)
        self.close_connection |= answer.sent is not None or answer.framing == "close"

    def log_message(self, format: str, *args: object) -> None:
        pass


def _socrata(server: TableServer, parameters: dict[str, str]) -> Answer:
    headers = {"Content-Type": "text/csv; charset=utf-8"}
    unknown = set(parameters) - {"$select", "$where", "$order", "$limit", "$offset"}
    if unknown:
        return Answer(400, headers, f"unknown parameters {unknown}".encode())
    kept = [row for row in enumerate(server.rows) if _matches(server, row[1], parameters)]
    if parameters["$select"] == "count(*)":
        return Answer(200, headers, _csv(("count",), [(str(len(kept)),)]))
    # Rows come from another place each time, so that only a complete $order makes pages stable.
    turn = len(server.log) % max(1, len(kept))
    kept = kept[turn:] + kept[:turn]
    for column in reversed(parameters.get("$order", "").split(",")):
        if column == ":id":
            kept.sort(key=lambda row: row[0])
        elif column:
            place = server.columns.index(column)
            kept = sorted(kept, key=lambda row: row[1][place])
    start = int(parameters["$offset"])
    page = kept[start : start + int(parameters["$limit"])]
    columns = tuple(parameters["$select"].split(","))
    if unknown := set(columns) - set(server.columns):
        return Answer(400, headers, f'{{"message": "No such column: {unknown}"}}'.encode())
    places = [server.columns.index(column) for column in columns]
    return Answer(
        200, headers, _csv(columns, [tuple(row[place] for place in places) for _, row in page])
    )


def _matches(server: TableServer, row: tuple[str, ...], parameters: dict[str, str]) -> bool:
    """Whether a row fulfils the $where condition; only what the client writes is understood."""
    where = parameters.get("$where", "")
    value = dict(zip(server.columns, row, strict=True))
    quoted = r"'((?:[^']|'')*)'"
    for column, listed in re.findall(r"(\w+) in \(((?:'(?:[^']|'')*',?)+)\)", where):
        if value[column] not in [one.replace("''", "'") for one in re.findall(quoted, listed)]:
            return False
    for column, low, high in re.findall(rf"(\w+) between {quoted} and {quoted}", where):
        if not low <= value[column] <= high:
            return False
    for column, sign, limit in re.findall(rf"(\w+) (>=|<=) {quoted}", where):
        if value[column] < limit if sign == ">=" else value[column] > limit:
            return False
    return True


def _file(server: TableServer, path: str, headers: dict[str, str]) -> Answer:
    """A file, whole or from the place where the client stopped."""
    content = server.csv()
    if path.endswith(".gz"):
        content = gzip.compress(content, mtime=0)
    elif path != "/table.csv":
        return Answer(404, {"Content-Type": "text/html"}, b"<html>no such page</html>")
    validator = {"Last-Modified": formatdate(0, usegmt=True)}
    if server.etag:
        validator["ETag"] = f'"{hashlib.md5(content).hexdigest()}"'
    sent = {"Content-Type": "application/octet-stream", "Accept-Ranges": "bytes", **validator}
    wanted = re.fullmatch(r"bytes=(\d+)-", headers.get("range", ""))
    if not wanted or headers.get("if-range") not in validator.values():
        return Answer(200, sent, content)
    start = int(wanted[1])
    if start >= len(content):
        return Answer(416, {"Content-Range": f"bytes */{len(content)}"}, b"")
    place = {"Content-Range": f"bytes {start}-{len(content) - 1}/{len(content)}"}
    return Answer(206, {**sent, **place}, content[start:])


def _csv(columns: tuple[str, ...], rows: list[tuple[str, ...]]) -> bytes:
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n", quoting=csv.QUOTE_MINIMAL)
    writer.writerow(columns)
    writer.writerows(rows)
    return text.getvalue().encode()
