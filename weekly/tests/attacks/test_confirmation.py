"""Nobody but the holder changes what the holder has agreed to (S1)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dpol.core.errors import DataError
from dpol_weekly.holder.agreement import NotConfirmedError
from dpol_weekly.holder.request import Request
from releases import (
    A1,
    A2,
    COLUMNS,
    LEDGER,
    NOISY,
    Halted,
    ask,
    deployment,
    hospital,
    on_terminal,
    output,
    own_file,
    put,
    record,
    run,
    table,
)

GOOD = deployment(budget_mu=2.01, corrections=False)
BAD = deployment(mu=35, budget_mu=100, corrections=False)


def offer(made, *rows):
    """Return the file of an agreement, the holder's file, and a table."""
    Path("d.yaml").write_text(made.agreement())
    own_file(columns=COLUMNS, entities=list("ABC"))
    lines = [",".join((*row, "20")) for row in rows]
    Path("counts.csv").write_text("\n".join(["hospital,week,covid,beds", *lines, ""]))


@pytest.mark.parametrize("digits", [8, 12, 32, 63, 65])
def test_a_part_of_a_hash_confirms_nothing(digits):
    """Two agreements with equal first digits are found in minutes."""
    offer(GOOD, A1)
    part = (GOOD.sha256() + "0")[:digits]
    code, out, err = run("privatize", "--agree", part)
    assert (code, out, LEDGER.exists()) == (1, "", False)
    assert "is not a whole hash of 64 digits" in err
    assert "dpol deployment check" in err
    assert run("privatize", "--agree", GOOD.sha256().upper())[0] == 0


def test_the_hash_of_another_agreement_confirms_nothing():
    with pytest.raises(DataError, match="is not the hash of the agreement d; leave it out"):
        Request(hospital=hospital(GOOD), deployment=GOOD, agree=BAD.sha256())


def test_a_script_does_not_confirm_another_agreement_of_a_known_name():
    """Even by its whole hash; a person on a terminal does, and the rows go to a new output."""
    offer(GOOD, A1)
    assert run("privatize", "--agree", GOOD.sha256())[0] == 0
    before = table()
    offer(BAD, A1, A2)
    code, out, err = run("privatize", "--agree", BAD.sha256())
    assert (code, table()) == (1, before)
    assert out.startswith("Noise on each count: a standard deviation of 0.04041 people.")
    assert "\n  mu: 0.5 -> 35\n" in out
    assert out.endswith(
        f"Its hash is {BAD.sha256()}. Only a person on a terminal can confirm it.\n"
    )
    assert "so no script may confirm it" in err
    with pytest.raises(NotConfirmedError):
        put(A1, A2, made=BAD, in_person=False, sampler=Halted())
    code, said, err = on_terminal("yes\n", "privatize")
    assert (code, err) == (0, "")
    assert "d-2-2021-01-08.zip: 1 row released for 2021-01-08, mu = 35 each; 1 row" in said
    assert table(NOISY / "d-2021-01-01.zip") == before
    assert [row["mu"] for row in output(NOISY / "d-2-2021-01-08.zip")] == ["35"]
    stated = record(NOISY / "d-2-2021-01-08.zip")
    assert stated["deployment"]["sha256"] == BAD.sha256()
    assert ask("SELECT COUNT(*) FROM release") == [(2,)]


def test_the_seal_covers_the_text_of_an_agreement():
    put(A1, made=GOOD)
    worse = json.dumps(json.loads(GOOD.agreement()) | {"budget_mu": 100})
    ask(f"UPDATE deployment SET agreement = '{worse}'")
    with pytest.raises(DataError, match=r"the ledger is damaged.*\(an agreement was changed\)"):
        put(A2, made=GOOD, sampler=Halted())
