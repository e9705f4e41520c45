"""Figure 1 and Table 1 of the paper, and the tables of RW-AdaBatch."""

from __future__ import annotations

import functools
import itertools

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from scipy.stats import norm

from dpol.core.randomness import Floats
from dpol.experts.registry import REGISTRY
from dpol.show.table import Table
from dpol.show.words import EXPERTS
from dpol.studies.ledger.claims.compute import statements
from dpol.studies.paper1.batching.drawn import (
    TABLE_1,
    amplification,
    batching,
    draw_figure_1,
    table_1,
)
from dpol.studies.paper1.batching.settings import Batching
from dpol.studies.paper1.batching.study import STUDY
from dpol.studies.study import Facts
from in_process import compute
from legible import assert_legible, lines

BOUNDS = ("borell-tis", "reflection")
KINDS = ("un-amplified", "analytic", "monte-carlo", "heuristic")


def epsilon(n: int, t: int, mu: float, bound: str, kind: str) -> float:
    """Return a different number for every setting."""
    best = KINDS.index(kind) + 3 * BOUNDS.index(bound) * (kind != KINDS[0])
    return n + t / 100 + best / 10 + mu / 25


def curves() -> pd.DataFrame:
    """Return two points of each curve, with falling mu."""
    rows = []
    settings = itertools.product((2, 10), (1.0, 0.25), BOUNDS, (50, 9), KINDS, (0.1, 0.2))
    for n, mu, bound, t, kind, threshold in settings:
        if (bound, kind) == ("reflection", "heuristic"):
            continue
        number = epsilon(n, t, mu, bound, kind)
        facts = {"t": t, "T": 60, "n": n, "mu": mu, "alpha": 0.1, "bound": bound, "kind": kind}
        facts |= {"threshold": threshold, "delta_reported": 1e-6}
        rows.append({**facts, "epsilon_at_delta": number, "mean_batch": 10 * number})
    return pd.DataFrame(rows)


def costs() -> pd.DataFrame:
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
    constant = {"T": 60, "alpha": 0.2, "replicates": 500, "factor": 1.1, "confidence": 0.9}
    return pd.DataFrame(rows).assign(**constant, ci_comparisons=36)


def cells(table: Table) -> dict[tuple[str, str, str], tuple[str, ...]]:
    """Return the texts of each line with their notes, by section, group and label, in order."""
    return {
        (section.title, group.title, label): tuple(
            " ".join([cell.text, *cell.notes]) for cell in line
        )
        for section in table.sections
        for group in section.groups
        for label, line in group.lines
    }


def test_the_amplification_table() -> None:
    """Sections and groups keep their order, lines are sorted by mu; each cell has its number."""
    table = amplification({"amplification": curves()}, None)
    shown = list(itertools.product(BOUNDS, KINDS[1:]))[:-1]
    expected = {}
    for n, t, mu in itertools.product((2, 10), (50, 9), (0.25, 1.0)):
        numbers = [epsilon(n, t, mu, *at) for at in shown]
        texts = (f"{number:.5g} mean batch {10 * number:.1f}" for number in numbers)
        plain = f"{epsilon(n, t, mu, BOUNDS[0], KINDS[0]):.5g}"
        expected[f"n = {n}", f"t = {t}", f"μ = {mu:g}"] = (plain, *texts)
    assert cells(table) == expected
    assert list(cells(table)) == list(expected)


def test_the_batching_table() -> None:
    """Regret is n + 10 mu, and 100 more for the second stream; what is added is a tenth of it."""
    rates = pd.DataFrame({"algorithm": ["rw-ftpl", "rw-adabatch"], "regret": ["one", "other"]})
    table = batching({"batching": costs(), "rates": rates}, None)
    found = cells(table)
    assert list(found)[:2] == [("n = 2", "all-zero", f"μ = {mu}") for mu in ("0.1", "1")]
    assert found["n = 2", "all-zero", "μ = 0.1"] == (
        *("3.0 ± <0.1", "-0.300 ± 0.003 mean batch 1.5", "+0.300 ± 0.003 mean batch 1.5"),
        "30 × 1.1",
    )
    assert found["n = 10", "two-rivals", "μ = 1"] == (
        *("120.0 ± 1.2", "-12.000 ± 0.120 mean batch 60.0", "+12.000 ± 0.120 mean batch 60.0"),
        "1200 × 1.1",
    )
    assert len(found) == 2 * 2 * 2
    for words in ("over 36 regrets", "one for RW-FTPL, other for RW-AdaBatch"):
        assert any(words in footer for footer in table.footers)


def test_table_1_gives_the_largest_share_of_a_bound_that_games_reached() -> None:
    games = costs().assign(ftpl_bound=400.0, adabatch_bound=440.0, adabatch_regret=66.0)
    small = Batching(n_experts=[2], mus=[1.0], n_rounds=50, replicates=2)
    rates = compute(STUDY, small, seed=1)["rates"]
    table = table_1({"batching": games, "rates": rates}, None)
    ((lines,),) = [[group.lines for group in section.groups] for section in table.sections]
    rows = {name: [cell.text for cell in cells] for name, cells in lines}
    _, leader, _, batches, _ = rows.values()
    assert [leader[1], batches[1]] == [REGISTRY[it].regret for it in ("rw-ftpl", "rw-adabatch")]
    # The largest regret of RW-FTPL is 120, for n = 10, mu = 1 and the second stream.
    assert leader[-1].endswith("games: at most 30% of it")
    assert batches[-1].endswith("games: at most 15% of it")
    assert all(all(cells) for cells in rows.values()), "every rate has a source and a check"
    assert "500 runs of T = 60" in table.footers[2]


@pytest.mark.parametrize("entry", TABLE_1, ids=lambda entry: entry.algorithm)
def test_table_1_names_statements_of_the_ledger(entry) -> None:
    """A statement that is renamed or leaves the ledger must leave this table too."""
    ledger = {each.place for each in statements().values() if each.paper == EXPERTS}
    assert set(entry.ledger) <= ledger
    assert entry.ledger or entry.remark


# ---- Figure 1 ------------------------------------------------------------------------------------

SIZES, MUS = (2, 10), (0.25, 1.0, 4.0)
FALSE_POSITIVE = np.array([0.0, norm.cdf(-2), norm.cdf(-0.5), 0.5, 1.0])
HALVED = {"un-amplified": 1.0, "analytic": 0.5, "monte-carlo": 0.25, "heuristic": 0.1}
"""Share of mu that each kind leaves: batches of 4 rounds halve it."""


def gaussian(mu: float) -> Floats:
    """Return the least rates of false negatives at the rates of false positives of the test."""
    return np.asarray(norm.cdf(norm.ppf(1 - FALSE_POSITIVE) - mu))


def halved() -> pd.DataFrame:
    """Return rows of all bounds; only those of the first are halved exactly."""
    blocks, bounds = [], ("borell-tis", "reflection")
    order = itertools.product(SIZES[::-1], MUS[::-1], bounds, HALVED)
    for n, mu, bound, kind in order:
        errors = {
            "false_positive": FALSE_POSITIVE,
            "false_negative": gaussian(mu * HALVED[kind] * (1.0 if bound == bounds[0] else 0.9)),
        }
        setting = {"n": n, "mu": mu, "bound": bound, "t": 7, "kind": kind, "alpha": 0.01, "T": 1500}
        blocks.append(pd.DataFrame(errors).assign(**setting))
    return pd.concat(blocks, ignore_index=True)


@functools.cache
def drawing() -> Figure:
    frames = {"amplification": halved(), "batching": pd.DataFrame({"replicates": [2000]})}
    return draw_figure_1(frames, Facts({}, False, 0.95))


def test_a_panel_has_the_curves_of_its_experts_and_mu() -> None:
    """The curve that is not amplified is G_mu: G_1 has 0.1587 at 0.5, and its centre at 0.3085."""
    figure = drawing()
    assert_legible(figure)
    cells = list(itertools.product(SIZES, MUS))
    for ax, (n, mu) in zip(figure.axes, cells, strict=True):
        assert ax.get_title(loc="left") == f"n = {n}, μ = {mu:g}"
        drawn = lines(ax)
        assert set(drawn) == {"un-amplified", "analytic", "monte-carlo"}
        for kind, line in drawn.items():
            np.testing.assert_array_equal(line.get_xdata(), FALSE_POSITIVE)
            np.testing.assert_allclose(line.get_ydata(), gaussian(mu * HALVED[kind]))
    plain_curve = lines(figure.axes[cells.index((2, 1.0))])["un-amplified"].get_ydata()
    np.testing.assert_allclose(plain_curve[2:4], [0.3085, 0.1587], atol=5e-5)


def test_the_finding_is_the_largest_rise_of_all_panels() -> None:
    """At mu = 4 false negatives rise most at a rate of Φ(-2), from Φ(-2) = 0.0228 to 0.5."""
    rises = [(gaussian(mu / 2) - gaussian(mu)).max() for mu in MUS]
    assert f"{max(rises):.4f}" == "0.4772"
    assert "by up to 48 percentage points (n = 2, μ = 4, " in drawing().get_label()
