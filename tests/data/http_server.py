"""A small web server with a table, and faults on demand.

`/resource/table.csv` answers like a Socrata server ($select, $where, $order, $limit, $offset,
count(*), :id); `/table.csv` and `/table.csv.gz` are plain files with Range.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import re
import socket
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field, replace
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl, urlsplit

Row = tuple[str, ...]


@dataclass(frozen=True)
class Answer:
    """An answer that the server is about to send.

    Its end is marked by its `length`, `chunked` parts, or the `close` of the line. Behaviours:
    `silent`: nothing is sent; `drip headers`, `drip body`: a byte now and then; `stall`: it stops
    within the body; `endless`: the body again and again.
    """

    status: int
    headers: dict[str, str]
    body: bytes
    sent: int | None = None  # bytes of the body after which the connection is cut; None for all
    framing: str = "length"
    behaviour: str = "answer"


Fault = Callable[["TableServer", Answer], Answer]


@dataclass(frozen=True)
class Request:
    """One line of the request log."""

    kind: str  # count, page or file
    path: str
    parameters: dict[str, str]
    headers: dict[str, str]


@dataclass
class TableServer:
    """The table, the faults still to come for each kind of request, and the request log."""

    columns: Row
    rows: list[Row]
    faults: dict[str, list[Fault | None]] = field(default_factory=dict)
    log: list[Request] = field(default_factory=list)
    version: int = 0  # goes up with each change of the table
    history: list[list[Row]] = field(default_factory=list)  # versions before the one in `rows`
    says: tuple[str, ...] = ("ETag", "Last-Modified")  # which of the two headers are sent
    cap: int = 10**9  # most rows in one page
    stopped: threading.Event = field(default_factory=threading.Event)
    url: str = ""

    def places(self) -> list[tuple[int, int]]:
        """Offset and limit of the pages asked for, in order."""
        asked = [one.parameters for one in self.log if one.kind == "page"]
        return [(int(one["$offset"]), int(one["$limit"])) for one in asked]

    def kinds(self) -> list[str]:
        """The kinds of the requests, in order."""
        return [one.kind for one in self.log]

    def ranges(self) -> list[str | None]:
        """The ranges of the requests, in order."""
        return [one.headers.get("range") for one in self.log]

    def csv(self) -> bytes:
        """The whole table in the order in which the server stores it."""
        return as_csv(self.columns, self.rows)

    def validators(self, what: str) -> dict[str, str]:
        """The headers that name the version of an answer."""
        etag = hashlib.md5(f"{self.version} {what}".encode()).hexdigest()
        date = formatdate(1e9 + 60 * self.version, usegmt=True)
        both = {"ETag": f'"{etag}"', "Last-Modified": date}
        return {name: both[name] for name in self.says}


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


def changed(**parts: object) -> Fault:
    """Change parts of the answer, such as its framing."""
    return lambda _, answer: replace(answer, **parts)  # type: ignore[arg-type]


def headed(headers: Mapping[str, str | None]) -> Fault:
    """Send these headers; None leaves one out. A Content-Length replaces the true one."""

    def fault(_: TableServer, answer: Answer) -> Answer:
        together = {**answer.headers, **headers}
        return replace(answer, headers={k: v for k, v in together.items() if v is not None})

    return fault


def edited(edit: Callable[[bytes], bytes]) -> Fault:
    """Edit the body."""
    return lambda _, answer: replace(answer, body=edit(answer.body))


def replaced(old: str, new: str) -> Fault:
    """Replace text in the body."""
    return edited(lambda body: body.replace(old.encode(), new.encode()))


def packed(sent: int | None = None) -> Fault:
    """Compress the body on its way, and cut it after `sent` bytes."""

    def fault(_: TableServer, answer: Answer) -> Answer:
        headers = {**answer.headers, "Content-Encoding": "gzip"}
        body = gzip.compress(answer.body, mtime=0)
        return replace(answer, headers=headers, body=body, sent=sent, framing="close")

    return fault


def then(change: Callable[[list[Row]], object]) -> Fault:
    """Answer as usual, and change the table before the next answer."""

    def fault(server: TableServer, answer: Answer) -> Answer:
        server.history.append(list(server.rows))
        change(server.rows)
        server.version += 1
        return answer

    return fault


def stale(rows: list[Row]) -> Fault:
    """Answer with an older version of the table."""

    def fault(server: TableServer, _: Answer) -> Answer:
        server.history.append(rows)
        old = replace(server, rows=rows, version=server.version - 1)
        return _answer(old, server.log[-1])

    return fault


class _Handler(BaseHTTPRequestHandler):
    table: TableServer
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        address = urlsplit(self.path)
        parameters = dict(parse_qsl(address.query))
        headers = {name.lower(): value for name, value in self.headers.items()}
        rows = "count" if parameters.get("$select") == "count(*)" else "page"
        kind = rows if address.path == "/resource/table.csv" else "file"
        request = Request(kind, address.path, parameters, headers)
        answer = _answer(self.table, request)
        self.table.log.append(request)
        coming = self.table.faults.get(kind, [])
        fault = coming.pop(0) if coming else None
        with suppress(ConnectionError):  # the client may close the line at any time
            self._send(fault(self.table, answer) if fault else answer)

    def _send(self, answer: Answer) -> None:
        if answer.behaviour == "silent":
            self.table.stopped.wait(60)
            self.close_connection = True
            return
        self.send_response(answer.status)
        self.send_header("Connection", "close")
        body = answer.body[: answer.sent]
        if answer.framing == "length" and "Content-Length" not in answer.headers:
            self.send_header("Content-Length", str(len(answer.body)))
        elif answer.framing == "chunked":
            self.send_header("Transfer-Encoding", "chunked")
            body = b"%x\r\n%b\r\n" % (len(body), body)
            body += b"0\r\n\r\n" if answer.sent is None else b""
        for name, value in answer.headers.items():
            self.send_header(name, value)
        if answer.behaviour == "drip headers":
            self._drip(b"X-Slow: " + b"a" * 60)
        self.end_headers()
        if answer.behaviour == "drip body":
            self._drip(body)
        while answer.behaviour == "endless":
            self.wfile.write(body)
        self.wfile.write(body[:150_000] if answer.behaviour == "stall" else body)
        if answer.behaviour == "stall":
            self.table.stopped.wait(60)
        self.close_connection = True

    def _drip(self, data: bytes) -> None:
        self.flush_headers()
        for byte in data[:200]:
            self.wfile.write(bytes([byte]))
            time.sleep(0.02)

    def log_message(self, format: str, *args: object) -> None:
        pass


def _answer(server: TableServer, request: Request) -> Answer:
    """A file, or what the query selects; its parts are SQL, if the column `:id` is quoted."""
    if request.kind == "file":
        return _file(server, request.path, request.headers)
    parameters = request.parameters
    headers = {"Content-Type": "text/csv; charset=utf-8"}
    headers |= server.validators(str(parameters))
    unknown = set(parameters) - {"$select", "$where", "$order", "$limit", "$offset"}
    limit = int(parameters.get("$limit", 1))
    if unknown:
        return Answer(400, headers, b"unknown parameter")
    rows = [(*row, f"row-{number}") for number, row in enumerate(server.rows)]
    # Rows come from another place each time, so that only a complete $order makes pages stable.
    turn = len(server.log) % max(1, len(rows))
    sql = (
        f"select {parameters['$select']} from t where {parameters.get('$where', 'true')} "
        f"order by {parameters.get('$order', 'true')} "
        f"limit {min(server.cap, limit)} offset {parameters.get('$offset', 0)}"
    )
    with closing(sqlite3.connect(":memory:")) as base:
        base.execute(f"create table t ({','.join(server.columns)}, ':id')")
        places = ",".join("?" * (len(server.columns) + 1))
        base.executemany(f"insert into t values ({places})", rows[turn:] + rows[:turn])
        kept = base.execute(sql.replace(":id", "[:id]")).fetchall()
    return Answer(200, headers, as_csv(tuple(parameters["$select"].split(",")), kept))


def _file(server: TableServer, path: str, headers: dict[str, str]) -> Answer:
    """A file, whole or from the place where the client stopped."""
    content = server.csv()
    if path.endswith(".gz"):
        content = gzip.compress(content, mtime=0)
    elif path != "/table.csv":
        return Answer(404, {"Content-Type": "text/html"}, b"<html>no such page</html>")
    validators = server.validators(path)
    sent = {"Content-Type": "application/octet-stream", **validators}
    wanted = re.fullmatch(r"bytes=(\d+)-", headers.get("range", ""))
    if not wanted or headers.get("if-range") not in validators.values():
        return Answer(200, sent, content)
    start = int(wanted[1])
    if start >= len(content):
        return Answer(416, {"Content-Range": f"bytes */{len(content)}"}, b"")
    place = {"Content-Range": f"bytes {start}-{len(content) - 1}/{len(content)}"}
    return Answer(206, {**sent, **place}, content[start:])


def as_csv(columns: Row, rows: Sequence[Row]) -> bytes:
    """A CSV file."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n", quoting=csv.QUOTE_MINIMAL)
    writer.writerow(columns)
    writer.writerows(rows)
    return text.getvalue().encode()
