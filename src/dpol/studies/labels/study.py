"""Risk of learning distributions from private labels, on synthetic classes and on hospitals."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from dpol.core.errors import DataError
from dpol.core.intervals import add_intervals, standard_error
from dpol.core.logs import progress
from dpol.core.randomness import Floats, Key
from dpol.core.schemas import read_schemas
from dpol.data.stream import GainStream
from dpol.studies.labels.bounds import exp3_bound, informative_from, lower_bound, wma_bound
from dpol.studies.labels.classes import hard_class, random_class
from dpol.studies.labels.clipping import SensitivityRule
from dpol.studies.labels.forecasts import forecast_class, shares
from dpol.studies.labels.game import LabelGame, LabelRun, label_generators, play_labels, realisable
from dpol.studies.labels.hypotheses import HypothesisClass
from dpol.studies.labels.learners.base import LabelLearner, Terms
from dpol.studies.labels.points import Setting, hardness
from dpol.studies.labels.registry import make_learner, variants
from dpol.studies.labels.risk import average_prediction, median_estimate, total_variation
from dpol.studies.labels.settings import Labels
from dpol.studies.study import Facts, Frames, Inputs, Point

COLUMNS = tuple(read_schemas(Path(__file__).with_name("results.yaml"))["labels"].columns)
"""Columns of the table of risks (docs/reference/tables.md)."""

BY_RUN = ("kl_runs", "tv_average_runs", "tv_median_runs")
"""Those with a list in each cell, which a CSV cannot hold."""

Variant = tuple[str, SensitivityRule]
"""A learner under a sensitivity rule."""


def run(study: Labels, point: Point, inputs: Inputs) -> dict[str, pd.DataFrame]:
    """One row per variant; on a stream, one per privacy and variant; without intervals.

    Raises:
        DataError: the stream has no patients, or no capacities.
    """
    if inputs.stream is not None:
        rows = _hospital_rows(study, inputs.stream, inputs.seed)
    else:
        facts = dict(point)
        variant = facts.pop("variant", None)
        chosen = [(variant[0], variant[1])] if variant else list(variants())
        rows = _setting_rows(study, Setting(**facts), chosen, inputs.seed)
    return {"labels": pd.DataFrame(list(rows))}


def collect(frames: Frames, study: Labels, facts: Facts) -> dict[str, pd.DataFrame]:
    """The rows of all points, with intervals of the risks that hold together."""
    errors = {"standard_error": "ci_half_width"}
    whole = add_intervals(frames["labels"], errors, facts.confidence)
    return {"labels": whole.reindex(columns=list(COLUMNS))}


def _setting_rows(
    study: Labels, setting: Setting, chosen: Sequence[Variant], seed: int
) -> Iterator[dict[str, Any]]:
    """Rows of one synthetic class, with what can be said where the truth is in the class."""
    K, T, lowest = setting.n_hypotheses, setting.n_rounds, math.nan
    if setting.kind == "hard":
        hypotheses = hard_class(K // 2, hardness(K // 2, T, setting.epsilon))
        lowest = lower_bound(K // 2, T, setting.epsilon)
    else:
        hypotheses = random_class(K, setting.n_labels, seed=seed, concentration=study.concentration)
    game = realisable(hypotheses, np.zeros(T, dtype=np.int64), study.replicates)
    terms = Terms(T, setting.epsilon, study.delta)
    for variant, learner, played in _play_all(game, terms, chosen, seed):
        estimate = average_prediction(played.mean_weights, learner.masses[0])
        average = total_variation(estimate, game.laws[game.law, 0])
        median = (
            _median_tv(study, game, terms, variant, seed) if setting.sweep == "rounds" else None
        )
        true_weights = played.final_weights[np.arange(game.n_replicates), game.law]
        yield {
            "sweep": setting.sweep,
            **_row(variant, learner, played, game, terms),
            **_upper_bounds(variant, K, terms),
            "tv_average": float(average.mean()),
            "tv_average_runs": average.tolist(),
            "tv_median": math.nan if median is None else float(median.mean()),
            "tv_median_runs": None if median is None else median.tolist(),
            "truth_weight": float(true_weights.mean()),
            "lower_bound": lowest,
        }


def _hospital_rows(study: Labels, stream: GainStream, seed: int) -> Iterator[dict[str, Any]]:
    """Rows for the hospital of a random patient of each week, predicted by forecasts.

    No forecast is exactly right: `best_kl` is what the best of them costs in hindsight.
    """
    capacity = stream.capacities_for("learning from labels")
    counts = stream.gains * capacity
    weeks = np.flatnonzero(counts.sum(axis=1) > 0)
    if not len(weeks):
        raise DataError(f"stream {stream.label} has no patient in any week: there is no label")
    hypotheses = forecast_class(counts, capacity, label=stream.label)
    laws = shares(counts, shares(capacity, capacity))[None]
    features = np.repeat(weeks, study.patients_per_week or 0)
    game = LabelGame(hypotheses, features, laws, np.zeros(study.replicates, dtype=np.int64))
    best = float((_divergences(laws[0], hypotheses)[game.features]).sum(axis=0).min())
    for epsilon in study.sweeps.epsilons or [study.epsilon]:
        terms = Terms(game.n_rounds, float(epsilon), study.delta)
        for variant, learner, played in _play_all(game, terms, list(variants()), seed):
            row = _row(variant, learner, played, game, terms)
            yield {"sweep": "hospitals", **row, "best_kl": best}


def _play_all(
    game: LabelGame, terms: Terms, chosen: Sequence[Variant], seed: int
) -> Iterator[tuple[Variant, LabelLearner[Any], LabelRun]]:
    for name, rule in progress(chosen, f"{game.hypotheses.label}, learners"):
        learner = make_learner(name, game.hypotheses, terms, rule)
        yield (name, rule), learner, _play(learner, game, terms, f"{name} {rule}", seed)


def _play(
    learner: LabelLearner[Any], game: LabelGame, terms: Terms, client: str, seed: int
) -> LabelRun:
    hypotheses = game.hypotheses
    sizes = (hypotheses.n_hypotheses, hypotheses.n_labels, game.n_rounds)
    key: Key = ("labels", hypotheses.label, *sizes, terms.epsilon)
    return play_labels(learner, game, label_generators(seed, key, game.n_replicates, client))


def _row(
    variant: Variant, learner: LabelLearner[Any], played: LabelRun, game: LabelGame, terms: Terms
) -> dict[str, Any]:
    """The columns that all points share."""
    guarantee = learner.client.guarantee
    # Without a record of its own kind there is no privacy: labels are sent as they are.
    epsilon, delta = guarantee.epsilon_delta or (math.inf, 0.0)
    return {
        "hypotheses": game.hypotheses.label,
        "algorithm": variant[0],
        "sensitivity_rule": variant[1],
        "origin": learner.origin,
        "K": game.hypotheses.n_hypotheses,
        "M": game.hypotheses.n_labels,
        "T": game.n_rounds,
        "epsilon": terms.epsilon,
        "delta": delta,
        "guaranteed_epsilon": epsilon,
        "replicates": game.n_replicates,
        "mean_kl_risk": played.kl.mean(),
        "kl_runs": played.kl.tolist(),
        "standard_error": float(standard_error(played.kl)),
        "mean_tv": played.tv.mean() / game.n_rounds,
        "mean_log_loss": played.kl.mean() / game.n_rounds + _mean_entropy(game),
        **guarantee.as_columns(),
    }


def _median_tv(
    study: Labels, game: LabelGame, terms: Terms, variant: Variant, seed: int
) -> Floats | None:
    """TV (R,) of the median selector: G learners on T/G rounds each; None if these are too few."""
    rounds = game.n_rounds // study.groups
    if rounds < 2:
        return None
    copies = np.repeat(game.law, study.groups)
    shorter = LabelGame(game.hypotheses, game.features[:rounds], game.laws, copies)
    part = replace(terms, n_rounds=rounds)
    name, rule = variant
    learner = make_learner(name, game.hypotheses, part, rule)
    played = _play(learner, shorter, part, f"{name} {rule} median", seed)
    estimates = average_prediction(played.mean_weights, learner.masses[0])
    chosen = median_estimate(estimates.reshape(game.n_replicates, study.groups, -1))
    return total_variation(chosen, game.laws[game.law, 0])


def _upper_bounds(variant: Variant, K: int, terms: Terms) -> Mapping[str, float]:
    """What is proved of the KL risk if a hypothesis is true, and from which T on it says more."""
    name, rule = variant

    def bound(T: int) -> float:
        if name == "wma":
            return wma_bound(K, T, terms.epsilon, terms.delta, rule)
        return exp3_bound(K, T, terms.epsilon)

    if name not in ("wma", "exp3"):
        upper = math.log(K) if name == "bayes" else math.nan
        return {"upper_bound": upper, "informative_from": math.nan}
    return {"upper_bound": bound(terms.n_rounds), "informative_from": informative_from(bound, K)}


def _mean_entropy(game: LabelGame) -> float:
    """Entropy of the labels, in nats, averaged over rounds and replicates."""
    logs = np.log(game.laws, out=np.zeros_like(game.laws), where=game.laws > 0)
    entropies = -(game.laws * logs).sum(axis=2)
    used = np.bincount(game.features, minlength=game.hypotheses.n_features) / game.n_rounds
    return float((entropies @ used)[game.law].mean())


def _divergences(laws: Floats, hypotheses: HypothesisClass) -> Floats:
    """KL(law || hypothesis) for every feature and hypothesis, (X, K)."""
    each = laws[:, None]
    ratio = np.ones_like(hypotheses.masses)
    np.divide(each, hypotheses.masses, out=ratio, where=each > 0)
    return np.asarray((each * np.log(ratio)).sum(axis=2))
