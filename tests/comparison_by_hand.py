"""Hand-made runs of the baseline, ours and other systems."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from dpol.noise import is_ours
from dpol.privacy.guarantee import NO_PRIVACY
from dpol.studies.comparison.comparison import compare
from dpol.studies.comparison.run_totals import RunTotals
from dpol.studies.comparison.settings import Comparison, Rival, System
from dpol.studies.study import Facts

INF = math.inf
LEVELS = {"none": INF, "low": 1.0, "high": 0.25}
PAPER = System(algorithm="meta", noise="isotropic")
OURS = System(algorithm="bayes", noise="capacity")
COMPARISON = Comparison(baseline=PAPER, ours=OURS)
TUNED = [System(algorithm=name, noise="isotropic") for name in ("ridge-a", "ridge-b")]
RIVALS = [
    Rival(name="the baseline with our noise", systems=[System(algorithm="meta", noise="capacity")]),
    Rival(name="the tuned baseline", systems=TUNED),
]
AT_BEST = COMPARISON.model_copy(update={"rivals": RIVALS})
"""The rivals are the baseline with the noise of ours, and the better of two ridge learners with the
noise of the baseline. At mu = 1 ours has 17, they have 13 and 15 (the other form 14), and the
baseline has 12; at mu = 0.25 ours has 15."""


CONFIDENCE = 0.95
FACTS = Facts({"nm": "New Mexico"}, simulated=False, confidence=CONFIDENCE, levels=LEVELS)


def cell(label: str, noise: str, mu: float, totals: Sequence[float], **facts: Any) -> RunTotals:
    """Return runs with these total gains."""
    guarantee = dataclasses.replace(
        NO_PRIVACY,
        mechanism=f"{noise} noise",
        mu=mu,
        model=facts.pop("model", "local"),
        sensitivity=0.5,
        sampler="none" if mu == INF else "seeded",
    )
    level = next(label for label, its in LEVELS.items() if its == mu)
    about = {"stream": "nm", "ours": is_ours(noise)} | facts
    return RunTotals(
        **about,
        algorithm=label,
        noise=noise,
        level=level,
        mu=mu,
        keeps_level=True,
        privacy=guarantee.as_columns(),
        totals=np.array(totals, dtype=float),
    )


SIZE = {"n_experts": 2, "n_rounds": 2}
SIZE |= {"uniform_gain": 3.0, "best_fixed_gain": 5.0, "oracle_gain": 20.0}
SIZE |= {"unmeasured_periods": 0, "unmeasured_share": 0.0}
# Gain without noise, whether it is ours, and distance of both replicates from the mean with noise.
_RUNS = {
    "meta": (14.0, False, 0.5),
    "bayes": (18.0, True, -0.5),
    "ridge-a": (17.0, False, 1.0),
    "ridge-b": (16.0, False, 0.25),
    "filter-a": (18.5, True, 1.5),
    "filter-b": (17.5, True, 0.5),
}


def cells(stream: str = "nm", spread: float = 1.0, times: int = 1) -> list[RunTotals]:
    """Return two replicates of baseline, ours, four learners, a tree, and one without privacy.

    Noise costs all of them gain; capacity noise costs half as much. The two replicates are repeated
    `times` times, with `spread` times their distance.
    """
    runs = []
    for mu, cost in ((INF, 0.0), (1.0, 2.0), (0.25, 6.0)):
        for noise, share in (("isotropic", 1.0), ("capacity", 0.5)):
            for label, (gain, ours, half) in _RUNS.items():
                mean, half = gain - share * cost, half * spread * (mu < INF)
                totals, facts = [mean - half, mean + half] * times, {"stream": stream}
                facts["ours"] = ours or is_ours(noise)
                runs.append(cell(label, noise, mu, totals, **facts))
        tree = [8.5 - spread / 2, 8.5 + spread / 2] * times
        runs.append(cell("tree", "isotropic", mu, tree, model="central", stream=stream))
    runs.append(cell("leader", "none", INF, [12, 12] * times, model="none", stream=stream))
    return runs


def summary_of(runs: Sequence[RunTotals]) -> pd.DataFrame:
    """Return the columns of the summary that tables and figures of the comparison need."""
    names = "stream", "algorithm", "noise", "level", "mu", "ours"
    rows = [
        {
            **{name: getattr(run, name) for name in names},
            "family": run.algorithm.partition("-")[0],
            **SIZE,
            **run.privacy,
            **NO_PRIVACY.stay_columns(),
            "epsilon": dataclasses.replace(NO_PRIVACY, mu=run.mu).epsilon(1e-6),
            "delta": 1e-6,
        }
        for run in runs
    ]
    return pd.DataFrame(rows)


def frames(
    runs: Sequence[RunTotals], comparison: Comparison = COMPARISON
) -> dict[str, pd.DataFrame]:
    """Return the comparison and the summary of runs of two experts and rounds."""
    return {
        "comparison": compare(runs, comparison, LEVELS, CONFIDENCE),
        "summary": summary_of(runs),
    }
