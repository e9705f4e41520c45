"""The coordinator's memory: a folder of accepted releases, and a list of what was done with each.

`accepted/KEY/` holds the releases as they came, and `accepted.jsonl` has a line for each: when it
came, the file's SHA-256, the rows taken and those refused. An agreement and what was set aside have
lines too. Each line has the SHA-256 of the line before, so the last one fixes them all.
"""

from __future__ import annotations

import datetime
import hashlib
import json
import os
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import BytesIO
from pathlib import Path
from typing import Any

from dpol.core.errors import DataError
from dpol.core.files import atomic_path, locked, output_error, write_text
from dpol_weekly.coordinator.settings import FILE, TEMPLATE
from dpol_weekly.deployment import (
    Deployment,
    checked_deployment,
    read_deployment,
    refuse_amendment,
)

LOG_NAME, ACCEPTED = "accepted.jsonl", "accepted"
Cells = tuple[str, ...]
"""Noisy count and capacity of a row."""
Place = tuple[str, str]
"""An entity, and the first day of a period."""


def lines_of(folder: Path, as_of: int | None = None) -> Iterator[tuple[int, str, dict[str, Any]]]:
    """Yield the number of each line, from 1, its SHA-256, and what it holds.

    A line that was cut short, as by a kill, is none.

    Args:
        folder: the coordinator's folder.
        as_of: number of the last line; None: all.

    Raises:
        DataError: there is no such line, or one was changed, removed or put elsewhere.
    """
    path, head, number = folder / LOG_NAME, "", 0
    with path.open("rb") if path.exists() else BytesIO() as stream:
        for number, line in enumerate(stream, start=1):
            if not line.endswith(b"\n") or number > (as_of or number):
                number -= 1
                break
            facts = None
            with suppress(ValueError, RecursionError):
                facts = json.loads(line)
            if not isinstance(facts, dict) or facts.get("before") != head:
                raise DataError(
                    f"{path}, line {number}: a line here was changed, removed or put elsewhere; put"
                    f" the last backup of {folder} back"
                )
            head = hashlib.sha256(line[:-1]).hexdigest()
            yield number, head, facts
    if number < (as_of or 0):
        raise DataError(f"{path}: has no line {as_of}; it has {number}")


class Log:
    """What the list says: agreements, and rows that count, that were set aside, or were refused.

    Args:
        folder: the coordinator's folder.

    Raises:
        DataError: as `lines_of`.
    """

    def __init__(self, folder: Path) -> None:
        self.folder, self.head = folder, ""
        self.agreements, self.hashes = list[Deployment](), list[str]()
        self.rows = defaultdict[Place, list[Cells]](list)
        self.aside = defaultdict[Place, set[Cells]](set)
        self.keys = dict[str, str]()
        self.told = set[tuple[str, ...]]()
        for _, head, facts in lines_of(folder):
            self._apply(facts, head)

    @property
    def deployment(self) -> Deployment:
        """The agreement that holds now; it names all entities that ever took part."""
        return self.agreements[-1]

    def add(self, kind: str, **facts: Any) -> None:
        """Append a line, and flush it to disk."""
        now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
        whole = {"before": self.head, "time": now, "kind": kind, **facts}
        line = json.dumps(whole, separators=(",", ":")).encode()
        with (self.folder / LOG_NAME).open("ab") as stream:
            stream.write(line + b"\n")
            stream.flush()
            os.fsync(stream.fileno())
        self._apply(json.loads(line), hashlib.sha256(line).hexdigest())

    def _apply(self, facts: dict[str, Any], head: str) -> None:
        self.head = head
        if facts["kind"] == "agreement":
            self.agreements.append(agreed(facts, self.folder))
            self.hashes.append(self.deployment.sha256())
        elif facts["kind"] == "release":
            for entity, period, *cells in facts["taken"]:
                self.rows[entity, period].append((*cells,))
            self.keys |= dict.fromkeys(facts["entities"], facts["key"])
            self.told |= {(*refused,) for refused in facts["refused"]}
        else:
            for place in [*self.rows]:
                if place[0] == facts["entity"] and facts["period"] in (None, place[1]):
                    self.aside[place] |= {*self.rows.pop(place)}
            if facts["period"] is None:
                self.keys.pop(facts["entity"], None)


def agreed(facts: dict[str, Any], folder: Path) -> Deployment:
    """Return the agreement of a line."""
    return checked_deployment(facts["agreement"], f"{folder / LOG_NAME}, an agreement")


@contextmanager
def open_log(folder: Path, deployment: Path | None = None) -> Iterator[Log]:
    """Open the list of a folder to add to it; one block at a time, others wait.

    Args:
        folder: of the coordinator; it gets a `coordinator.yaml` to be edited.
        deployment: the file of the agreement, or of an amendment of the last one; None: as before.

    Raises:
        ConfigError: the file of the agreement breaks a rule, or it is neither an agreement of the
            list nor an amendment of the last one.
        DataError: no agreement was given for a new list, or a line was changed.
        OutputError: it cannot be written.
    """
    given, path = None if deployment is None else read_deployment(deployment), folder / LOG_NAME
    lacks = DataError(f"{folder}: holds no agreement; dpol collect --deployment names its file")
    if given is None and not path.exists():
        raise lacks
    try:
        with locked(path):
            data = path.read_bytes() if path.exists() else b""
            if not data.endswith(b"\n") and data:  # what a killed process left of its last line
                os.truncate(path, data.rfind(b"\n") + 1)
            log = Log(folder)
            if given is not None and given not in log.agreements:
                if log.agreements:
                    refuse_amendment(log.deployment, given, log.rows, str(deployment))
                log.add("agreement", agreement=json.loads(given.agreement()))
            if not log.agreements:
                raise lacks
            if not (folder / FILE).exists():
                write_text(folder / FILE, TEMPLATE.read_text(encoding="utf-8"))
            yield log
    except OSError as error:  # one of a write has no name
        raise output_error(error.filename or folder, error) from error


def keep(folder: Path, key: str, content: bytes) -> str:
    """Copy an accepted release into the folder, and return its SHA-256."""
    sha256 = hashlib.sha256(content).hexdigest()
    with atomic_path(path_of(folder, key, sha256)) as new:
        new.write_bytes(content)
    return sha256


def path_of(folder: Path, key: str, sha256: str) -> Path:
    """Return the file of an accepted release."""
    return folder / ACCEPTED / key / f"{sha256[:16]}.json"
