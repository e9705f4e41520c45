"""The table of audits, by hand."""

from __future__ import annotations

import pandas as pd

from dpol.studies.ledger.audits.drawn import audits_table
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
