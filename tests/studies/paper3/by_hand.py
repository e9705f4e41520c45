"""A table of risks made by hand: every sweep, class, stream and learner, unsorted."""

from __future__ import annotations

import math

import pandas as pd

from dpol.labels.registry import LEARNERS, SELECTORS, variants
from dpol.studies.paper3.compute import COLUMNS
from dpol.studies.study import Facts

VARIANTS = list(variants())
STREAMS = {"PA": 146, "NM": 24}
BEST_KL = {"PA": 50.0, "NM": 20.0}
SETTINGS = [  # sweep, class, K, M, T, epsilon
    *(
        ("rounds", kind, 4, M, T, 4.0)
        for T in (10_000, 1000, 30_000)
        for kind, M in (("random", 100), ("hard", 8))
    ),
    *(("labels", "random", 4, M, 30_000, 4.0) for M in (100, 10, 10_000)),
    *(("hypotheses", "random", K, 100, 30_000, 4.0) for K in (16, 2, 8)),
    *(("epsilons", "random", 4, 100, 30_000, epsilon) for epsilon in (4.0, 0.5, 1.0)),
    *(("hospitals", at, 5, M, 1000, e) for e in (4.0, 0.25, 1.0) for at, M in STREAMS.items()),
]
FACTS = Facts({at: f"State of {at}" for at in STREAMS}, False, 0.95)


def risk(setting: int, learner: int) -> float:
    """Return a different number for every row."""
    return float(round(10 ** (1 + learner / 4), 1)) * (1 + setting / 50)


def of_runs(mean: float) -> list[float]:
    """Return three runs; a logarithmic axis cannot show the last one."""
    return [0.75 * mean, 2.25 * mean, 0.0]


def row(setting: int, learner: int) -> dict[str, object]:
    mean, (algorithm, rule) = risk(setting, learner), VARIANTS[learner]
    sweep, hypotheses, K, M, T, epsilon = SETTINGS[setting]
    return {
        "sweep": sweep,
        "hypotheses": hypotheses,
        "algorithm": algorithm,
        "title": LEARNERS[algorithm].title,
        "origin": LEARNERS[algorithm].origin,
        "sensitivity_rule": rule,
        "K": K,
        "M": M,
        "T": T,
        "epsilon": epsilon,
        "delta": 1e-5 if algorithm == "wma" else 0.0,
        "guaranteed_epsilon": math.inf if algorithm == "bayes" else epsilon,
        "replicates": 7,
        "mean_kl_risk": mean,
        "kl_runs": of_runs(mean),
        "upper_bound": None if sweep == "hospitals" else 3 * T**0.9 if algorithm == "exp3" else 1.5,
        "lower_bound": T / 1e5 if hypotheses == "hard" else None,
        "best_kl": BEST_KL.get(hypotheses),
        "tv_average": mean / 1e5,
        "tv_average_runs": of_runs(mean / 1e5),
    }


def selected(setting: int, place: int, name: str) -> dict[str, object]:
    """Return the row of a selector, which has no risk."""
    kept = {"sweep", "hypotheses", "K", "M", "T", "epsilon", "delta", "replicates"}
    learner = len(VARIANTS) - 1  # without privacy, so its delta is 0
    of_learner = row(setting, learner)
    tv = risk(setting, len(VARIANTS) + place) / 1e5
    return {
        **{column: value for column, value in of_learner.items() if column in kept},
        "algorithm": name,
        "title": SELECTORS[name].title,
        "origin": SELECTORS[name].origin,
        "sensitivity_rule": "exact",
        "guaranteed_epsilon": of_learner["epsilon"],
        "lower_bound": of_learner["lower_bound"],
        "tv_average": tv,
        "tv_average_runs": of_runs(tv),
    }


def table() -> pd.DataFrame:
    every = [
        row(setting, learner)
        for setting in range(len(SETTINGS))
        for learner in range(len(VARIANTS))
    ]
    rounds = [number for number, facts in enumerate(SETTINGS) if facts[0] == "rounds"]
    every += [selected(n, place, name) for n in rounds for place, name in enumerate(SELECTORS)]
    return pd.DataFrame(every, columns=list(COLUMNS)).astype({"lower_bound": float})
