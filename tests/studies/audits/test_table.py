"""The table of audits, by hand."""

from __future__ import annotations

import pandas as pd
import pytest

from dpol.studies.audits.core import OUTSIDE
from dpol.studies.audits.shown import audits_table
from report.run_by_hand import audits
from tables_by_hand import texts


def lines(frame: pd.DataFrame) -> list[list[str]]:
    return texts(audits_table({"audits": frame}, None, None))


def test_audits_are_shown_with_their_numbers_and_verdicts() -> None:
    first, second = lines(audits())
    assert first == [
        *("noise", "isotropic", "one person in one round", "μ = 1", "μ ≥ 0.9", "90%"),
        *("event, 3,000 runs", "stands"),
    ]
    assert second[-4:] == ["μ ≥ 1.25", "125%", "event, 3,000 runs", "refuted"]
    exact = audits().assign(method="exact", parameter="epsilon", delta=1e-6)
    assert lines(exact)[0][3:7] == ["ε = 1 (δ = 1e-06)", "ε = 0.9", "90%", "computed"]
    fit = audits().assign(method="fit", parameter="distance", claimed=0.0, lower_bound=0.0)
    distance = ["TV = 0", "TV ≥ 0", "–", "fit, 3,000 runs"]
    assert lines(fit.assign(recorded=0.0))[0][3:7] == distance
    assert lines(audits().assign(recorded=1.5))[0][3] == "μ = 1, recorded: 1.5"


@pytest.mark.parametrize(("verdict", "shown"), [("violated", "refuted"), (OUTSIDE, OUTSIDE)])
def test_an_excess_outside_the_promise_is_told_apart_from_a_refuted_claim(
    verdict: str, shown: str
) -> None:
    (line,) = lines(audits().iloc[1:].assign(verdict=verdict))
    assert line[-1] == shown
