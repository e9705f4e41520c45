"""Releases of a few rows in the current folder, for tests of the ledger."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import sqlite3
from contextlib import closing
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest

from dpol.cli import main
from dpol.core.errors import DpolError
from dpol.privacy.noise import SeededNoise
from dpol_weekly.deployment import Deployment
from dpol_weekly.holder.release import release
from dpol_weekly.holder.request import Request
from dpol_weekly.noise import CountNoise
from dpol_weekly.released import checksum

HALF = CountNoise(Decimal("0.5"))
A1, A2, B1 = ("A", "2021-01-01", "3"), ("A", "2021-01-08", "7.5"), ("B", "2021-01-01", "0")
NOISY, RECORD, LEDGER = (
    Path("noisy.csv"),
    Path("noisy.csv.guarantee.json"),
    Path("dpol-ledger.sqlite"),
)
KEYS = {
    "name": "d",
    "periods": {"first": "2021-01-01"},
    "columns": {"entity": "hospital", "period": "week", "count": "covid", "capacity": "beds"},
    "entities": {name: {} for name in "ABC"},
    "mu": 0.5,
    "budget_mu": 100,
    "disjoint": True,
}


def deployment(memory=None, **keys):
    """A deployment of hospitals that report their beds; a given memory in place of its own."""
    if memory is None:
        return Deployment.model_validate(KEYS | keys)

    class Remembering(Deployment):
        def memory(self):
            return memory

    return Remembering.model_validate(KEYS | keys)


USUAL = deployment()


class Halted:
    """A sampler that is never to be asked for noise."""

    name = "seeded"

    def discrete_gaussian(self, scale, size):
        assert size == 0, "noise was drawn before everything was checked"
        return []


def run(*arguments):
    """Exit code, standard output and standard error of the command, in this process."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = main([str(argument) for argument in arguments])
        except SystemExit as end:
            code = end.code
    return code, out.getvalue(), err.getvalue()


def put(*rows, made=USUAL, seed=1, sampler=None, to=NOISY, ledger=None, correct=(), **answers):
    """Release rows (hospital, week, count, beds; 20 if not given), with seeded noise."""
    columns = made.columns
    header = ",".join([columns.entity, columns.period, columns.count, columns.capacity])
    lines = [header, *(",".join((*row, "20")[:4]) for row in rows)]
    Path("counts.csv").write_text("\n".join(lines) + "\n")
    request = Request(
        table=Path("counts.csv"),
        output=Path(to),
        deployment=made,
        ledger=ledger and Path(ledger),
        correct=frozenset(correct),
        agree=made.sha256(),
        **answers,
    )
    return release(request, sampler or SeededNoise(np.random.default_rng(seed)))


def refuse(message, *rows, **options):
    """A release is refused with a message, before noise is drawn."""
    with pytest.raises(DpolError, match=message):
        put(*rows, sampler=Halted(), **options)


def forge(**facts):
    """Replace facts of the record, and the checksum."""
    whole = record() | facts
    RECORD.write_text(json.dumps(whole | {"sha256": checksum(NOISY.read_bytes(), whole)}))


def output(path=NOISY):
    """The rows of an output."""
    with Path(path).open(newline="") as stream:
        return list(csv.DictReader(stream))


def record(path=RECORD):
    """A record."""
    return json.loads(Path(path).read_text())


def files():
    """All files but the raw counts."""
    return {path.name: path.read_bytes() for path in Path().iterdir() if path.name != "counts.csv"}


def ask(question, path=LEDGER):
    """The answer of a ledger to an SQL question."""
    with closing(sqlite3.connect(path)) as base:
        answer = base.execute(question).fetchall()
        base.commit()
    return answer
