"""Nobody but the holder changes what the holder has agreed to (S1)."""

from __future__ import annotations

from pathlib import Path

import pytest

from dpol.core.errors import DataError
from dpol_weekly.holder.entries import add_deployment
from dpol_weekly.holder.ledger import open_ledger, transaction
from dpol_weekly.holder.request import Request
from releases import (
    A1,
    COLUMNS,
    LEDGER,
    deployment,
    hospital,
    own_file,
    record,
    run,
)

BEGIN = "--begin-after", "2020-12-31"
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
    assert run("privatize", "--agree", GOOD.sha256().upper(), *BEGIN)[0] == 0


def test_the_hash_of_another_agreement_confirms_nothing():
    with pytest.raises(DataError, match="is not the hash of the agreement d; leave it out"):
        Request(hospital=hospital(GOOD), deployment=GOOD, agree=BAD.sha256())


def test_an_agreement_without_releases_is_replaced_and_its_changes_are_shown():
    """Whoever has confirmed a mistake goes on from its correction."""
    offer(GOOD, A1)
    with open_ledger(LEDGER) as ledger, transaction(ledger):
        add_deployment(ledger, GOOD)
    offer(BAD, A1)
    _, said, _ = run("privatize")
    assert "\n  mu: 0.5 -> 35\n" in said
    assert run("privatize", "--agree", BAD.sha256())[0] == 0
    assert record()["agreement"] == BAD.sha256()
