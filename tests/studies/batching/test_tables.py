from __future__ import annotations

import itertools

import pandas as pd
import pytest

from dpol.core.yaml_files import read_yaml
from dpol.show.papers import EXPERTS
from dpol.show.table import Table, to_markdown
from dpol.studies.batching.paper import TABLE_1, table_1
from dpol.studies.batching.shown import amplification, batching
from dpol.studies.claims.compute import STATEMENTS

BOUNDS = ("borell-tis", "reflection")
KINDS = ("un-amplified", "analytic", "monte-carlo", "heuristic")


def epsilon(n: int, t: int, mu: float, bound: str, kind: str) -> float:
    """Return a different number for every setting."""
    best = KINDS.index(kind) + 3 * BOUNDS.index(bound) * (kind != KINDS[0])
    return n + t / 100 + best / 10 + mu / 25


def curves(rounds: tuple[int, ...] = (50, 9), mus: tuple[float, ...] = (1.0, 0.25)) -> pd.DataFrame:
    """Return two points of each curve, with falling mu."""
    rows = []
    settings = itertools.product((2, 10), mus, BOUNDS, rounds, KINDS, (0.1, 0.2))
    for n, mu, bound, t, kind, threshold in settings:
        if (bound, kind) == ("reflection", "heuristic"):
            continue
        number = epsilon(n, t, mu, bound, kind)
        facts = {"t": t, "T": 60, "n": n, "mu": mu, "alpha": 0.1, "bound": bound, "kind": kind}
        facts |= {"threshold": threshold, "delta_reported": 1e-6}
        rows.append({**facts, "epsilon_at_delta": number, "mean_batch": 10 * number})
    return pd.DataFrame(rows)


def costs(alpha: float = 0.2) -> pd.DataFrame:
    rows = []
    for n, mu, shift, bound in itertools.product((2, 10), (1.0, 0.1), (0, 100), BOUNDS):
        base = n + 10 * mu + shift
        facts = {"stream": "two-rivals" if shift else "all-zero", "n": n, "mu": mu, "bound": bound}
        numbers = {
            "ftpl_regret": base,
            "ftpl_half_width": base / 100,
            "extra_regret": (base / 10) * (1 if bound == "reflection" else -1),
            "extra_half_width": base / 1000,
            "ftpl_bound": 10 * base,
            "mean_batch": base / 2,
        }
        rows.append(facts | numbers)
    constant = {"T": 60, "alpha": alpha, "replicates": 500, "factor": 1.1, "confidence": 0.9}
    return pd.DataFrame(rows).assign(**constant, ci_comparisons=36)


def amplification_table(frame: pd.DataFrame) -> Table:
    return amplification({"amplification": frame}, None, None)


AMPLIFIED = r"""**ε at δ = 1e-06 of RW-AdaBatch in the central model**

| experts | round | privacy of one round | not amplified | Borell-TIS, analytic bound | Borell-TIS, Monte Carlo | Borell-TIS, heuristic, not proved | reflection †, analytic bound | reflection †, Monte Carlo |
| --- | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |
| **n = 2** (T = 60) | t = 50 | μ = 0.25 | 2.51 | 2.61 mean batch 26.1 | 2.71 mean batch 27.1 | 2.81 mean batch 28.1 | 2.91 mean batch 29.1 | 3.01 mean batch 30.1 |
|  |  | μ = 1 | 2.54 | 2.64 mean batch 26.4 | 2.74 mean batch 27.4 | 2.84 mean batch 28.4 | 2.94 mean batch 29.4 | 3.04 mean batch 30.4 |
|  | t = 9 | μ = 0.25 | 2.1 | 2.2 mean batch 22.0 | 2.3 mean batch 23.0 | 2.4 mean batch 24.0 | 2.5 mean batch 25.0 | 2.6 mean batch 26.0 |
|  |  | μ = 1 | 2.13 | 2.23 mean batch 22.3 | 2.33 mean batch 23.3 | 2.43 mean batch 24.3 | 2.53 mean batch 25.3 | 2.63 mean batch 26.3 |
| **n = 10** (T = 60) | t = 50 | μ = 0.25 | 10.51 | 10.61 mean batch 106.1 | 10.71 mean batch 107.1 | 10.81 mean batch 108.1 | 10.91 mean batch 109.1 | 11.01 mean batch 110.1 |
|  |  | μ = 1 | 10.54 | 10.64 mean batch 106.4 | 10.74 mean batch 107.4 | 10.84 mean batch 108.4 | 10.94 mean batch 109.4 | 11.04 mean batch 110.4 |
|  | t = 9 | μ = 0.25 | 10.1 | 10.2 mean batch 102.0 | 10.3 mean batch 103.0 | 10.4 mean batch 104.0 | 10.5 mean batch 105.0 | 10.6 mean batch 106.0 |
|  |  | μ = 1 | 10.13 | 10.23 mean batch 102.3 | 10.33 mean batch 103.3 | 10.43 mean batch 104.3 | 10.53 mean batch 105.3 | 10.63 mean batch 106.3 |

- All-zero gains, the worst case for privacy; α = 0.1. Adjacent: two streams that differ in one round's whole gain vector in \[0, 1\]\^n; Gaussian noise of scale sqrt(n) / μ on every gain vector (in the local model, ε is not amplified).
- Analytic bound: holds on every stream, for an oblivious adversary. Monte Carlo: from batch sizes of simulated runs; an estimate, not a guarantee.
- Heuristic: section A.11 of the paper, with constants that we derived again. It is not proved, and it promises too much if there is little noise; never use it as a bound.
- Method: “Prediction with Expert Advice under Local Differential Privacy”, section 3.1. †: ours, not in the paper.
"""  # noqa: E501

COSTS = r"""**What batching costs: regret of RW-FTPL and extra regret of RW-AdaBatch**

| experts | stream | privacy of one round | RW-FTPL | extra, Borell-TIS | extra, reflection † | bound on regret |
| --- | --- | --- | ---: | ---: | ---: | ---: |
| **n = 2** (T = 60) | all-zero | μ = 0.1 | 3.0 ± \<0.1 | -0.300 ± 0.003 mean batch 1.5 | +0.300 ± 0.003 mean batch 1.5 | 30 × 1.1 |
|  |  | μ = 1 | 12.0 ± 0.1 | -1.200 ± 0.012 mean batch 6.0 | +1.200 ± 0.012 mean batch 6.0 | 120 × 1.1 |
|  | two-rivals | μ = 0.1 | 103.0 ± 1.0 | -10.300 ± 0.103 mean batch 51.5 | +10.300 ± 0.103 mean batch 51.5 | 1030 × 1.1 |
|  |  | μ = 1 | 112.0 ± 1.1 | -11.200 ± 0.112 mean batch 56.0 | +11.200 ± 0.112 mean batch 56.0 | 1120 × 1.1 |
| **n = 10** (T = 60) | all-zero | μ = 0.1 | 11.0 ± 0.1 | -1.100 ± 0.011 mean batch 5.5 | +1.100 ± 0.011 mean batch 5.5 | 110 × 1.1 |
|  |  | μ = 1 | 20.0 ± 0.2 | -2.000 ± 0.020 mean batch 10.0 | +2.000 ± 0.020 mean batch 10.0 | 200 × 1.1 |
|  | two-rivals | μ = 0.1 | 111.0 ± 1.1 | -11.100 ± 0.111 mean batch 55.5 | +11.100 ± 0.111 mean batch 55.5 | 1110 × 1.1 |
|  |  | μ = 1 | 120.0 ± 1.2 | -12.000 ± 0.120 mean batch 60.0 | +12.000 ± 0.120 mean batch 60.0 | 1200 × 1.1 |

- Means over 500 runs of T = 60 rounds, α = 0.2. Both algorithms see the same noise, so the interval of the difference is for paired runs.
- ±: half-width of the 90% confidence interval (Student's t), Bonferroni-corrected over 36 regrets. exact: all runs give the same number. The intervals cover the randomness of the runs on these streams, not other streams.
- Bound on regret: (η + 2/η) sqrt(2 T log n) for RW-FTPL, times 1 + α/2 for RW-AdaBatch. “Prediction with Expert Advice under Local Differential Privacy”, Corollary 2. †: ours, not in the paper.
"""  # noqa: E501


def test_the_amplification_table() -> None:
    """Sections and groups keep their order, lines are sorted by mu; each cell has its number."""
    assert to_markdown(amplification_table(curves())) == AMPLIFIED


def test_the_batching_table() -> None:
    # n = 2, mu = 0.1: 3; mu = 1: 12; 100 more for the second stream.
    assert to_markdown(batching({"batching": costs()}, None, None)) == COSTS


def test_table_1_has_the_papers_rows_in_its_order() -> None:
    games = costs().assign(ftpl_bound=400.0, adabatch_bound=440.0, adabatch_regret=66.0)
    table = table_1({"batching": games}, None, None)
    ((lines,),) = [[group.lines for group in section.groups] for section in table.sections]
    rows = {name: [cell.text for cell in cells] for name, cells in lines}
    assert [name.split(" (")[0] for name in rows] == [
        "sums in a tree",
        "RW-FTPL",
        "“Tracking the Best Expert Privately”",
        "RW-AdaBatch with tolerance α",
        "RW-Meta with m learners",
    ]
    tree, leader, tracking, batches, _ = rows.values()
    assert tree[1] == "not in our copy"
    assert tracking[-1] == "not played: text not at hand"
    # The largest regret of RW-FTPL is 120, for n = 10, mu = 1 and the second stream.
    assert leader[-1].endswith("games: at most 30% of it")
    assert batches[-1].endswith("games: at most 15% of it")
    assert all(all(cells) for cells in rows.values()), "every rate has a source and a check"
    assert "500 runs of T = 60" in table.footers[2]


@pytest.mark.parametrize("entry", TABLE_1, ids=lambda entry: entry.algorithm)
def test_table_1_names_statements_of_the_ledger(entry) -> None:
    """A statement that is renamed or leaves the ledger must leave this table too."""
    ledger = {
        statement["place"]
        for statement in read_yaml(STATEMENTS).values()
        if statement["paper"] == EXPERTS
    }
    assert set(entry.ledger) <= ledger
    assert entry.ledger or entry.remark
