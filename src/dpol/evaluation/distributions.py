"""Risk of learning distributions from private labels, on synthetic classes and on hospitals."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from dpol.core.errors import DataError
from dpol.core.intervals import with_half_widths
from dpol.core.logs import progress
from dpol.core.randomness import Floats, Key
from dpol.data.stream import GainStream
from dpol.distributions.bounds import exp3_bound, lower_bound, wma_bound
from dpol.distributions.classes import hard_class, hardness, random_class
from dpol.distributions.forecasts import forecast_class, shares
from dpol.distributions.play import (
    LabelAlgorithm,
    LabelGame,
    LabelRun,
    label_generators,
    play_labels,
    realisable,
)
from dpol.distributions.registry import REGISTRY, Terms, make_learner
from dpol.distributions.risk import total_variation
from dpol.distributions.selection import average_prediction, median_estimate
from dpol.local.clipping import Rule
from dpol.local.hypotheses import HypothesisClass
from dpol.studies.pending import Distributions

DISTRIBUTION_COLUMNS = (
    "sweep",
    "hypotheses",
    "algorithm",
    "calibration",
    "origin",
    "K",
    "M",
    "T",
    "epsilon",
    "delta",
    "guaranteed_epsilon",
    "replicates",
    "mean_kl_risk",
    "kl_runs",
    "ci_half_width",
    "confidence",
    "ci_comparisons",
    "mean_tv",
    "mean_log_loss",
    "upper_bound",
    "lower_bound",
    "tv_average",
    "tv_average_runs",
    "tv_median",
    "tv_median_runs",
    "truth_weight",
    "best_kl",
    "model",
    "mechanism",
    "adjacency",
    "unit",
    "sensitivity",
    "sensitivity_unit",
    "sampler",
    "guaranteed_mu",
    "taken_as_public",
)
"""Columns of the table of risks (docs/reference/tables.md)."""


@dataclass(frozen=True)
class Setting:
    """One point of a sweep: K, M, T and the privacy of a message."""

    sweep: str
    n_hypotheses: int
    n_labels: int
    n_rounds: int
    epsilon: float


_SWEPT = {
    "rounds": "n_rounds",
    "labels": "n_labels",
    "hypotheses": "n_hypotheses",
    "epsilons": "epsilon",
}


def settings_of(study: Distributions) -> Mapping[str, Setting]:
    """All points of all sweeps, by a label that is fit for a file name.

    >>> list(settings_of(Distributions(sweeps={"labels": [10, 100]})))
    ['labels-0', 'labels-1']
    """
    found = {}
    for sweep, name in _SWEPT.items():
        base = Setting(
            sweep, study.n_hypotheses, study.n_labels, study.n_rounds, float(study.epsilon)
        )
        for position, value in enumerate(getattr(study.sweeps, sweep)):
            found[f"{sweep}-{position}"] = replace(base, **{name: value})
    return found


def study_setting(study: Distributions, setting: Setting, *, seed: int) -> pd.DataFrame:
    """One row per class, algorithm and calibration (columns: docs/reference/tables.md)."""
    rows = []
    for hypotheses in _classes(study, setting, seed):
        features = np.zeros(setting.n_rounds, dtype=np.int64)
        game = realisable(hypotheses, features, study.replicates)
        terms = Terms(setting.n_rounds, setting.epsilon, study.delta)
        lowest = math.nan
        if hypotheses.label == "hard":
            lowest = lower_bound(setting.n_hypotheses // 2, setting.n_rounds, setting.epsilon)
        for row, learner, run in _play_all(game, terms, setting.sweep, seed):
            estimate = average_prediction(run.mean_weights, learner.masses[0])
            average = total_variation(estimate, game.laws[game.law, 0])
            median = _median_tv(study, game, terms, row, seed)
            rows.append(
                {
                    **row,
                    "tv_average": float(average.mean()),
                    "tv_average_runs": average.tolist(),
                    "tv_median": math.nan if median is None else float(median.mean()),
                    "tv_median_runs": None if median is None else median.tolist(),
                    "truth_weight": _truth_weight(run, game),
                    "lower_bound": lowest,
                }
            )
    return pd.DataFrame(rows)


def study_hospitals(study: Distributions, stream: GainStream, *, seed: int) -> pd.DataFrame:
    """The same for the hospital of a random patient of each week, predicted by forecasts.

    No forecast is exactly right: `best_kl` is what the best of them costs in hindsight.

    Raises:
        ValueError: the study has no `patients_per_week`.
        DataError: the stream has no patients, or no capacities.
    """
    if study.patients_per_week is None:
        raise ValueError("patients_per_week must be given")
    capacity = stream.capacities_for("learning from labels")
    counts = stream.gains * capacity
    weeks = np.flatnonzero(counts.sum(axis=1) > 0)
    if not len(weeks):
        raise DataError(f"stream {stream.label} has no patient in any week: there is no label")
    hypotheses = forecast_class(counts, capacity, label=stream.label)
    laws = shares(counts, shares(capacity, capacity))[None]
    game = LabelGame(
        hypotheses,
        np.repeat(weeks, study.patients_per_week),
        laws,
        np.zeros(study.replicates, dtype=np.int64),
    )
    best = float((_divergences(laws[0], hypotheses)[game.features]).sum(axis=0).min())
    rows = []
    for epsilon in study.sweeps.epsilons or [study.epsilon]:
        terms = Terms(game.n_rounds, float(epsilon), study.delta)
        for row, *_ in _play_all(game, terms, "hospitals", seed):
            rows.append({**row, "best_kl": best})
    return pd.DataFrame(rows)


def collect_settings(parts: Sequence[pd.DataFrame], *, confidence: float) -> pd.DataFrame:
    """All settings and streams as one table, with intervals of the risks that hold together.

    Args:
        parts: tables of `study_setting` and `study_hospitals`, at least one.
        confidence: of the intervals of all rows together.
    """
    whole = pd.concat(parts, ignore_index=True)
    runs = {"ci_half_width": [np.asarray(it) for it in whole["kl_runs"]]}
    return with_half_widths(whole, runs, confidence).reindex(columns=list(DISTRIBUTION_COLUMNS))


def _classes(study: Distributions, setting: Setting, seed: int) -> Iterator[HypothesisClass]:
    yield random_class(
        setting.n_hypotheses, setting.n_labels, seed=seed, concentration=study.concentration
    )
    pairs = setting.n_hypotheses // 2
    distance = hardness(pairs, setting.n_rounds, setting.epsilon)
    if setting.sweep == "rounds" and distance <= 1:
        yield hard_class(pairs, distance)


def _play_all(
    game: LabelGame, terms: Terms, sweep: str, seed: int
) -> Iterator[tuple[dict[str, Any], LabelAlgorithm, LabelRun]]:
    """Every algorithm under each of its calibrations; the columns that all studies share."""
    K, M = game.hypotheses.n_hypotheses, game.hypotheses.n_labels
    entropy = _mean_entropy(game)
    for name, entry in progress(list(REGISTRY.items()), f"{game.hypotheses.label}, learners"):
        for calibration in entry.calibrations:
            learner = make_learner(name, game.hypotheses, terms, calibration)
            run = _play(learner, game, terms, f"{name} {calibration}", seed)
            # Without a record of its own kind there is no privacy: labels are sent as they are.
            guarantee = learner.client.guarantee
            guaranteed = guarantee.epsilon_delta or (math.inf, 0.0)
            bound = math.nan if sweep == "hospitals" else _upper_bound(name, calibration, K, terms)
            yield (
                {
                    "sweep": sweep,
                    "hypotheses": game.hypotheses.label,
                    "algorithm": name,
                    "calibration": calibration,
                    "origin": learner.origin,
                    "K": K,
                    "M": M,
                    "T": game.n_rounds,
                    "epsilon": terms.epsilon,
                    "delta": guaranteed[1],
                    "guaranteed_epsilon": guaranteed[0],
                    "replicates": game.n_replicates,
                    "mean_kl_risk": run.kl.mean(),
                    "kl_runs": run.kl.tolist(),
                    "mean_tv": run.tv.mean() / game.n_rounds,
                    "mean_log_loss": run.kl.mean() / game.n_rounds + entropy,
                    "upper_bound": bound,
                    **guarantee.as_columns(),
                },
                learner,
                run,
            )


def _play(
    learner: LabelAlgorithm, game: LabelGame, terms: Terms, client: str, seed: int
) -> LabelRun:
    hypotheses = game.hypotheses
    key: Key = (
        "labels",
        hypotheses.label,
        hypotheses.n_hypotheses,
        hypotheses.n_labels,
        game.n_rounds,
        terms.epsilon,
    )
    return play_labels(learner, game, label_generators(seed, key, game.n_replicates, client))


def _median_tv(
    study: Distributions, game: LabelGame, terms: Terms, row: Mapping[str, Any], seed: int
) -> Floats | None:
    """TV (R,) of the median selector: G learners, each on its own T/G rounds; None if not asked."""
    rounds = game.n_rounds // study.groups
    if row["sweep"] != "rounds" or rounds < 2:
        return None
    copies = np.repeat(game.law, study.groups)
    shorter = LabelGame(game.hypotheses, game.features[:rounds], game.laws, copies)
    rule: Rule = row["calibration"]
    part = replace(terms, n_rounds=rounds)
    learner = make_learner(row["algorithm"], game.hypotheses, part, rule)
    run = _play(learner, shorter, part, f"{row['algorithm']} {rule} median", seed)
    estimates = average_prediction(run.mean_weights, learner.masses[0])
    chosen = median_estimate(estimates.reshape(game.n_replicates, study.groups, -1))
    return total_variation(chosen, game.laws[game.law, 0])


def _upper_bound(name: str, calibration: Rule, K: int, terms: Terms) -> float:
    """What the paper proves of the learner if a hypothesis is true; log K for the Bayes mixture."""
    if name == "wma":
        return wma_bound(K, terms.n_rounds, terms.epsilon, terms.delta, calibration)
    if name == "exp3":
        return exp3_bound(K, terms.n_rounds, terms.epsilon)
    return math.log(K) if name == "bayes" else math.nan


def _truth_weight(run: LabelRun, game: LabelGame) -> float:
    """The final weight of the true hypothesis, averaged over replicates."""
    return float(run.final_weights[np.arange(game.n_replicates), game.law].mean())


def _mean_entropy(game: LabelGame) -> float:
    """Entropy of the labels, in nats, averaged over rounds and replicates."""
    logs = np.log(game.laws, out=np.zeros_like(game.laws), where=game.laws > 0)
    entropies = -(game.laws * logs).sum(axis=2)
    used = np.bincount(game.features, minlength=game.hypotheses.n_features) / game.n_rounds
    return float((entropies @ used)[game.law].mean())


def _divergences(laws: Floats, hypotheses: HypothesisClass) -> Floats:
    """KL(law || hypothesis) for every feature and hypothesis, (X, K)."""
    ratio = np.divide(
        laws[:, None],
        hypotheses.masses,
        out=np.ones_like(hypotheses.masses),
        where=laws[:, None] > 0,
    )
    return np.asarray((laws[:, None] * np.log(ratio)).sum(axis=2))
