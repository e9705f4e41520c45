"""What noise costs: total gains with it beside those of the same algorithm without it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from dpol.config.models import Config
from dpol.noise import is_ours
from dpol.show.footers import COVERS, plus_minus
from dpol.show.plain import Cell, PlainTable, number
from dpol.show.words import mu_title

_INFINITE = float("inf")


@dataclass(frozen=True)
class Loss:
    """What noise costs an algorithm at one level on one stream, in total gain.

    Args:
        algorithm: its label.
        noise: how its noise is scaled.
        ours: whether algorithm or noise is not in the papers.
        stream: label of the stream.
        mu: of the level with noise.
        gain: without noise, mean over runs.
        lost: `gain` minus the mean gain at the level.
        half_width: of an interval of `lost`: the half widths of both means added up, which all
            hold together.
    """

    algorithm: str
    noise: str
    ours: bool
    stream: str
    mu: float
    gain: float
    lost: float
    half_width: float

    @property
    def system(self) -> tuple[str, str]:
        """Algorithm and noise."""
        return self.algorithm, self.noise

    @property
    def share(self) -> float:
        """Of the gain without noise."""
        return self.lost / self.gain


def losses(summary: pd.DataFrame, config: Config) -> tuple[Loss, ...]:
    """What noise costs the systems of the comparison, or the first private algorithm shown."""
    found = []
    for algorithm, noise in _systems(summary, config):
        own = summary[summary["algorithm"] == algorithm]
        own = own[own["noise"] == noise]
        for stream in config.streams:
            rows = {row["mu"]: row for row in own[own["stream"] == stream].to_dict("records")}
            base = rows.get(_INFINITE)
            if base is None or base["epsilon"] < _INFINITE or not base["mean_gain"] > 0:
                continue  # never played without noise, or to no gain
            for mu in config.privacy.levels.values():
                if mu < _INFINITE and mu in rows:
                    lost = base["mean_gain"] - rows[mu]["mean_gain"]
                    half = base["ci_half_width"] + rows[mu]["ci_half_width"]
                    ours, gain = bool(base["ours"]), base["mean_gain"]
                    found.append(Loss(algorithm, noise, ours, stream, mu, gain, lost, half))
    return tuple(found)


def _systems(summary: pd.DataFrame, config: Config) -> list[tuple[str, str]]:
    if config.comparison is not None:
        both = (config.comparison.paper, config.comparison.ours)
        return [(it.algorithm, it.noise) for it in both]
    for label in config.report.algorithms:
        rows = summary[(summary["algorithm"] == label) & (summary["model"] != "none")]
        if not rows.empty:
            played = list(dict.fromkeys(rows["noise"]))
            first = config.report.noise
            wanted = [first if first in played else played[0], *filter(is_ours, played)]
            return [(label, name) for name in dict.fromkeys(wanted) if name in played]
    return []


def cost_table(found: Sequence[Loss], titles: Mapping[str, str]) -> PlainTable:
    """Gains lost to noise, a line per system and stream.

    Args:
        found: at least one.
        titles: of the streams.
    """
    mus = list(dict.fromkeys(loss.mu for loss in found))
    rows = []
    for system, stream in dict.fromkeys((loss.system, loss.stream) for loss in found):
        own = [it for it in found if (it.system, it.stream) == (system, stream)]
        of_level = {it.mu: it for it in own}
        cells = [number(own[0].gain, f"{own[0].gain:.2f}")]
        cells += [_lost(of_level[mu]) if mu in of_level else Cell("—") for mu in mus]
        names = (system[0], f"{system[1]} †" if own[0].ours else system[1])
        rows.append((Cell(titles[stream]), *map(Cell, names), *cells))
    return PlainTable(
        "cost",
        "Total gain lost to noise",
        (
            "stream",
            "algorithm",
            "noise",
            "gain without noise",
            *(f"lost at {mu_title(mu)}" for mu in mus),
        ),
        tuple(rows),
        (
            "Lost: mean gain without noise minus mean gain at the level; in brackets the share."
            " ±: the half widths of both means added up, so that all intervals hold together as"
            f" those of the table of total gains do. {COVERS} †: ours, not in the paper.",
        ),
    )


def _lost(loss: Loss) -> Cell:
    text = f"{loss.lost:.2f}{plus_minus(loss.half_width)} ({100 * loss.share:.0f}%)"
    return number(loss.lost, text.replace("-", "−"))
