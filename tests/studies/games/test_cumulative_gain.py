"""Figure of cumulative gains."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure

from dpol.studies.games.cumulative_gain import ENVELOPE_LABEL, draw_cumulative_gain
from dpol.studies.games.settings import BEST_FIXED, ORACLE, UNIFORM, Games, Report
from dpol.studies.study import Facts
from legible import assert_legible, legend_texts, lines, plain

INF = math.inf
ROUNDS = np.arange(1, 7)
TITLES = {"nm": "New Mexico", "ca": "A & B_<c>% $x$"}
STREAMS = dict.fromkeys(TITLES)
LEVELS = {"none": INF, "low": 1.0, "high": 0.25}
ALGORITHMS = ["rw-meta", "tree-ftpl-min-noise", "follow-the-leader"]
# Algorithm, family, noise, gain in each round.
PLAYED = [
    ("rw-meta", "rw-meta", "isotropic", 0.6),
    ("tree-ftpl-min-noise", "tree", "isotropic", 0.2),
    ("ridge-w8-weak", "ridge", "isotropic", 0.4),
    ("ridge-w64-weak", "ridge", "isotropic", 0.7),
    ("ridge-w8-weak", "ridge", "capacity", 9.0),
]
WITHOUT = [
    (BEST_FIXED, BEST_FIXED, "none", 0.5, math.nan),
    ("follow-the-leader", "follow-the-leader", "none", 0.3, INF),
]


def cumulative() -> pd.DataFrame:
    settings = [(*run, mu) for mu in LEVELS.values() for run in PLAYED] + WITHOUT
    days = pd.date_range("2020-08-09", periods=len(ROUNDS), freq="7D")
    key = ("stream", "algorithm", "family", "noise", "mu")
    blocks = []
    for stream, (algorithm, family, noise, gain, mu) in itertools.product(STREAMS, settings):
        setting = dict(zip(key, (stream, algorithm, family, noise, mu), strict=True))
        numbers = {"mean_cumulative_gain": gain * ROUNDS, "ci_half_width": 0.1}
        blocks.append(pd.DataFrame({**setting, "round": ROUNDS, "period": days, **numbers}))
    return pd.concat(blocks)


def draw(
    frame: pd.DataFrame | None = None,
    *,
    simulated: bool = False,
    cell: dict[str, Any] | None = None,
    **report: Any,
) -> Figure:
    report = Report(**{"algorithms": ALGORITHMS} | report)
    main, facts = Games(report=report), Facts(TITLES, simulated, 0.95, levels=LEVELS)
    of_cell = {"algorithm": "rw-meta", "noise": "isotropic", "mu": INF, "guaranteed_mu": INF}
    summary = pd.DataFrame({"stream": list(TITLES), "n_experts": 24, **of_cell, **(cell or {})})
    frames = {"cumulative": cumulative() if frame is None else frame, "summary": summary}
    return draw_cumulative_gain(frames, main, facts)


def envelopes(axes: Axes) -> list[PolyCollection]:
    return [artist for artist in axes.collections if artist.get_label() == ENVELOPE_LABEL]


def test_panels_have_the_right_artists() -> None:
    figure = draw()
    assert_legible(figure)
    for row in (figure.axes[:3], figure.axes[3:]):
        assert len({(*axes.get_xlim(), *axes.get_ylim()) for axes in row}) == 1
        assert row[0].get_ylim()[0] == 0
    for axes, (_, mu) in zip(figure.axes, itertools.product(STREAMS, LEVELS.values()), strict=True):
        expected = {"rw-meta", "tree-ftpl-min-noise", BEST_FIXED, UNIFORM, ORACLE}
        expected |= {"follow-the-leader"} if mu == INF else set()
        drawn = lines(axes)
        assert set(drawn) == expected
        assert len(envelopes(axes)) == 1
        assert len(axes.collections) == len(expected) - 2  # envelope, a band for each algorithm
        assert np.allclose(drawn["rw-meta"].get_ydata(), 0.6 * ROUNDS)


def test_an_algorithm_that_always_adds_noise_is_not_shown_without_privacy() -> None:
    figure = draw(cell={"algorithm": "tree-ftpl-min-noise", "guaranteed_mu": 0.155})
    shown = ["tree-ftpl-min-noise" in lines(axes) for axes in figure.axes]
    assert shown == [False, True, True] * 2
    note = "no privacy: without tree-ftpl-min-noise, which always adds noise"
    assert note in plain(figure.get_suptitle())
    for other in (draw(), draw(cell={"noise": "capacity", "guaranteed_mu": 0.155})):
        assert "always adds" not in plain(other.get_suptitle())
        assert "rw-meta" in lines(other.axes[0])


def test_envelope_is_the_range_of_the_family_at_the_reported_noise() -> None:
    (polygon,) = envelopes(draw().axes[0])
    vertices = np.asarray(polygon.get_paths()[0].vertices)
    last = vertices[vertices[:, 0] == vertices[:, 0].max(), 1]
    assert (last.min(), last.max()) == pytest.approx((0.4 * 6, 0.7 * 6))
    without = draw(envelope="kalman")
    assert not any(envelopes(axes) for axes in without.axes)
    assert len(legend_texts(without)) == len(ALGORITHMS) + 4


def test_titles_and_legend() -> None:
    figure = draw()
    titles = [axes.get_title() for axes in figure.axes[:3]]
    assert titles == ["no privacy (μ = ∞)", "μ = 1", "μ = 0.25"]
    titles = [plain(axes.get_ylabel()) for axes in figure.axes[::3]]
    assert titles == [f"{title} (n = 24)" for title in TITLES.values()]
    assert not any(axes.yaxis.label.get_parse_math() for axes in figure.axes[::3])  # "$x$" as it is
    others = ["oracle", "best fixed expert", "uniform random", "range of the 2 ridge learners"]
    others += ["shade in a line's colour: its interval"]
    assert legend_texts(figure) == ALGORITHMS + others
    title = plain(draw(confidence=0.9).get_suptitle())
    assert title.startswith("Real data, 2020-08-09 to 2020-09-13")
    assert "joint 90% intervals for the noise" in title
    simulated = plain(draw(simulated=True).get_suptitle())
    assert simulated.startswith("Simulated data, not measurements")


def test_other_noise_is_drawn_and_named() -> None:
    frame = cumulative()
    meta = frame[frame["algorithm"] == "rw-meta"].assign(noise="capacity")
    meta["mean_cumulative_gain"] += 1
    both = pd.concat([frame, meta])
    figure = draw(both, noise="capacity")
    for drawn, shift in ((figure, 1.0), (draw(both), 0.0)):
        assert np.allclose(lines(drawn.axes[0])["rw-meta"].get_ydata(), 0.6 * ROUNDS + shift)
    named = ["rw-meta", "tree-ftpl-min-noise (isotropic)", "follow-the-leader"]
    assert legend_texts(figure)[:3] == named
    assert "capacity noise (not in the paper)" in plain(figure.get_suptitle())


def test_rounds_without_dates_are_counted() -> None:
    figure = draw(cumulative().assign(period=pd.NaT))
    for axes in figure.axes:
        assert lines(axes)["rw-meta"].get_xdata().tolist() == list(ROUNDS)
        assert all(tick == int(tick) for tick in axes.get_xticks())
        (shade,) = envelopes(axes)
        assert set(shade.get_paths()[0].vertices[:, 0]) == set(ROUNDS)
    assert "Real data, rounds 1 to 6" in plain(figure.get_suptitle())
