"""Hand-made runs of the paper's way, ours and others."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from dpol.data.settings import Stream
from dpol.privacy.guarantee import NO_PRIVACY
from dpol.studies.hospitals.runs import Played
from dpol.studies.hospitals.settings import Aim, Comparison, Report, System
from dpol.studies.hospitals.shown import Shown
from dpol.studies.hospitals.summary import Cell

INF = math.inf
LEVELS = {"none": INF, "low": 1.0, "high": 0.25}
PAPER = System(algorithm="meta", noise="isotropic", learners="ridge")
OURS = System(algorithm="bayes", noise="capacity", learners="kalman")
AIMS = [
    Aim(ours="high", against="paper", at="low"),
    Aim(ours="low", against="best-learner", at="none"),
]
COMPARISON = Comparison(paper=PAPER, ours=OURS, aims=AIMS)


def cell(label: str, noise: str, mu: float, totals: Sequence[float], **facts: Any) -> Cell:
    """Runs of two rounds; their total gains are `totals`."""
    about = {"stream": "nm", "family": label, "model": "local", "origin": "paper"} | facts
    gains = np.outer(totals, [0.25, 0.75])
    guarantee = dataclasses.replace(
        NO_PRIVACY,
        mechanism=f"{noise} noise",
        mu=mu,
        model=about["model"],
        sensitivity=0.5,
        sampler="none" if mu == INF else "seeded",
    )
    actions = np.zeros(gains.shape, dtype=np.int32)
    played = Played(label, about["family"], about["origin"], guarantee, actions, gains)
    return Cell(about["stream"], noise, mu, played)


def cells(stream: str = "nm") -> list[Cell]:
    """Two replicates of: both ways, two ridge and two kalman learners, a tree, one not private.

    With noise at mu, the gain of all drops; capacity noise costs half of it.
    """
    found = []
    for mu, cost in ((INF, 0.0), (1.0, 2.0), (0.25, 6.0)):
        spread = 0.0 if mu == INF else 0.5
        for noise, share in (("isotropic", 1.0), ("capacity", 0.5)):
            drop = share * cost

            def run(
                label: str,
                gain: float,
                family: str = "",
                origin: str = "paper",
                own: float = 1.0,
                setting: tuple[str, float, float, float] = (noise, mu, drop, spread),
            ) -> Cell:
                name, level, less, width = setting
                totals = [gain - less - own * width, gain - less + own * width]
                facts = {"stream": stream, "family": family or label, "origin": origin}
                return cell(label, name, level, totals, **facts)

            found += [
                run("meta", 14.0),
                run("bayes", 18.0, origin="ours", own=-1.0),
                run("ridge-a", 17.0, "ridge", own=2.0),
                run("ridge-b", 16.0, "ridge", own=0.5),
                run("kalman-a", 18.5, "kalman", "ours", own=3.0),
                run("kalman-b", 17.5, "kalman", "ours"),
            ]
        found.append(cell("tree", "isotropic", mu, [8, 9], model="central", stream=stream))
    found.append(cell("leader", "none", INF, [12, 12], model="none", stream=stream))
    return found


def shown(
    summary: pd.DataFrame | None = None, levels: dict[str, float] = LEVELS, **titles: str
) -> Shown:
    """Streams by label with their titles; by default of two experts and two rounds each."""
    titles = titles or {"nm": "New Mexico"}
    if summary is None:
        facts = {"n_experts": 2, "n_rounds": 2, "simulated": False}
        summary = pd.DataFrame([{"stream": label, **facts} for label in titles])
    streams = {label: Stream(groups=["G"], title=title) for label, title in titles.items()}
    return Shown(summary, streams, levels, Report(algorithms=["meta"]))
