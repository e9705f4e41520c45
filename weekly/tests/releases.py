"""Releases of a few rows in the current folder, for tests of the ledger."""

from __future__ import annotations

import contextlib
import io
import json
import math
import os
import pty
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from dpol.cli import main
from dpol.core.errors import DpolError
from dpol_weekly.deployment import Deployment
from dpol_weekly.holder import ceiling
from dpol_weekly.holder import release as release_module
from dpol_weekly.holder.entries import agreements
from dpol_weekly.holder.ledger import open_ledger, transaction
from dpol_weekly.holder.release import release
from dpol_weekly.holder.request import Request
from dpol_weekly.holder.settings import Hospital
from dpol_weekly.keys import Key, make_key, make_secret
from dpol_weekly.records import signed_text
from dpol_weekly.released.row import Released

A1, A2, B1 = ("A", "2021-01-01", "3"), ("A", "2021-01-08", "7.5"), ("B", "2021-01-01", "0")
NOISY, LEDGER = Path("noisy"), Path("dpol-ledger.sqlite")
"""The folder of releases, and the ledger."""
COLUMNS = {"entity": "hospital", "period": "week", "count": "covid", "capacity": "beds"}
PLAIN = {
    "zero": "written",
    "covers": "all",
    "format": {"decimal": ".", "thousands": "none"},
}
"""A holder whose table writes zeros as rows."""
KEYS = {
    "name": "d",
    "periods": {"first": "2021-01-01"},
    "entities": {name: {} for name in "ABC"},
    "mu": 0.5,
    "budget_mu": 100,
    "affirmed": True,
}


def hospital(made, table="counts.csv", to=NOISY, ledger=LEDGER, **keys):
    """A holder of all or some entities of a deployment, with a key as --init makes it."""
    plain = {"deployment": "d.yaml", "table": table, "output": to, "ledger": ledger}
    plain |= {"columns": COLUMNS, "entities": list(made.entities)} | PLAIN
    plain["key"] = Path(ledger).with_name("dpol.key")
    plain["secret"] = Path(ledger).with_name("dpol.secret")
    if not (plain["key"].exists() or Path(ledger).exists()):
        make_key(plain["key"])
        make_secret(plain["secret"])
    return Hospital.model_validate({**plain, **keys})


def deployment(**keys):
    """A deployment of hospitals that report their beds."""
    return Deployment.model_validate(KEYS | keys)


USUAL = deployment()


def run(*arguments):
    """Exit code, standard output and standard error of the command, in this process."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = main([str(argument) for argument in arguments])
        except SystemExit as end:
            code = end.code
    return code, out.getvalue(), err.getvalue()


COMMAND = [sys.executable, "-c", "import sys; from dpol.cli import main; sys.exit(main())"]


def on_terminal(answer, *arguments):
    """Exit code, what a terminal shows, and standard error, of a process that is given answers."""
    master, slave = pty.openpty()
    os.write(master, answer.encode())  # read when it is asked for
    with subprocess.Popen(
        [*COMMAND, *arguments], stdin=slave, stdout=slave, stderr=subprocess.PIPE, text=True
    ) as process:
        os.close(slave)
        shown = b""
        with contextlib.suppress(OSError):  # the other end is closed
            while part := os.read(master, 4096):
                shown += part
        os.close(master)
        err = process.stderr.read()
    return process.returncode, shown.decode(), err


def own_file(path="hospital.yaml", **keys):
    """A holder's file for `counts.csv`, and a key as --init makes it."""
    if not (key := Path(path).with_name("dpol.key")).exists():
        make_key(key)
        make_secret(key.with_suffix(".secret"))
    whole = {"deployment": "d.yaml", "table": "counts.csv", "output": "noisy", **PLAIN, **keys}
    Path(path).write_text(json.dumps(whole, default=str))
    return path


def put(
    *rows,
    made=USUAL,
    halted=False,
    to=NOISY,
    ledger=LEDGER,
    own=None,
    **answers,
):
    """Release rows (hospital, week, count, beds; 20 if not given); `halted`: draw no noise."""
    header = {**COLUMNS, **{k: v for k, v in (own or {}).get("columns", {}).items() if v}}
    lines = [",".join(header.values()), *(",".join((*row, "20")[:4]) for row in rows)]
    Path("counts.csv").write_text("\n".join(lines) + "\n")
    request = Request(
        hospital=hospital(made, to=to, ledger=ledger, **(own or {})),
        deployment=made,
        agree=made.sha256(),
        **({"in_person": True} | answers),
    )
    with no_noise() if halted else contextlib.nullcontext():
        return release(request)


@contextlib.contextmanager
def no_noise():
    """Fail if noise is drawn, but for a comparison with what was released."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(release_module, "noisy", None)
        yield


def refuse(message, *rows, **options):
    """A release is refused with a message, before noise is drawn."""
    with pytest.raises(DpolError, match=message):
        put(*rows, halted=True, **options)


def newest(to=NOISY):
    """The last release in a folder."""
    return max(Path(to).glob("*.json"))


def record(to=NOISY):
    """All that a release states, or the last one in a folder."""
    return json.loads((newest(to) if Path(to).is_dir() else Path(to)).read_text())


def table(to=NOISY):
    """The rows of that release."""
    return record(to)["rows"]


def output(to=NOISY):
    """The rows of that release, each by its cells."""
    return [dict(zip(Released._fields, row, strict=True)) for row in table(to)]


def repack(file=None, **changed):
    """Replace facts of a release; None: leave it out."""
    file = file or newest()
    whole = record(file) | changed
    file.write_text(json.dumps({key: it for key, it in whole.items() if it is not None}))


def forge(file=None, *, key="dpol.key", **facts):
    """Replace facts of a release, and sign it all with a key."""
    file, signer = file or newest(), Key(Path(key))
    whole = record(file) | facts | {"key": signer.public}
    repack(file, **whole | {"signature": signer.sign(signed_text(whole))})


def known_keys(*names, key="dpol.key", path="known.yaml"):
    """The words that name a file of known keys: all of one holder."""
    Path(path).write_text(json.dumps(dict.fromkeys(names, Key(Path(key)).public)))
    return "--known-keys", path


def files():
    """All files but the raw counts."""
    paths = (file for file in Path().rglob("*") if file.is_file() and file.name != "counts.csv")
    return {str(path): path.read_bytes() for path in paths}


def ask(question, path=LEDGER):
    """The answer of a database to an SQL question."""
    with closing(sqlite3.connect(path)) as base:
        return base.execute(question).fetchall()


def stays(path=LEDGER):
    """The mu of a person in one period by the name of each agreement of a ledger."""
    with open_ledger(path) as ledger, transaction(ledger):
        made = {it.name: it for it in agreements(ledger, released=True)}
        return {
            name: math.sqrt(max(ceiling.spent(ledger, it).values())) for name, it in made.items()
        }


def changes_of(table, path=LEDGER):
    """Statements that change a database: each column of a table, and its rows."""
    columns = ask(f"PRAGMA table_info({table})", path)
    for _, name, kind, *_ in columns:
        other = f"{name} + 99" if kind == "INTEGER" else f"{name} || 'x'"
        yield f"UPDATE {table} SET {name} = {other}"
    yield f"DELETE FROM {table}"


def tamper(*statements, path=LEDGER):
    """Change a database behind its triggers, which are there again afterwards."""
    with closing(sqlite3.connect(path)) as base:
        held = base.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
        for name, _ in held:
            base.execute(f"DROP TRIGGER {name}")
        base.execute("PRAGMA ignore_check_constraints = ON")
        for statement in statements:
            if not statement.startswith("DROP TRIGGER"):
                base.execute(statement)
        dropped = {text.split()[-1] for text in statements if text.startswith("DROP TRIGGER")}
        for name, sql in held:
            if name not in dropped:
                base.execute(sql)
        base.commit()
