"""Rates stated in "Private Online Learning via Lazy Algorithms": Table 1 and Figure 1."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import reduce

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from dpol.core.randomness import Floats
from dpol.core.settings import Settings
from dpol.show import panels
from dpol.show.looks import BAND, REFERENCES
from dpol.show.papers import LAZY
from dpol.show.table import Column, Group, Section, Table, TableCell
from dpol.studies.lazy.settings import Lazy
from dpol.studies.study import Facts, Frames


@dataclass(frozen=True, kw_only=True)
class Rate:
    """A rate from Table 1 or footnote 1, without constants and logarithms of T and 1/delta.

    Args:
        of: algorithm of the rate.
        formula: formula in the paper.
        value: returns the rate at (T, d, epsilon).
    """

    of: str
    formula: str
    value: Callable[[float, float, float], float]


LOSSES = {"lazy": "experts", "convex": "convex losses"}
"""What is played, by result table."""
RATES: Mapping[str, tuple[Rate, ...]] = {
    "lazy": (
        Rate(
            of="L2P",
            formula="sqrt(T log d) + T^(1/3) log(d) / ε^(2/3)",
            value=lambda T, d, e: (
                math.sqrt(T * math.log(d)) + T ** (1 / 3) * math.log(d) / e ** (2 / 3)
            ),
        ),
        Rate(
            of="prior work",
            formula="sqrt(T log d) + min(sqrt(d), T^(1/3)) log(d) / ε",
            value=lambda T, d, e: (
                math.sqrt(T * math.log(d)) + min(math.sqrt(d), T ** (1 / 3)) * math.log(d) / e
            ),
        ),
        Rate(
            of="prior work, footnote 1",
            formula="T^(2/5) / ε^(4/5)",
            value=lambda T, d, e: T ** (2 / 5) / e ** (4 / 5),
        ),
    ),
    "convex": (
        Rate(
            of="L2P",
            formula="sqrt(T) + T^(1/3) sqrt(d) / ε^(2/3)",
            value=lambda T, d, e: math.sqrt(T) + T ** (1 / 3) * math.sqrt(d) / e ** (2 / 3),
        ),
        Rate(
            of="prior work",
            formula="min(d^(1/4) sqrt(T) / sqrt(ε), sqrt(T) + T^(1/3) sqrt(d) / ε"
            " + T^(3/8) sqrt(d) / ε^(3/4))",
            value=lambda T, d, e: min(
                d ** (1 / 4) * math.sqrt(T / e),
                math.sqrt(T) + math.sqrt(d) * (T ** (1 / 3) / e + T ** (3 / 8) / e ** (3 / 4)),
            ),
        ),
    ),
}
"""Rates of Table 1, by result table."""


def rates_table(frames: Frames, settings: Settings, facts: Facts) -> Table:
    """Build the paper's Table 1 for one kind of losses: formulas, and values at the run's sizes."""
    ((name, regrets),) = frames.items()
    rates = RATES[name]
    sizes = regrets[["d", "T", "epsilon"]].drop_duplicates().sort_values(["d", "T", "epsilon"])
    places = list(sizes.itertuples(index=False, name=None))
    for rate in rates:
        sizes[rate.of] = [rate.value(T, d, epsilon) for d, T, epsilon in places]
    cells = (*(TableCell(rate.formula) for rate in rates), TableCell("—"))
    formulas = Group("any", (("any", cells),))
    return Table(
        caption=f"The paper’s Table 1: rates for {LOSSES[name]}",
        name=f"{name}-stated-rates",
        corner=("rate", "T", "privacy"),
        headers=(*(Column(rate.of, prose=True) for rate in rates), "prior work over L2P"),
        sections=(
            Section("formula", "", (formulas,)),
            *(Section(f"d = {d}", "", _values(rows)) for d, rows in sizes.groupby("d")),
        ),
        footers=(
            "Not measured. Constants, and logarithms of T and 1/δ, are left out: the values compare"
            " rates, they are not bounds.",
            *(
                ["Footnote 1 also leaves out d and the rate without privacy."]
                if name == "lazy"
                else []
            ),
            f"“{LAZY}”, Table 1.",
        ),
        numbers=sizes,
    )


def _values(sizes: pd.DataFrame) -> tuple[Group, ...]:
    """Return a group for each T, with a line for each epsilon."""
    groups = []
    for T, of_rounds in sizes.groupby("T"):
        lines = []
        for _, _, epsilon, *values in of_rounds.itertuples(index=False, name=None):
            over = TableCell(f"{values[1] / values[0]:.2f}")
            cells = (TableCell(f"{value:,.0f}") for value in values)
            lines.append((f"ε = {epsilon:g}", (*cells, over)))
        groups.append(Group(f"{T:,}", tuple(lines)))
    return tuple(groups)


_NEW, _PRIOR = REFERENCES["l2p-rate"], REFERENCES["prior-rate"]
_LOWER_BOUND = REFERENCES["switches-lower-bound"]


@dataclass(frozen=True, kw_only=True)
class RatePanel:
    """A panel: exponents b <= 1 of the regret T^b as functions of a, where eps = T^-a."""

    title: str
    new: Callable[[Floats], Floats]
    prior: Callable[[Floats], Floats]
    lower_bound: bool = False


def _largest(*terms: Floats | float) -> Floats:
    """Return the exponent of a sum of powers of T."""
    return np.asarray(reduce(np.maximum, terms))


def _least(*rates: Floats | float) -> Floats:
    """Return the exponent of the best of several rates, at most 1."""
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
"""Rates of "Private Online Learning via Lazy Algorithms", Figure 1, without logarithms."""


def draw_rates(frames: Frames, settings: Lazy, facts: Facts) -> Figure:
    """Draw the paper's Figure 1: rates of L2P, of prior work, and the lower bound if known.

    The figure is the same for all results.
    """
    a, findings = np.linspace(0, 1, 401), []
    with panels.panels(3, 3, (panels.WIDTH / 3, 1.9), "b, where regret = Tᵇ", sharey=True) as drawn:
        for ax, panel in zip(drawn.axes, RATE_PANELS, strict=True):
            ax.plot(a, panel.prior(a), **_PRIOR.line)
            ax.plot(a, panel.new(a), **_NEW.line)
            worse = a[panel.new(a) > panel.prior(a) + 1e-9]
            if len(worse):
                ax.axvspan(worse[0], worse[-1], color=BAND, linewidth=0, zorder=0)
                note = "L2P is worse\nthan prior\nwork here"
                ax.text(worse.mean(), 0.6, note, ha="center", fontsize=7)
                findings.append(f"for {panel.title}, where a is {worse[0]:.2f} to {worse[-1]:.2f}")
            if panel.lower_bound:
                ax.plot(a, panel.new(a), **_LOWER_BOUND.line)
            ax.set(title=panel.title, xlabel="a, where ε = T⁻ᵃ", xlim=(0, 1), ylim=(0.45, 1.02))
        names = {"L2P": _NEW, "prior work": _PRIOR, "lower bound for few switches": _LOWER_BOUND}
        drawn.legend([panels.key(name, **look.line) for name, look in names.items()])
        stated = "Rates stated in the paper, without logarithms"
        drawn.title(stated, "lower is better", "nothing is measured, so there are no intervals")
        drawn.find(
            "The paper’s Figure 1: the stated rate of L2P is at most that of prior work, except"
            f" {' and '.join(findings)}."
        )
    return drawn.figure
