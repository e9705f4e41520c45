"""The figure of rates: Figure 1 of "Private Online Learning via Lazy Algorithms"."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce

import numpy as np
from matplotlib.figure import Figure

from dpol.core.randomness import Floats
from dpol.show import panels
from dpol.show.looks import BAND, BLACK, DASHED, DOTTED, GREY, Look
from dpol.studies.lazy.settings import Lazy
from dpol.studies.looks import looks_of
from dpol.studies.study import Facts, Frames

_PRIOR = Look(GREY, DASHED)
_LOWER_BOUND = Look(BLACK, DOTTED, width=2.0)


@dataclass(frozen=True, kw_only=True)
class RatePanel:
    """One panel: exponents b of regret T^b, at most 1, as functions of a, where eps = T^-a."""

    title: str
    new: Callable[[Floats], Floats]
    prior: Callable[[Floats], Floats]
    lower_bound: bool = False


def _largest(*terms: Floats | float) -> Floats:
    """The exponent of a sum of powers of T."""
    return np.asarray(reduce(np.maximum, terms))


def _least(*rates: Floats | float) -> Floats:
    """The exponent of the best of several rates, at most 1."""
    return np.minimum(1.0, reduce(np.minimum, rates))


RATE_PANELS = (
    RatePanel(
        title="convex losses, d = polylog T",
        new=lambda a: _least(_largest(1 / 2, 1 / 3 + 2 * a / 3)),
        prior=lambda a: _least(1 / 2 + a / 2, _largest(1 / 2, 1 / 3 + a, 3 / 8 + 3 * a / 4)),
    ),
    RatePanel(
        title="convex losses, d = ∛T",
        new=lambda a: _least(_largest(1 / 2, 1 / 2 + 2 * a / 3)),
        prior=lambda a: _least(
            1 / 12 + 1 / 2 + a / 2, _largest(1 / 2, 1 / 2 + a, 13 / 24 + 3 * a / 4)
        ),
    ),
    RatePanel(
        title="experts, d = T",
        new=lambda a: _least(_largest(1 / 2, 1 / 3 + 2 * a / 3)),
        prior=lambda a: _least(
            1 / 2 + a, _largest(1 / 2, 1 / 3 + a), _largest(1 / 2, 2 / 5 + 4 * a / 5)
        ),
        lower_bound=True,
    ),
)
"""Rates of "Private Online Learning via Lazy Algorithms", Figure 1; logarithms dropped."""


def draw_rates(frames: Frames, settings: Lazy, facts: Facts) -> Figure:
    """The paper's Figure 1: rates of L2P and prior work, and the lower bound where known.

    No result changes it.
    """
    a = np.linspace(0, 1, 401)
    new = Look(looks_of(["l2p"])["l2p"].colour, width=1.4)
    with panels.panels(3, 3, (panels.WIDTH / 3, 1.9), "b, where regret = Tᵇ", sharey=True) as drawn:
        for ax, panel in zip(drawn.axes, RATE_PANELS, strict=True):
            ax.plot(a, panel.prior(a), **_PRIOR.line)
            ax.plot(a, panel.new(a), **new.line)
            worse = a[panel.new(a) > panel.prior(a) + 1e-9]
            if len(worse):
                ax.axvspan(worse[0], worse[-1], color=BAND, linewidth=0, zorder=0)
                note = "here L2P is\nworse than\nprior work"
                ax.text(worse.mean(), 0.6, note, ha="center", fontsize=7)
            if panel.lower_bound:
                ax.plot(a, panel.new(a), **_LOWER_BOUND.line)
            ax.set(title=panel.title, xlabel="a, where ε = T⁻ᵃ", xlim=(0, 1), ylim=(0.45, 1.02))
        names = {"L2P": new, "prior work": _PRIOR, "lower bound for few switches": _LOWER_BOUND}
        drawn.legend([panels.key(name, **look.line) for name, look in names.items()])
        stated = "Rates as the paper states them, logarithms dropped"
        drawn.title(stated, "lower is better", "nothing here is measured: no intervals")
    return drawn.figure
