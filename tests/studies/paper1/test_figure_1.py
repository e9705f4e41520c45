"""Figure 1 of the paper: trade-off curves of RW-AdaBatch."""

from __future__ import annotations

import functools
import itertools

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from scipy.stats import norm

from dpol.core.randomness import Floats
from dpol.studies.paper1.figure_1 import draw_figure_1
from dpol.studies.study import Facts
from legible import assert_legible, lines

SIZES, MUS = (2, 10), (0.25, 1.0, 4.0)
FALSE_POSITIVE = np.array([0.0, norm.cdf(-2), norm.cdf(-0.5), 0.5, 1.0])
HALVED = {"un-amplified": 1.0, "analytic": 0.5, "monte-carlo": 0.25, "heuristic": 0.1}
"""Share of mu that each kind leaves: batches of 4 rounds halve it."""


def gaussian(mu: float) -> Floats:
    """Return the least rates of false negatives at the rates of false positives of the test."""
    return np.asarray(norm.cdf(norm.ppf(1 - FALSE_POSITIVE) - mu))


def curves() -> pd.DataFrame:
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
    frames = {"amplification": curves(), "batching": pd.DataFrame({"replicates": [2000]})}
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
