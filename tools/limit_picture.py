"""The figure of how much noise design has left, docs/images/noise-limit.png, for pictures.py."""

from __future__ import annotations

import itertools

import numpy as np
from matplotlib.figure import Figure

from dpol.core.words import counted
from dpol.privacy.chains import designed
from dpol.privacy.noise_limit import Holder, least_variance, share_covariance
from dpol.show import panels
from dpol.show.looks import DASHED, GREY, SHORT, SOLID, Look
from dpol.studies.claims.limit import FAST, SLOW

WEEKS, STAYS, LEVELS = 52, (1, 2, 4), (0.0354, 0.0707, 0.1414, 0.283)
LINES = {
    "limit of all linear Gaussian noise (bound)": Look(GREY, SOLID, "v"),
    "best one number of memory": Look("#0D0887", SOLID, "o"),
    "one report in a stay, one number of memory": Look("#B12A90", DASHED, "^"),
    "designed memory": Look("#0D0887", SHORT, "s"),
}


def factors(holder: Holder) -> tuple[float, ...]:
    """The factor in mu over independent noise of each line."""
    b = float(designed(np.array([holder.level]), holder.stay).b[0])
    chains = (
        holder.best_chain(),
        holder.best_chain(once_a_stay=True),
        holder.chain(0.0, b),
    )
    variances = (least_variance(holder).bound, *map(holder.mean_variance, chains))
    return tuple(map(holder.factor_in_mu, variances))


def drawn_limit() -> Figure:
    """A panel for each speed of shares and stay; 8 seconds."""
    kinds = {"slow shares": SLOW, "fast shares": FAST}
    with panels.panels(
        6, 3, (2.1, 1.8), "μ of independent noise that\npredicts as well, over μ", sharey="row"
    ) as drawn:
        drawn.title(
            "52 weeks of a hospital, a reader who knows how its shares move",
            "slow: ρ = 0.98, fast: ρ = 0.85, as designed memory assumes",
            "panels: the longest stay that is protected",
        )
        settings = itertools.product(kinds.items(), STAYS)
        for ax, ((speed, shares), stay) in zip(drawn.axes, settings, strict=True):
            covariance = share_covariance(WEEKS, *shares)
            found = [
                factors(Holder(covariance=covariance, level=level, stay=stay)) for level in LEVELS
            ]
            for line, look in zip(zip(*found, strict=True), LINES.values(), strict=True):
                ax.plot(LEVELS, line, **look.line_and_points)
            panels.name_panel(ax, f"{counted(stay, 'week')}, {speed}")
            ax.set(xscale="log")
            panels.set_ticks(ax.xaxis, LEVELS, lambda level: f"{100 * level:.1f}")
            ax.axhline(1.0, color=GREY, lw=0.6)
        for ax in drawn.axes[3:]:
            ax.set_xlabel("noise on a share (points)")
        drawn.legend([panels.key(name, **look.line_and_points) for name, look in LINES.items()])
    return drawn.figure
