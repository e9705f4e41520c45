"""Figure 1 of the first paper: privacy of one round, amplified by batches."""

from __future__ import annotations

from collections.abc import Mapping

import scipy
from matplotlib.figure import Figure

from dpol.core.rounding import at_most
from dpol.show import panels
from dpol.show.entries import ALGORITHMS, BATCHES, DASHED, REFERENCES, Look
from dpol.show.words import mu_title
from dpol.studies.study import Facts, Frames

_COLOUR = ALGORITHMS["rw-adabatch"].colour
_CURVES: Mapping[str, Look] = {
    "un-amplified": REFERENCES["not-amplified"],
    "analytic": Look(_COLOUR),
    "monte-carlo": Look(_COLOUR, DASHED),
}


def draw_figure_1(frames: Frames, facts: Facts) -> Figure:
    """Draw trade-off curves by the paper's bound, a panel for each number of experts and mu."""
    curves = frames["amplification"]
    first, bound = curves.iloc[0], BATCHES[curves["bound"].iloc[0]]
    shown = curves[curves["bound"] == first["bound"]]
    cells = list(shown.groupby(["n", "mu"]))
    columns, rises = shown["mu"].nunique(), dict[str, float]()
    size = panels.WIDTH / max(columns, 2), 2.1
    with panels.panels(
        len(cells), columns, size, "rate of false negatives", form=facts.form, shared="xy"
    ) as drawn:
        for ax, ((n, mu), rows) in zip(drawn.axes, cells, strict=True):
            panels.name_panel(ax, name := f"n = {n}, {mu_title(mu)}")
            for kind, curve in rows.groupby("kind"):
                if kind in _CURVES:
                    errors = curve["false_positive"], curve["false_negative"]
                    ax.plot(*errors, **_CURVES[str(kind)].line, label=str(kind))
            curve = rows[rows["kind"] == "analytic"]
            # Without batches, G_mu(x) = Phi(-(Phi^-1(x) + mu)).
            plain = scipy.special.ndtr(-scipy.special.ndtri(curve["false_positive"]) - curve["mu"])
            rises[name] = float((curve["false_negative"] - plain).max())
            ax.set(xlim=(0, 1), ylim=(0, 1))
        for ax in drawn.grid[-1]:
            ax.set_xlabel("rate of false positives")
        keys = (panels.key(BATCHES[kind].long, **look.line) for kind, look in _CURVES.items())
        drawn.legend(list(keys))
        drawn.caption(
            f"Tests for the gains of round t = {first['t']:,} of T = {first['T']:,}",
            f"α = {first['alpha']:g}",
            "all-zero gains (the worst case)",
            f"{bound.long} ({'ours' if bound.ours else 'paper'})",
            f"Monte Carlo: {frames['batching']['replicates'].iloc[0]:,} runs",
            "higher is more private",
        )
        most = max(rises, key=lambda name: rises[name])
        points = at_most(100 * rises[most], digits=2)
        drawn.find(
            "At the same rate of false positives, batches raise an attacker’s"
            f" false negatives by up to {points} percentage points ({most}, by the"
            " analytic lower bound)."
        )
    return drawn.figure
