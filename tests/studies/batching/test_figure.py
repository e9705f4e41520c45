from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from dpol.show.looks import looks_of
from dpol.studies.batching.show import draw_amplification
from legible import assert_legible, legend_texts, lines, points

SIZES, MUS, BOUNDS = (2, 10), (0.25, 1.0, 4.0), ("borell-tis", "reflection")
KINDS = ("un-amplified", "analytic", "monte-carlo", "heuristic")


def curves(bounds: tuple[str, ...] = BOUNDS, rounds: tuple[int, ...] = (7, 3)) -> pd.DataFrame:
    """Return rows for two rounds, not in the order of the panels."""
    blocks = []
    for n, mu, bound, t, kind in itertools.product(SIZES, MUS[::-1], bounds, rounds, KINDS):
        if (bound, kind) == ("reflection", "heuristic"):
            continue
        setting = {"t": t, "T": 9, "n": n, "mu": mu, "alpha": 0.1, "bound": bound, "kind": kind}
        setting |= {"delta_reported": 1e-6, "false_positive": [1e-6, 1.0]}
        setting["epsilon_at_delta"] = epsilon(n, mu, bound, kind) + t - 7
        blocks.append(pd.DataFrame(setting))
    return pd.concat(blocks, ignore_index=True)


def epsilon(n: int, mu: float, bound: str, kind: str) -> float:
    """Return a different number for every setting."""
    return mu * (1 - 0.1 * KINDS.index(kind) - 0.03 * BOUNDS.index(bound) * (kind != KINDS[0])) + n


def drawing(frame: pd.DataFrame) -> Figure:
    return draw_amplification({"amplification": frame}, None, None)


def test_it_has_the_share_of_epsilon_that_is_left() -> None:
    figure = drawing(curves())
    assert_legible(figure)
    (right,) = figure.axes
    for bound, n in itertools.product(BOUNDS, SIZES):
        estimated, analytic = (line for line in right.lines if line.get_label() == f"{bound} {n}")
        for line, kind in ((analytic, "analytic"), (estimated, "monte-carlo")):
            shares = [epsilon(n, mu, bound, kind) / epsilon(n, mu, bound, KINDS[0]) for mu in MUS]
            np.testing.assert_allclose(line.get_xdata(), MUS)
            np.testing.assert_allclose(line.get_ydata(), shares)
        name = "rw-adabatch" + "-reflection" * (bound == "reflection")
        assert {analytic.get_color(), estimated.get_color()} == {looks_of([name])[name].colour}
        assert (analytic.get_linestyle(), estimated.get_linestyle()) == ("-", "None")
        marks = [line for line in right.lines if line.get_label() == f"{bound} {n}, heuristic"]
        guesses = [
            epsilon(n, mu, bound, "heuristic") / epsilon(n, mu, bound, KINDS[0]) for mu in MUS
        ]
        assert len(marks) == (bound == "borell-tis")
        for mark in marks:
            np.testing.assert_allclose(mark.get_ydata(), guesses)
    assert legend_texts(figure)[-1] == "heuristic of the paper, not proved"
    # The further right, the more private, as in all figures.
    assert right.get_xlim()[0] > right.get_xlim()[1]
    texts = [text.get_text() for text in right.texts]
    named = ("Borell-TIS", "reflection †")
    assert texts == [f"{name},\nn = {n}" for name in named for n in SIZES]
    assert right.get_ylim()[0] == 0, "an effect looks its size"
    analytic = {
        1 - epsilon(n, mu, bound, "analytic") / epsilon(n, mu, bound, KINDS[0])
        for n, mu, bound in itertools.product(SIZES, MUS, BOUNDS)
    }
    assert f"{min(analytic):.0%} to {max(analytic):.0%}" in figure.get_label()


def test_the_first_alpha_is_drawn() -> None:
    swept = pd.concat([curves(), curves().assign(alpha=1.0, epsilon_at_delta=0.5)])
    (one,), (both,) = drawing(curves()).axes, drawing(swept).axes
    assert list(map(points, lines(one).values())) == list(map(points, lines(both).values()))
