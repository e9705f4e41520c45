"""Releases of a few rows in the current folder, for tests of a holder's side."""

from __future__ import annotations

import contextlib
import datetime
import io
import json
import shutil
from pathlib import Path

import pytest

from dpol.cli import main
from dpol.core.errors import DpolError
from dpol.noise.keyed import make_secret
from dpol_weekly.deployment import Deployment
from dpol_weekly.holder import release as release_module
from dpol_weekly.holder.release import release
from dpol_weekly.holder.settings import read_hospital
from dpol_weekly.keys import Key, make_key
from dpol_weekly.records import signed_text

A1, A2, B1 = ("A", "2021-01-01", "3"), ("A", "2021-01-08", "7.5"), ("B", "2021-01-01", "0")
NOISY = Path("noisy")
"""The folder of releases."""
COLUMNS = {"entity": "hospital", "period": "week", "count": "covid", "capacity": "beds"}
PLAIN = {"zero": "written", "format": {"decimal": ".", "thousands": "none"}}
"""A holder whose table writes zeros as rows."""
KEYS = {
    "name": "d",
    "periods": {"first": "2021-01-01"},
    "entities": {name: {} for name in "ABC"},
    "mu": 0.5,
    "budget_mu": 100,
    "affirmed": True,
}


def deployment(**keys):
    """A deployment of hospitals that report their beds."""
    return Deployment.model_validate(KEYS | keys)


USUAL = deployment()


def day(number):
    return datetime.date(2021, 1, 1) + datetime.timedelta(days=number)


def run(*arguments):
    """Exit code, standard output and standard error of the command, in this process."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = main([str(argument) for argument in arguments])
        except SystemExit as end:
            code = end.code
    return code, out.getvalue(), err.getvalue()


def own_file(path="hospital.yaml", **keys):
    """A holder's file for `counts.csv`, and a key and a secret as --init makes them."""
    key, secret = (Path(path).with_name(f"dpol.{it}") for it in ("key", "secret"))
    if not key.exists() and not secret.exists():
        make_key(key)
        make_secret(secret)
    whole = {"deployment": "d.yaml", "table": "counts.csv", "output": "noisy", **PLAIN, **keys}
    Path(path).write_text(json.dumps(whole, default=str))
    return path


def cloned(names):
    """Folders that have one key and one secret."""
    make_key(Path("dpol.key"))
    make_secret(Path("dpol.secret"))
    for name in names:
        Path(name).mkdir()
        for file in ("dpol.key", "dpol.secret"):
            shutil.copy(file, name)
    return names


def own_of(made=USUAL, **keys):
    """The file of a holder of all or some entities of a deployment, as it is read."""
    Path("d.yaml").write_text(made.agreement())
    plain = {"columns": COLUMNS, "entities": list(made.entities)}
    return read_hospital(Path(own_file(**plain | keys)))


def put(*rows, made=USUAL, halted=False, own=None, **answers):
    """Release rows (hospital, week, count, beds; 20 if not given); `halted`: draw no noise."""
    header = {**COLUMNS, **(own or {}).get("columns", {})}
    lines = [",".join(filter(None, header.values()))]
    lines += [",".join((*row, "20")[:4]) for row in rows]
    Path("counts.csv").write_text("\n".join(lines) + "\n")
    own_of(made, **(own or {}))
    with no_noise() if halted else contextlib.nullcontext():
        return release(Path("hospital.yaml"), **({"agree": made.sha256()} | answers))


@contextlib.contextmanager
def no_noise():
    """Fail if noise is drawn."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(release_module, "keyed_noise", None)
        yield


def refuse(message, *rows, **options):
    """A release is refused with a message, before noise is drawn."""
    with pytest.raises(DpolError, match=message):
        put(*rows, halted=True, **options)


def newest(to=NOISY):
    """The last release in a folder."""
    return max(Path(to).glob("*.json"), key=lambda it: it.name[-15:])


def record(to=NOISY):
    """All that a release states, or the last one in a folder."""
    return json.loads((newest(to) if Path(to).is_dir() else Path(to)).read_text())


def table(to=NOISY):
    """The rows of that release."""
    return record(to)["rows"]


def sent(to=NOISY):
    """The entities and periods of that release."""
    return [(row[0], row[1]) for row in table(to)]


def forge(file=None, *, by="dpol.key", **facts):
    """Replace facts of a release, and sign it all with a key; None: leave it out."""
    file, signer = Path(file or newest()), Key(Path(by))
    whole = record(file) | {"key": signer.public} | facts
    whole = {name: it for name, it in whole.items() if it is not None}
    file.write_text(json.dumps(whole | {"signature": signer.sign(signed_text(whole))}))


def known_keys(*names, key="dpol.key", path="known.yaml"):
    """The words that name a file of known keys: all of one holder."""
    Path(path).write_text(json.dumps(dict.fromkeys(names, Key(Path(key)).public)))
    return "--known-keys", path


def files():
    """All files but locks and what a killed process left under a hidden name."""
    return {str(it): it.read_bytes() for it in Path().rglob("[!.]*") if it.is_file()}
