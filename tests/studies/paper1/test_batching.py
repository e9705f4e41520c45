"""Privacy gained and regret added by batching: the study, its tables, Figure 1 and Table 1."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

from dpol.core.intervals import half_width
from dpol.core.words import at_most, fixed
from dpol.data.synthetic import synthetic_stream
from dpol.experts.adabatch import RWAdaBatch, play_batches
from dpol.experts.ftpl import RandomWalkFTPL
from dpol.experts.play import play_rounds
from dpol.experts.registry import REGISTRY
from dpol.privacy.gaussian_dp import delta_of_epsilon, epsilon_of_delta
from dpol.show.table import Table
from dpol.show.words import EXPERTS, plus_minus
from dpol.studies.ledger.claims.compute import statements
from dpol.studies.paper1.batching import compute as study
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

DELTA = 1e-5
SEED = 7
SIZES, MUS = (3, 2), (0.2, 1.0)
TINY = Batching(n_experts=[*SIZES], mus=[*MUS[::-1]], n_rounds=40, alpha=0.4, replicates=30)
BOUNDS = ("borell-tis", "reflection")
KINDS = ("un-amplified", "analytic", "monte-carlo", "heuristic")
SETTING = ["n", "mu", "bound"]


@pytest.fixture(scope="module")
def tables():
    return compute(STUDY, TINY, seed=SEED, delta=DELTA)


@pytest.fixture
def curves(tables):
    return tables["amplification"]


@pytest.fixture
def costs(tables):
    return tables["batching"]


def of_kind(curves, kind):
    return curves[curves["kind"] == kind].reset_index(drop=True)


def test_curves_have_every_setting_once_per_kind_and_are_complete(curves):
    assert tuple(curves["kind"].unique()) == KINDS
    rows = curves.groupby([*SETTING, "kind"]).size()
    # The heuristic is about the bound of the paper.
    assert len(rows) == 2 * 2 * (4 + 3)
    assert set(curves["t"]) == {20}
    assert set(of_kind(curves, "heuristic")["bound"]) == {"borell-tis"}
    known = curves["threshold"] >= 0
    for name in ("epsilon", "delta"):
        np.testing.assert_array_equal(curves[name].notna(), known)
    assert (curves.loc[known, "epsilon"] == curves.loc[known, "threshold"]).all()


def least_false_negatives(curves: pd.DataFrame) -> pd.Series:
    """Return G_mu at the rates of false positives of the curves."""
    return pd.Series(norm.sf(norm.ppf(curves["false_positive"]) + curves["mu"]), curves.index)


def test_the_kind_that_is_not_amplified_is_gaussian_and_no_amplified_curve_is_below(curves):
    plain = of_kind(curves, "un-amplified")
    assert (plain["mean_batch"] == 1).all()
    np.testing.assert_allclose(plain["false_negative"], least_false_negatives(plain), atol=1e-12)
    for mu, rows in plain.groupby("mu"):
        assert rows["epsilon_at_delta"].unique() == pytest.approx([epsilon_of_delta(DELTA, mu)])
        held = rows.dropna(subset="epsilon")
        expected = delta_of_epsilon(held["epsilon"], mu)
        np.testing.assert_allclose(held["delta"], expected, rtol=1e-12)
    for kind in ("analytic", "monte-carlo"):
        amplified = of_kind(curves, kind)
        rise = amplified["false_negative"] - least_false_negatives(amplified)
        assert (rise >= -1e-12).all()
        largest = rise.groupby([amplified[name] for name in SETTING]).max()
        assert (largest > 1e-3).all()


@pytest.mark.parametrize(("n", "mu", "bound"), [(2, 0.2, "borell-tis"), (3, 1.0, "reflection")])
def test_the_simulated_mean_is_for_the_round_of_the_row(curves, n, mu, bound):
    rows = curves.set_index([*SETTING, "kind"]).loc[(n, mu, bound, "monte-carlo")]
    game = study.noisy_game(synthetic_stream("all-zero", np.zeros((40, n))), mu, SEED, range(30))
    expected = play_batches(RWAdaBatch(0.4, bound), *game)[1][:, 19].mean()
    assert rows["mean_batch"].unique() == pytest.approx([expected])


def test_results_do_not_depend_on_the_block_size(tables, monkeypatch):
    """They do not depend on earlier runs either."""
    monkeypatch.setattr(study, "_LARGEST_BLOCK", 7 * 40 * 2)
    stream = synthetic_stream("all-zero", np.zeros((40, 2)))
    assert len(list(study._blocks(stream, 1.0, 30, SEED))) == 5
    for name, again in compute(STUDY, TINY, seed=SEED, delta=DELTA).items():
        pd.testing.assert_frame_equal(again, tables[name], check_exact=True)


def test_a_row_by_hand(costs):
    gains = np.zeros((40, 3))
    gains[::2, 0] = gains[1::2, 1] = 1
    stream = synthetic_stream("two-rivals", gains)
    game = study.noisy_game(stream, 0.2, SEED, range(30))
    played, sizes = play_batches(RWAdaBatch(0.4, "reflection"), *game)
    totals = [
        np.array([sum(gains[t, row[t]] for t in range(40)) for row in actions])
        for actions in (play_rounds(RandomWalkFTPL(), *game), played)
    ]
    row = costs.set_index(["stream", "n", "mu", "bound"]).loc[("two-rivals", 3, 0.2, "reflection")]
    regrets = row[["ftpl_regret", "adabatch_regret"]].tolist()
    assert regrets == pytest.approx([20 - total.mean() for total in totals])
    assert row["ci_comparisons"] == 3 * len(costs)
    samples = {"ftpl": totals[0], "adabatch": totals[1], "extra": totals[0] - totals[1]}
    for name, values in samples.items():
        expected = float(half_width(values, 0.95, 3 * len(costs)))
        assert row[f"{name}_half_width"] == pytest.approx(expected)
    eta = math.sqrt(3) / 0.2
    bound = (eta + 2 / eta) * math.sqrt(2 * 40 * math.log(3))
    assert (row["ftpl_bound"], row["adabatch_bound"]) == pytest.approx((bound, 1.2 * bound))
    assert row["mean_batch"] == pytest.approx(sizes.mean())


# ---- what is shown -------------------------------------------------------------------------------


def cells(table: Table) -> dict[tuple[str, str, str], list[str]]:
    """Return the texts of each line with their notes, by section, group and label, in order."""
    return {
        (section.title, group.title, label): [" ".join([it.text, *it.notes]) for it in line]
        for section in table.sections
        for group in section.groups
        for label, line in group.lines
    }


def in_words(row: pd.Series, number: str) -> str:
    return f"{number} mean batch {row['mean_batch']:.1f}"


def test_the_amplification_table(tables, curves):
    """Sections keep their order, lines are sorted by mu; each cell has its number."""
    rows = curves.groupby([*SETTING, "kind"]).first()
    shown = list(itertools.product(BOUNDS, KINDS[1:]))[:-1]
    expected = {}
    for n, mu in itertools.product(SIZES, MUS):
        plain, *others = (rows.loc[(n, mu, *at)] for at in ((BOUNDS[0], KINDS[0]), *shown))
        expected[f"n = {n}", "t = 20", f"μ = {mu:g}"] = [
            at_most(plain["epsilon_at_delta"], digits=4),
            *(in_words(it, at_most(it["epsilon_at_delta"], digits=4)) for it in others),
        ]
    found = cells(amplification(tables, None))
    assert found == expected
    assert list(found) == list(expected)


def extra(row: pd.Series) -> str:
    if row["extra_regret"] == row["extra_half_width"] == 0:
        return "none"
    return f"{fixed(row['extra_regret'], 3, '+')}{plus_minus(row['extra_half_width'], 3)}"


PLAYED = {"rw-ftpl": "FTPL", "rw-adabatch": "AdaBatch"}


def test_the_batching_table(tables, costs):
    table = batching(tables, None)
    rows = costs.set_index(["n", "stream", "mu", "bound"])
    expected = {}
    for n, stream, mu in itertools.product(SIZES, costs["stream"].unique(), MUS):
        own = [rows.loc[(n, stream, mu, bound)] for bound in BOUNDS]
        expected[f"n = {n}", stream, f"μ = {mu:g}"] = [
            f"{own[0]['ftpl_regret']:.1f}{plus_minus(own[0]['ftpl_half_width'], 1)}",
            *(in_words(it, extra(it)) for it in own),
            f"{own[0]['ftpl_bound']:.0f} × 1.2",
        ]
    found = cells(table)
    assert found == expected
    assert list(found) == list(expected)
    rates = (f"{REGISTRY[it].regret} for RW-{name}" for it, name in PLAYED.items())
    for words in (f"over {3 * len(costs)} regrets", ", ".join(rates)):
        assert any(words in footer for footer in table.footers)


def test_table_1_gives_the_largest_share_of_a_bound_that_games_reached(tables, costs):
    table = table_1(tables, None)
    ((own,),) = [[group.lines for group in section.groups] for section in table.sections]
    rows = {name: [cell.text for cell in line] for name, line in own}
    _, leader, _, batches, _ = rows.values()
    for line, (name, column) in zip((leader, batches), PLAYED.items(), strict=True):
        column = column.lower()
        share = (costs[f"{column}_regret"] / costs[f"{column}_bound"]).max()
        assert line[1] == REGISTRY[name].regret
        assert line[-1].endswith(f"games: at most {at_most(100 * share, digits=2)}% of it")
    assert all(all(line) for line in rows.values()), "every rate has a source and a check"
    assert "30 runs of T = 40" in table.footers[2]


@pytest.mark.parametrize("entry", TABLE_1, ids=lambda entry: entry.algorithm)
def test_table_1_names_statements_of_the_ledger(entry):
    """A statement that is renamed or leaves the ledger must leave this table too."""
    ledger = {each.place for each in statements().values() if each.paper == EXPERTS}
    assert set(entry.ledger) <= ledger
    assert entry.ledger or entry.remark


def test_figure_1_has_the_curves_of_the_papers_bound_and_tells_their_largest_rise(tables, curves):
    figure = draw_figure_1(tables, Facts({}, False, 0.95))
    assert_legible(figure)
    rises = {}
    panels = itertools.product(sorted(SIZES), MUS)
    for ax, (n, mu) in zip(figure.axes, panels, strict=True):
        name = f"n = {n}, μ = {mu:g}"
        assert ax.get_title(loc="left") == name
        drawn = lines(ax)
        assert set(drawn) == set(KINDS[:3])
        for kind, line in drawn.items():
            rows = of_kind(curves, kind).query("n == @n and mu == @mu and bound == @BOUNDS[0]")
            np.testing.assert_array_equal(line.get_xdata(), rows["false_positive"])
            np.testing.assert_array_equal(line.get_ydata(), rows["false_negative"])
            if kind == "analytic":
                rises[name] = (rows["false_negative"] - least_false_negatives(rows)).max()
    most = max(rises, key=rises.get)
    points = at_most(100 * rises[most], digits=2)
    assert f"by up to {points} percentage points ({most}, " in figure.get_label()
