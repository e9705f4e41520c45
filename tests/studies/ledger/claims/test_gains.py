"""Claims about a run's table of total gains, from tables by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import tables_by_hand
from dpol.core.schemas import write_frame
from dpol.studies.ledger.claims import compute as ledger
from dpol.studies.ledger.claims.core import Claim, ClaimVerdict
from dpol.studies.study import Inputs

NAMES = "rw-meta", "tree-ftpl-min-noise", "tree-ftpl-min-regret"
# Gains of the three; the best fixed expert has 20.
GAINS = {
    ("PA", 1.0): (27.0, 16.0, 10.0),
    ("PA", 0.25): (18.0, 11.0, 10.0),
    ("NM", 0.5): (21.0, 13.0, 10.0),
    ("NM", 0.25): (17.0, 11.0, 10.0),
}


def summary(changes: dict[tuple[str, float, str], float] | None = None, **columns: Any) -> Any:
    """The summary of four settings, with the gains of some cells changed."""
    rows = []
    for (stream, mu), gains in GAINS.items():
        for name, gain in zip(NAMES, gains, strict=True):
            mean = (changes or {}).get((stream, mu, name), gain)
            row = {"stream": stream, "mu": mu, "algorithm": name, "mean_gain": mean}
            rows.append(row | {"best_fixed_gain": 20.0, "static_regret": 20.0 - mean})
    same = {"noise": "isotropic", "ci_half_width": 0.1, "confidence": 0.95}
    return pd.DataFrame(rows).assign(**same | columns)


def claims(table: pd.DataFrame) -> dict[str, Claim]:
    on_data = {name: it for name, it in ledger.statements().items() if it.on_data}
    return {claim.finding.name: claim for claim in ledger.decide(on_data, table)}


def test_the_papers_findings_are_seen_in_a_table_like_its_own() -> None:
    seen = claims(summary())
    assert {name: claim.verdict for name, claim in seen.items()} == {
        "headline-tree": ClaimVerdict.SEEN,
        "static-regret": ClaimVerdict.SEEN,
    }
    ratio = seen["headline-tree"].finding
    assert ratio.measured == pytest.approx(17 / 11)
    assert ratio.numbers["range"] == "1.55 (NM, μ = 0.25) to 1.69 (PA, μ = 1)"
    assert seen["static-regret"].finding.bounds == pytest.approx((-1.1, -0.9))


@pytest.mark.parametrize(
    ("name", "changes", "verdict"),
    [
        ("headline-tree", {("NM", 0.25, "rw-meta"): 16.2}, ClaimVerdict.NOT_SEEN),
        ("headline-tree", {("NM", 0.25, "rw-meta"): 16.5}, ClaimVerdict.UNDECIDED),
        # Only the tree with the least noise counts.
        ("headline-tree", {("NM", 0.5, "tree-ftpl-min-regret"): 19.0}, ClaimVerdict.SEEN),
        ("static-regret", {("NM", 0.5, "rw-meta"): 19.0}, ClaimVerdict.NOT_SEEN),
        ("static-regret", {("NM", 0.5, "rw-meta"): 19.95}, ClaimVerdict.UNDECIDED),
        ("static-regret", {("NM", 0.25, "rw-meta"): 10.5}, ClaimVerdict.SEEN),  # high privacy
    ],
)
def test_another_gain_turns_the_verdict(
    name: str, changes: dict[tuple[str, float, str], float], verdict: ClaimVerdict
) -> None:
    assert claims(summary(changes))[name].verdict == verdict


@pytest.mark.parametrize(
    ("gain", "verdict"),
    [
        (10.0, ClaimVerdict.SEEN),
        (12.0, ClaimVerdict.NOT_SEEN),  # 17 are 1.42 times as much
        (11.33, ClaimVerdict.UNDECIDED),
    ],
)
def test_the_classical_baseline_has_a_row_where_it_is_played(
    gain: float, verdict: ClaimVerdict
) -> None:
    table = summary()
    classical = table[table["algorithm"] == "rw-meta"].assign(algorithm="rw-ftpl", mean_gain=gain)
    claim = claims(pd.concat([table, classical], ignore_index=True))["headline-classical"]
    assert claim.verdict == verdict
    assert claim.finding.measured == pytest.approx(17.0 / gain)
    assert "NM, μ = 0.25: rw-meta 17.00, rw-ftpl" in str(claim.as_row()["note"])


def test_other_noises_single_runs_and_other_algorithms_have_no_rows() -> None:
    assert claims(summary(noise="capacity")) == claims(summary(ci_half_width=float("inf"))) == {}
    assert claims(summary().iloc[:0]) == {}


def test_a_run_has_the_rows_of_its_table_alone(tmp_path: Path) -> None:
    whole = tables_by_hand.summary().assign(std_gain=0.0, static_regret=-8.0, ci_half_width=0.1)
    write_frame(whole, tmp_path / "summary.parquet")
    files = {"summary": tmp_path / "summary.parquet"}
    rows = ledger.run("experts", Inputs(seed=1, files=files))["claims"]
    found = [(row["on_data"], row["measured"]) for row in rows]
    assert found == [(True, pytest.approx(1 / 3 / 22)), (True, -8.0)]
