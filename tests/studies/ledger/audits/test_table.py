"""The table of audits, by hand."""

from __future__ import annotations

import pandas as pd
import pytest

from dpol.privacy.auditing import OUTSIDE
from dpol.studies.ledger.audits.drawn import audits_table, closest_audits
from report.run_by_hand import audits
from tables_by_hand import texts


def lines(frame: pd.DataFrame) -> list[list[str]]:
    return texts(audits_table({"audits": frame}, None))


def test_audits_are_shown_with_their_numbers_and_verdicts() -> None:
    first, second = lines(audits())
    assert first == [
        *("noise", "isotropic", "one person in one round", "μ = 1", "μ ≥ 0.9", "90%"),
        *("event, 3,000 runs", "stands"),
    ]
    assert second[-4:] == ["μ ≥ 1.25", "125%", "event, 3,000 runs", "refuted"]
    exact = audits().assign(method="exact", parameter="epsilon", delta=1e-6)
    assert lines(exact)[0][3:7] == ["ε = 1 (δ = 1e-06)", "ε = 0.9", "90%", "computed"]
    assert lines(audits().assign(recorded=1.5))[0][3] == "μ = 1, recorded: 1.5"


@pytest.mark.parametrize(("verdict", "shown"), [("violated", "refuted"), (OUTSIDE, OUTSIDE)])
def test_an_excess_outside_the_guarantee_is_told_apart_from_a_refuted_claim(
    verdict: str, shown: str
) -> None:
    (line,) = lines(audits().iloc[1:].assign(verdict=verdict))
    assert line[-1] == shown


def test_the_short_table_has_what_is_refuted_what_is_outside_and_the_closest() -> None:
    """Of eight claims of 1, by share; all are counted."""
    frame = pd.concat([audits().iloc[:1]] * 8, ignore_index=True)
    bounds = [0.1, 0.9, 0.3, 1.3, 0.5, 1.4, 0.7, 0.8]
    frame = frame.assign(lower_bound=bounds, verdict="consistent")
    frame.loc[3, "verdict"], frame.loc[5, "verdict"] = "violated", OUTSIDE
    table = closest_audits({"audits": frame}, None)
    assert table.numbers["lower_bound"].tolist() == [1.3, 1.4, 0.9, 0.8, 0.7, 0.5, 0.3]
    assert "8 audits: 1 refuted, 1 outside the guarantee" in table.caption
    assert "with 60% confidence" in table.footers[2]  # eight bounds of 95%
