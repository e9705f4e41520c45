"""Claims about a run's table of total gains, from tables by hand."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dpol.studies.games.names import TABLE_2
from dpol.studies.ledger.claims import compute as ledger
from dpol.studies.ledger.claims.core import Claim, ClaimVerdict
from dpol.studies.ledger.claims.settings import Claims
from dpol.studies.ledger.claims.study import STUDY
from dpol.studies.study import Facts

MODELS = ("ridge-w8-strong", "ridge-w16-weak", "ridge-w64-weak")
TREES = ("tree-ftpl-min-noise", "tree-ftpl-min-regret")
# Gains of RW-Meta, the regressions and the trees; the best fixed expert has 20.
GAINS = {
    ("PA", 1.0): (27.0, 25.0, 30.0, 28.0, 16.0, 10.0),
    ("PA", 0.25): (18.0, 20.0, 18.0, 15.0, 11.0, 10.0),
    ("NM", 0.5): (21.0, 20.0, 24.0, 20.0, 13.0, 10.0),
    ("NM", 0.25): (17.0, 15.0, 16.0, 19.0, 11.0, 10.0),
}


def summary(
    changes: dict[tuple[str, float, str], float] | None = None,
    half: float = 0.1,
    gains: Mapping[tuple[str, float], tuple[float, ...]] = GAINS,
    **columns: Any,
) -> pd.DataFrame:
    """The summary of four settings, with the gains of some cells changed."""
    rows = []
    for (stream, mu), of_setting in gains.items():
        for name, gain in zip(("rw-meta", *MODELS, *TREES), of_setting, strict=True):
            mean = (changes or {}).get((stream, mu, name), gain)
            rows.append(
                {
                    "stream": stream,
                    "mu": mu,
                    "algorithm": name,
                    "family": "ridge" if name.startswith("ridge") else name,
                    "column": "best-linear-model" if name.startswith("ridge") else name,
                    "mean_gain": mean,
                    "best_fixed_gain": 20.0,
                    "static_regret": 20.0 - mean,
                }
            )
    same = {"noise": "isotropic", "ci_half_width": half, "confidence": 0.95}
    same |= {"exhibit": TABLE_2, "variant": False}
    return pd.DataFrame(rows).assign(**same, **columns)


def totals(table: pd.DataFrame) -> pd.DataFrame:
    """Twelve replicates for each row, with its mean; those of a level move together by 5."""
    apart = np.resize([-1.0, 1.0], 12)
    own = np.random.default_rng(1).choice(apart, size=(len(table), 12))
    moved = 5 * apart + 0.05 * (own - own.mean(axis=1, keepdims=True))
    rows = table.loc[table.index.repeat(12), ["stream", "algorithm", "noise", "mu"]]
    gains = table["mean_gain"].to_numpy()[:, np.newaxis] + moved
    return rows.assign(replicate=np.tile(range(12), len(table)), total_gain=gains.ravel())


def claims(table: pd.DataFrame) -> dict[str, Claim]:
    made = ledger.claims_of_run(table, totals(table))
    return {claim.finding.name: claim for claim in made}


ROWS = (
    *("headline-tree", "static-regret", "best-linear-share", "best-linear-varies"),
    *("best-linear-PA", "best-linear-NM", "order-first", "order-second"),
)


def test_the_papers_findings_are_seen_in_a_table_like_its_own() -> None:
    assert {*ROWS} == {name for name, about in ledger.statements().items() if about.on_data}
    seen = claims(summary())
    verdicts = {name: claim.verdict for name, claim in seen.items()}
    assert verdicts == dict.fromkeys(ROWS, ClaimVerdict.SEEN)
    numbers = {name: round(claim.finding.measured, 4) for name, claim in seen.items()}
    assert numbers == {
        "headline-tree": round(17 / 11, 4),
        "static-regret": -1.0,
        "best-linear-share": round((27 / 30 + 18 / 20 + 21 / 24 + 17 / 19) / 4, 4),
        "best-linear-varies": 3.0,
        "best-linear-PA": round(20 / 18, 4),
        "best-linear-NM": round(19 / 16, 4),
        "order-first": 6.0,
        "order-second": 1.0,
    }
    assert seen["static-regret"].finding.bounds == pytest.approx((-1.1, -0.9))
    # Paired: single means move by 5, and their difference does not.
    lower, upper = seen["order-second"].finding.bounds
    assert 0.8 < lower < 1 < upper < 1.2
    # The paper's own twelve settings, from its table.
    assert seen["best-linear-share"].finding.numbers["theirs"] == pytest.approx(0.896, abs=5e-4)


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
        ("best-linear-share", {("PA", 1.0, "ridge-w16-weak"): 60.0}, ClaimVerdict.NOT_SEEN),
        ("best-linear-PA", {("PA", 0.25, "ridge-w64-weak"): 21.0}, ClaimVerdict.NOT_SEEN),
        ("best-linear-NM", {("NM", 0.25, "ridge-w64-weak"): 15.9}, ClaimVerdict.UNDECIDED),
        ("order-first", {("PA", 0.25, "tree-ftpl-min-regret"): 19.0}, ClaimVerdict.NOT_SEEN),
        ("order-second", {("NM", 0.25, "tree-ftpl-min-noise"): 9.0}, ClaimVerdict.NOT_SEEN),
        ("order-second", {("NM", 0.25, "tree-ftpl-min-noise"): 10.01}, ClaimVerdict.UNDECIDED),
    ],
)
def test_another_gain_turns_the_verdict(
    name: str, changes: dict[tuple[str, float, str], float], verdict: ClaimVerdict
) -> None:
    assert claims(summary(changes))[name].verdict == verdict


def test_one_model_that_is_best_everywhere_does_not_vary() -> None:
    best = {(*setting, "ridge-w16-weak"): 40.0 for setting in GAINS}
    one = claims(summary(best))["best-linear-varies"]
    assert (one.verdict, one.finding.bounds) == (ClaimVerdict.NOT_SEEN, (1.0, 1.0))
    # With wide intervals, any model may be best everywhere.
    unsure = claims(summary(half=20.0))["best-linear-varies"]
    assert (unsure.verdict, unsure.finding.bounds) == (ClaimVerdict.UNDECIDED, (1.0, 3.0))


def test_other_noises_and_single_runs_have_no_rows() -> None:
    assert claims(summary().assign(noise="capacity")) == {}
    assert claims(summary(half=float("inf"))) == {}


def test_a_run_without_the_papers_algorithms_has_no_rows() -> None:
    assert claims(summary().iloc[:0]) == {}
    facts = Facts({}, simulated=True, confidence=0.95)
    job = STUDY.jobs(Claims(), facts)["experts-in-this-run"]
    assert job.inputs == {"summary": "summary.parquet", "totals": "totals.parquet"}
