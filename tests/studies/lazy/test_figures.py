"""Figures of measured regret, and of the rates stated in the paper."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dpol.show.looks import BLACK, GREY, looks_of
from dpol.studies.lazy.rates import draw_rates
from dpol.studies.lazy.regrets_shown import TITLES, draw_learned, draw_regret
from dpol.studies.lazy.study import STUDY
from dpol.studies.study import Facts
from legible import assert_legible, legend_texts, points

SETTINGS = STUDY.settings.model_construct()
FACTS = Facts({}, False, 0.9)
ROUNDS = (10_000, 100, 1000)
ALGORITHMS = ("l2p-sound", "l2p-theorem-3.12", "dp-ftrl", "gradient-descent")


def regret(T: int, d: int, epsilon: float, algorithm: int) -> float:
    """Return a different number for every setting."""
    return math.sqrt(T) * (1 + d / 10 + algorithm / 7) + 3 / epsilon


def table(sizes: tuple[int, ...] = (2, 10, 30)) -> pd.DataFrame:
    """Return rows with T and epsilon unsorted."""
    rows = []
    for T, d, epsilon, (number, algorithm) in itertools.product(
        ROUNDS, sizes, (4.0, 0.5), enumerate(ALGORITHMS)
    ):
        value = regret(T, d, epsilon, number)
        setting = {"T": T, "d": d, "epsilon": epsilon, "algorithm": algorithm}
        rows.append({**setting, "mean_regret": value, "ci_half_width": value / 10})
    facts = {"loss": "linear", "body": "ball", "delta": 1e-6, "replicates": 20}
    return pd.DataFrame(rows).assign(**facts, confidence=0.9, ci_comparisons=48)


def draw(rows: pd.DataFrame) -> Figure:
    return draw_regret({"convex": rows}, SETTINGS, FACTS)


def marks(ax: Axes) -> dict[tuple[int, bool], float]:
    """Return mean regret by the algorithm's place from above, and whether the marker is hollow."""
    lines = [line for line in ax.lines if line.get_marker() not in ("", "None")]
    return {
        (-round(float(y) + 0.1), line.get_markerfacecolor() == "white"): float(x)
        for line in lines
        for x, y in points(line)
    }


def test_every_panel_has_the_regrets_of_its_setting() -> None:
    """There is a column per T, a row per d, a line per algorithm, and a marker per epsilon."""
    figure = draw_regret({"convex": table()}, SETTINGS, FACTS)
    assert_legible(figure)
    cells = itertools.product((2, 10, 30), sorted(ROUNDS))
    for ax, (d, T) in zip(figure.axes, cells, strict=True):
        assert ax.get_title(loc="left") == f"linear, ball, d = {d}, T = {T:,}"
        expected = {
            (number, epsilon < 1): regret(T, d, epsilon, number)
            for number in range(len(ALGORITHMS))
            for epsilon in (4.0, 0.5)
        }
        assert marks(ax) == pytest.approx(expected)
        # Bars: from 0.9 to 1.1 of the mean here.
        ends = {tuple(np.asarray(line.get_xdata(), dtype=float)) for line in ax.lines}
        for mean in expected.values():
            assert any(end == pytest.approx((0.9 * mean, 1.1 * mean)) for end in ends)
        low, high = zip(ax.get_xlim(), ax.get_ylim(), strict=True)
        drawn = np.array([point for line in ax.lines for point in points(line)])
        assert ((drawn > low) & (drawn < high)).all()
    assert legend_texts(figure) == ["ε = 4", "ε = 0.5"]
    # By hand: the first private algorithm has the least regret wherever it plays.
    assert figure.get_label() == (
        f"Least regret with privacy after 10,000 rounds: {TITLES['l2p-sound']} in 6 of 6 cases"
        " (losses, d and ε)."
    )


def test_negative_regrets_are_not_drawn() -> None:
    rows = table(sizes=(2,))
    chosen = (rows["algorithm"] == "gradient-descent") & (rows["T"] == 1000)
    rows.loc[chosen, "mean_regret"] = -5.0
    drawn = [{place for place, _ in marks(ax)} for ax in draw(rows).axes]
    assert drawn == [{0, 1, 2, 3}, {0, 1, 2}, {0, 1, 2, 3}]


# ---- what experts learn --------------------------------------------------------------------------


def learned() -> Figure:
    """Draw: uniform random 1000, no privacy 200 (d = 10) and 600 (d = 300); regrets by hand."""
    regrets = {
        ("l2p-sound", 10, 1.0): 400.0,  # 600 of 800
        ("l2p-sound", 300, 1.0): 800.0,  # 200 of 400
        ("mf-ftpl", 10, 1.0): 200.0,  # all
        ("mf-ftpl", 300, 1.0): 700.0,  # 300 of 400
        ("multiplicative-weights", 10, 1.0): 200.0,
        ("multiplicative-weights", 300, 1.0): 600.0,
    }
    longest = pd.DataFrame(
        {"algorithm": name, "d": d, "epsilon": epsilon, "mean_regret": value}
        for (name, d, epsilon), value in regrets.items()
    ).assign(T=1000, adversary="stochastic", uniform_regret=1000.0, ci_half_width=80.0)
    others = [longest.assign(T=100, mean_regret=0.0), longest.assign(adversary="lower-bound")]
    rows = pd.concat([*others, longest]).assign(replicates=20, confidence=0.9, ci_comparisons=6)
    return draw_learned({"lazy": rows}, SETTINGS, FACTS)


def test_algorithms_are_ranked_by_what_they_learn_in_the_longest_games() -> None:
    figure = learned()
    assert_legible(figure)
    (ax,) = figure.axes
    names = [label.get_text() for label in ax.get_yticklabels()]
    assert names == [TITLES["l2p-sound"], TITLES["mf-ftpl"]]  # the best on top
    marks = [line for line in ax.lines if line.get_marker() not in ("", "None")]
    shares = {(round(float(y)), mark.get_markerfacecolor() == "white"): float(x)
              for mark in marks for x, y in points(mark)}  # fmt: skip
    assert shares == pytest.approx(
        {(0, False): 0.75, (0, True): 0.5, (1, False): 1.0, (1, True): 0.75}
    )
    bars = {tuple(np.round(np.asarray(line.get_xdata(), dtype=float), 9)) for line in ax.lines}
    assert {(0.65, 0.85), (0.3, 0.7)} <= bars  # 80 of 800 and of 400
    # The winners that it shows, one for each number of experts.
    name = TITLES["mf-ftpl"]
    assert figure.get_label() == (
        "Learns most, where multiplicative weights without privacy are 100%: at ε = 1"
        f" {name} (100% for d = 10) and {name} (75% for d = 300)."
    )


# ---- the rates of the paper ----------------------------------------------------------------------

RATES = [
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
    figure = draw_rates({}, SETTINGS, FACTS)
    row = figure.axes
    for ax, (new, prior) in zip(row, RATES, strict=True):
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
    assert "except for convex losses, d = ∛T, where a is 0.50 to 0.83." in figure.get_label()
    # The lower bound, where it is known, is the new rate.
    bounds = [[line for line in ax.lines if line.get_color() == BLACK] for ax in row]
    assert [len(lines) for lines in bounds] == [0, 0, 1]
    np.testing.assert_allclose(
        np.interp(POINTS, *np.asarray(bounds[2][0].get_xydata()).T), RATES[2][0], rtol=1e-9
    )
