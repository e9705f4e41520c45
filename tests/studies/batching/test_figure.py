"""The figure of amplified trade-off curves."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from dpol.show import style
from dpol.studies.batching.figure import draw

SIZES, MUS, BOUNDS = (2, 10), (0.25, 1.0, 4.0), ("borell-tis", "reflection")
KINDS = ("un-amplified", "analytic", "monte-carlo")
RATES = np.array([1e-6, 0.01, 0.5, 1.0])


def missed(n: int, mu: float, bound: str, kind: str, t: int) -> np.ndarray:
    """A curve that tells its setting from all others."""
    height = 1 - 0.1 * KINDS.index(kind) - 0.03 * BOUNDS.index(bound) * (kind != KINDS[0])
    return (height - 0.01 * mu - 0.001 * n - 0.0001 * t) * (1 - RATES)


def curves(bounds: tuple[str, ...] = BOUNDS, rounds: tuple[int, ...] = (7, 3)) -> pd.DataFrame:
    """Rows in an order that is not that of the panels, for two rounds."""
    blocks = []
    for n, mu, bound, t, kind in itertools.product(SIZES, MUS[::-1], bounds, rounds, KINDS):
        facts = {"t": t, "T": 9, "n": n, "mu": mu, "alpha": 0.1, "bound": bound, "kind": kind}
        rates = {"false_positive": RATES, "false_negative": missed(n, mu, bound, kind, t)}
        blocks.append(pd.DataFrame({**facts, **rates}))
    return pd.concat(blocks, ignore_index=True)


def drawing(frame: pd.DataFrame) -> Figure:
    return draw({"amplification": frame}, None, None)


def panels(figure: Figure) -> dict[tuple[int, bool, float], Axes]:
    """Axes by number of experts, logarithmic or not, and mu."""
    keys = itertools.product(SIZES, (False, True), MUS)
    return dict(zip(keys, figure.axes, strict=True))


def drawn(ax: Axes) -> list[Line2D]:
    """The curves; the line of perfect privacy is grey."""
    return [line for line in ax.lines if line.get_color() != style.GREY]


def test_there_is_a_panel_per_experts_axes_and_mu() -> None:
    figure = drawing(curves())
    assert len(figure.axes) == 2 * 2 * 3
    for (n, logarithmic, mu), ax in panels(figure).items():
        scale = "log" if logarithmic else "linear"
        assert (ax.get_xscale(), ax.get_yscale()) == (scale, scale)
        name = "true positive rate" if logarithmic else "false negative rate"
        assert ax.get_ylabel() == (f"n = {n}\n{name}" if mu == MUS[0] else "")
    assert [ax.get_title() for ax in figure.axes[:3]] == ["μ = 0.25", "μ = 1", "μ = 4"]
    assert not any(ax.get_title() for ax in figure.axes[3:])
    assert [ax.get_xlabel() for ax in figure.axes] == 9 * [""] + 3 * ["false positive rate"]


def test_every_panel_shows_its_own_curves_of_the_first_round() -> None:
    looks = {(style.BLACK, ":"): ("borell-tis", "un-amplified")}
    names = {"borell-tis": "rw-adabatch", "reflection": "rw-adabatch-reflection"}
    for bound, name in names.items():
        colour = style.ALGORITHM_STYLES[name].colour
        looks |= {(colour, "-"): (bound, "analytic"), (colour, "--"): (bound, "monte-carlo")}
    for (n, logarithmic, mu), ax in panels(drawing(curves())).items():
        lines = {(line.get_color(), line.get_linestyle()): line for line in drawn(ax)}
        assert len(drawn(ax)) == 5
        assert set(lines) == set(looks)
        (perfect,) = [line for line in ax.lines if line.get_color() == style.GREY]
        x, y = np.asarray(perfect.get_xydata()).T
        np.testing.assert_allclose(y, x if logarithmic else 1 - x)
        for look, (bound, kind) in looks.items():
            rate = missed(n, mu, bound, kind, 7)
            np.testing.assert_array_equal(lines[look].get_xdata(), RATES)
            np.testing.assert_allclose(lines[look].get_ydata(), 1 - rate if logarithmic else rate)


def test_title_and_legend_say_what_is_shown() -> None:
    figure = drawing(curves())
    suptitle = "Central trade-off functions for round t = 7 of T = 9, α = 0.1, all-zero gains"
    assert figure.get_suptitle() == suptitle
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == [
        "perfect privacy",
        "not amplified",
        "Borell-TIS bound (paper): analytic lower bound",
        "Borell-TIS bound (paper): Monte Carlo estimate",
        "reflection bound (ours): analytic lower bound",
        "reflection bound (ours): Monte Carlo estimate",
    ]


def test_a_bound_that_was_not_studied_is_not_in_the_legend() -> None:
    figure = drawing(curves(bounds=("reflection",)))
    texts = [text.get_text() for text in figure.legends[0].get_texts()]
    assert len(texts) == 4
    assert not any("Borell" in text for text in texts)
    for ax in figure.axes:
        shown = [line for line in drawn(ax) if len(np.asarray(line.get_xdata()))]
        assert len(shown) == 3
