"""The paper's Figure 2 on the streams of a run."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.dates import date2num
from matplotlib.figure import Figure

from dpol.show.entries import ALGORITHMS
from dpol.studies.games.names import BEST_FIXED
from dpol.studies.paper1.figure_2 import RANGE_LABEL, draw_figure_2
from legible import assert_legible, legend_texts, lines, plain
from paper_run import FACTS, frames

LABELS = ("rw-meta", "tree-ftpl-min-noise", "tree-ftpl-min-regret")
LEVELS = [math.inf, 1.0, 0.25]  # no privacy first, though the run has it second


@pytest.fixture(scope="module")
def figure() -> Figure:
    return draw_figure_2(frames(), FACTS)


def shade(ax: Axes) -> PolyCollection:
    """Return the range of the linear models."""
    (found,) = [artist for artist in ax.collections if artist.get_label() == RANGE_LABEL]
    return found


def curve(rows: pd.DataFrame) -> np.ndarray:
    return rows.sort_values("round")["mean_cumulative_gain"].to_numpy()


def test_a_panel_has_the_papers_lines_and_that_of_a_variant(figure: Figure) -> None:
    assert_legible(figure)
    assert {"range of the 12 linear models", "careful, not in the paper"} < {*legend_texts(figure)}
    rows = frames()["cumulative"]
    rows = rows[rows["noise"].isin(["isotropic", "none"])]
    cells = itertools.product(FACTS.streams, LEVELS)
    for ax, (stream, mu) in zip(figure.axes, cells, strict=True):
        own = rows[(rows["stream"] == stream) & ((rows["mu"] == mu) | rows["mu"].isna())]
        drawn = lines(ax)
        assert set(drawn) == {*LABELS, "careful", BEST_FIXED}
        for label, line in drawn.items():
            assert np.array_equal(line.get_ydata(), curve(own[own["algorithm"] == label]))
            assert label not in ALGORITHMS or line.get_color() == ALGORITHMS[label].colour
        assert len({(it.get_color(), it.get_linestyle()) for it in drawn.values()}) == len(drawn)
        models = [curve(rows) for _, rows in own[own["family"] == "ridge"].groupby("algorithm")]
        assert len(models) == 12
        vertices = np.asarray(shade(ax).get_paths()[0].vertices)
        last = vertices[vertices[:, 0] == vertices[:, 0].max(), 1]
        ends = [model[-1] for model in models]
        assert (last.min(), last.max()) == pytest.approx((min(ends), max(ends)))


def test_the_finding_counts_panels_by_their_last_round() -> None:
    cumulative = frames()["cumulative"].copy()
    fixed = cumulative.loc[cumulative["algorithm"] == BEST_FIXED].set_index(["stream", "round"])
    meta = (cumulative["algorithm"] == "rw-meta") & (cumulative["noise"] == "isotropic")
    key = pd.MultiIndex.from_frame(cumulative.loc[meta, ["stream", "round"]])
    lead = cumulative.loc[meta, "mu"].map({math.inf: 1.0, 1.0: 0.05, 0.25: -0.2})
    gains = fixed["mean_cumulative_gain"].loc[key].to_numpy() + lead
    cumulative.loc[meta, "mean_cumulative_gain"] = gains
    cumulative.loc[meta, "ci_half_width"] = 0.1
    figure = draw_figure_2(frames() | {"cumulative": cumulative}, FACTS)
    assert figure.get_label() == (
        "RW-Meta ends above the best fixed expert in 2 of 6 panels, and below it in 2."
    )


def test_rounds_without_dates_are_counted(figure: Figure) -> None:
    assert lines(figure.axes[0])["rw-meta"].get_xdata()[0] == date2num(np.datetime64("2021-01-01"))
    cumulative = frames()["cumulative"].assign(period=pd.NaT)
    undated = draw_figure_2(frames() | {"cumulative": cumulative}, FACTS)
    for ax in undated.axes:
        assert lines(ax)["rw-meta"].get_xdata().tolist() == list(range(1, 13))
        assert all(tick == int(tick) for tick in ax.get_xticks())
        assert set(shade(ax).get_paths()[0].vertices[:, 0]) == set(range(1, 13))
    assert "Real data, rounds 1 to 12" in plain(undated.texts[-1].get_text())
