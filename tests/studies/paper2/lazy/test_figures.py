"""The figure of measured regret; figure and table of the rates stated in the paper."""

from __future__ import annotations

import math
import re
from itertools import chain

import numpy as np
import pandas as pd
import pytest

from dpol.show.entries import BLACK, GREY, algorithm_entry, looks_of
from dpol.studies.paper2.lazy.drawn import RATES, Rate, draw_learned, draw_rates, rates_table
from dpol.studies.study import Facts
from legible import assert_legible, legend_texts, points

FACTS = Facts({}, False, 0.9)


# ---- what is learned -----------------------------------------------------------------------------


def longest(best: str, free: str) -> pd.DataFrame:
    """Return regrets; the smallest without privacy is 200 (d = 10) and 600 (d = 300)."""
    rows = [
        ("l2p-sound", 10, "central", 400.0),  # 600 of 800
        ("l2p-sound", 300, "central", 800.0),  # 200 of 400
        (best, 10, "central", 200.0),  # all
        (best, 300, "central", 700.0),  # 300 of 400
        (free, 10, "none", 200.0),
        (free, 300, "none", 600.0),
        ("a worse one", 10, "none", 201.0),
        ("a worse one", 300, "none", 900.0),
    ]
    about = {"T": 1000, "epsilon": 1.0, "ci_half_width": 80.0}
    runs = {"replicates": 20, "confidence": 0.9, "ci_comparisons": 6}
    return pd.DataFrame(rows, columns=["algorithm", "d", "model", "mean_regret"]).assign(
        **about, **runs
    )


STOCHASTIC, LINEAR = {"adversary": "stochastic"}, {"loss": "linear"}
EXPERTS = longest("mf-ftpl", "multiplicative-weights").assign(**STOCHASTIC, uniform_regret=1000.0)
BALL = longest("mf-dp-ftrl", "gradient-descent").assign(**LINEAR, still_regret=1000.0)


@pytest.mark.parametrize(
    ("name", "rows", "game", "best", "idle", "free"),
    [
        ("lazy", EXPERTS, STOCHASTIC, "mf-ftpl", "uniform random", "multiplicative weights"),
        ("convex", BALL, LINEAR, "mf-dp-ftrl", "a point that never moves", "gradient descent"),
    ],
)
def test_algorithms_are_ranked_by_what_they_learn_in_the_longest_games(
    name: str, rows: pd.DataFrame, game: dict[str, str], best: str, idle: str, free: str
) -> None:
    shorter = rows.assign(T=100, mean_regret=0.0)
    # Of the two games the best is level with the other in one; other games do not count.
    pair = {**game, "epsilon": 1.0, "algorithm": "l2p-sound", "other_algorithm": best}
    verdicts = {"T": [1000, 1000, 100], "d": [10, 300, 10]}
    verdicts["verdict"] = ["above", "undecided", "undecided"]
    pairs = pd.DataFrame(verdicts).assign(**pair)
    both = {name: pd.concat([shorter, rows]), f"{name}_pairs": pairs}
    figure = draw_learned(both, FACTS)
    assert_legible(figure)
    (ax,) = figure.axes
    assert ax.get_title(loc="left") == f"{next(iter(game.values()))} losses, ε = 1"
    first = algorithm_entry(best).marked
    names = [algorithm_entry("l2p-sound").marked, first]  # the best on top
    assert [label.get_text() for label in ax.get_yticklabels()] == names
    marks = [line for line in ax.lines if line.get_marker() not in ("", "None")]
    shares = {(round(float(y)), mark.get_markerfacecolor() == "white"): float(x)
              for mark in marks for x, y in points(mark)}  # fmt: skip
    assert shares == pytest.approx(
        {(0, False): 0.75, (0, True): 0.5, (1, False): 1.0, (1, True): 0.75}
    )
    bars = {tuple(np.round(np.asarray(line.get_xdata(), dtype=float), 9)) for line in ax.lines}
    assert {(0.65, 0.85), (0.3, 0.7)} <= bars  # 80 of 800 and of 400
    assert legend_texts(figure) == ["d = 10", "d = 300"]
    shown = " ".join(" ".join(text.get_text() for text in figure.texts).split())
    assert f"0%: {idle}; 100%: the best without privacy, {free} ·" in shown
    assert figure.get_label() == (
        f"{first[:1].upper()}{first[1:]} is best in 2 of 2 games."
        " In 1 of them another may be as good. The best learns 75% to 100% of the most that is"
        " learned without privacy."
    )


def test_the_whole_is_the_best_without_privacy_in_each_game() -> None:
    """Games have epsilons of their own: a panel for each pair that was played, with its best."""
    turns = longest("mf-ftpl", "follow-the-leader").assign(
        adversary="alternating", uniform_regret=1000.0, epsilon=0.1
    )
    both = pd.concat([EXPERTS, EXPERTS.assign(epsilon=4.0), turns], ignore_index=True)
    pairs = turns.assign(other_algorithm="none", verdict="above")
    figure = draw_learned({"lazy": both, "lazy_pairs": pairs}, FACTS)
    assert_legible(figure)
    titles = [ax.get_title(loc="left") for ax in figure.axes if ax.get_visible() and ax.lines]
    assert titles == [
        *("stochastic losses, ε = 4", "stochastic losses, ε = 1"),
        "alternating losses, ε = 0.1",
    ]
    shown = " ".join(" ".join(text.get_text() for text in figure.texts).split())
    assert "100%: the best without privacy, multiplicative weights or follow the leader ·" in shown


# ---- the rates of the paper ----------------------------------------------------------------------

EXPONENTS = [
    # new and prior at a = 0, 1/4, 1/2, 1
    ([1 / 2, 1 / 2, 2 / 3, 1], [1 / 2, 7 / 12, 3 / 4, 1]),
    ([1 / 2, 2 / 3, 5 / 6, 1], [13 / 24, 17 / 24, 5 / 6, 1]),
    ([1 / 2, 1 / 2, 2 / 3, 1], [1 / 2, 7 / 12, 4 / 5, 1]),
]
"""Rates by hand. Prior of the first at 1/4: min(5/8, max(1/2, 7/12, 9/16)) = 7/12; at 1/2: min(3/4,
max(5/6, 3/4)) = 3/4. Of the second at 0: min(7/12, max(1/2, 1/2, 13/24)); at 1/4: min(17/24,
max(3/4, 35/48)); at 1/2: min(5/6, max(1, 11/12)). Of the third at 1/4: min(3/4, 7/12, 3/5); at 1/2:
min(1, 5/6, 4/5). At 1 all are capped.
"""
POINTS = np.array([0.0, 0.25, 0.5, 1.0])


def test_the_figure_of_rates_shows_them() -> None:
    figure = draw_rates({}, FACTS)
    row = figure.axes
    for ax, (new, prior) in zip(row, EXPONENTS, strict=True):
        for colour, expected in ((looks_of(["l2p"])["l2p"].colour, new), (GREY, prior)):
            (line,) = [line for line in ax.lines if line.get_color() == colour]
            ys = np.interp(POINTS, np.asarray(line.get_xdata()), np.asarray(line.get_ydata()))
            np.testing.assert_allclose(ys, expected, rtol=1e-9)
    # Where L2P is worse, and only there, the panel says so.
    assert [len(ax.texts) for ax in row] == [0, 1, 0]
    (shade,) = row[1].patches
    assert shade.get_extents().transformed(row[1].transData.inverted()).intervalx == pytest.approx(
        [0.5, 5 / 6], abs=0.01
    )
    assert_legible(figure)
    # By hand, for few experts: 1/3 + 2a/3 against max(1/2, a).
    assert (
        "above that of prior work for convex losses, d = ∛T, where a is 0.50 to 0.83 and for few"
        " experts, where a is 0.25 to 1.00 (no panel)."
    ) in figure.get_label()
    # The lower bound, where it is known, is the new rate.
    bounds = [[line for line in ax.lines if line.get_color() == BLACK] for ax in row]
    assert [len(lines) for lines in bounds] == [0, 0, 1]
    np.testing.assert_allclose(
        np.interp(POINTS, *np.asarray(bounds[2][0].get_xydata()).T), EXPONENTS[2][0], rtol=1e-9
    )


@pytest.mark.parametrize("rate", [*chain(*RATES.values())], ids=lambda rate: rate.formula)
def test_a_rate_is_the_value_of_its_formula(rate: Rate) -> None:
    """At these sizes, each argument of a minimum is the smaller one once."""
    formula = re.sub(r"(?<=[)\w]) (?=[a-z])", "*", rate.formula.replace("log d", "log(d)"))
    for T, d, epsilon in ((1e6, 50.0, 1 / 8), (1e3, 300.0, 4.0), (1e8, 4.0, 1.0)):
        sizes = {"T": T, "d": d, "ε": epsilon}
        expected = eval(formula.replace("^", "**"), {**vars(math), "min": min, **sizes})
        assert rate.value(T, d, epsilon) == pytest.approx(expected)


@pytest.mark.parametrize("name", ["lazy", "convex"])
def test_the_table_of_rates_has_formulas_and_values_at_the_sizes_of_the_run(name: str) -> None:
    sizes = [(1000, 300, 4.0), (1000, 300, 0.5), (20, 300, 0.5), (20, 7, 0.5)]
    rows = pd.DataFrame(2 * sizes, columns=["T", "d", "epsilon"]).sample(frac=1, random_state=1)
    table = rates_table({name: rows}, FACTS)
    first, *values = table.sections
    ((_, formulas),) = first.groups[0].lines
    assert [cell.text for cell in formulas[:-1]] == [rate.formula for rate in RATES[name]]
    assert [(section.title, [group.title for group in section.groups]) for section in values] == [
        ("d = 7", ["20"]),
        ("d = 300", ["20", "1,000"]),
    ]
    label, cells = values[1].groups[1].lines[1]
    stated = [rate.value(1000, 300, 4.0) for rate in RATES[name]]
    assert label == "ε = 4"
    assert [cell.text for cell in cells[:-1]] == [f"{value:,.0f}" for value in stated]
    assert cells[-1].text == f"{stated[1] / stated[0]:.2f}"
