"""Risk of learning distributions from private labels, on synthetic classes and hospitals."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from dpol.core.errors import DataError
from dpol.core.intervals import add_intervals, standard_error
from dpol.core.logs import progress
from dpol.core.randomness import Floats
from dpol.core.schemas import read_schemas
from dpol.data.stream import GainStream, read_stream
from dpol.labels.bounds import exp3_bound, informative_from, lower_bound, wma_bound
from dpol.labels.game import (
    LabelGame,
    LabelGenerators,
    LabelRun,
    expected_log,
    label_generators,
    median_estimate,
    play_adversary,
    play_labels,
    realisable,
    total_variation,
)
from dpol.labels.hard_pairs import hardness
from dpol.labels.hypotheses import forecast_class, hard_class, random_class, shares
from dpol.labels.learners import LabelLearner, Terms
from dpol.labels.registry import SELECTORS, Variant, make_learner, variants
from dpol.labels.scheffe import ScheffeTournament
from dpol.studies.jobs import read_rows
from dpol.studies.paper3.points import ClassesPoint, HospitalsPoint, LabelsPoint, Setting
from dpol.studies.paper3.settings import Labels
from dpol.studies.study import Facts, FileLists, Inputs

POINT = LabelsPoint
COLUMNS = tuple(read_schemas(Path(__file__).with_name("results.yaml"))["labels"].columns)
"""Columns of the table of risks (docs/reference/tables.md)."""


def run(point: LabelsPoint, inputs: Inputs) -> dict[str, pd.DataFrame]:
    """Return a row per variant and selector, without intervals; on a stream, per epsilon too.

    Raises:
        DataError: the stream has no patients or no capacities.
    """
    if isinstance(point, HospitalsPoint):
        rows = _hospital_rows(point, read_stream(inputs.files["stream"]), inputs.seed)
    else:
        classes = (_class_rows(point, setting, inputs.seed) for setting in point.classes)
        rows = itertools.chain.from_iterable(classes)
    return {"labels": pd.DataFrame(list(rows))}


def collect(files: FileLists, study: Labels, facts: Facts) -> dict[str, pd.DataFrame]:
    """Return the rows of all points, with intervals of the risks that hold together."""
    errors = {"standard_error": "ci_half_width"}
    whole = add_intervals(read_rows(files["labels"]), errors, facts.confidence)
    return {"labels": whole.reindex(columns=list(COLUMNS))}


_Played = tuple[LabelLearner, LabelRun]


def _play(
    variant: Variant,
    game: LabelGame,
    terms: Terms,
    seed: int,
    *,
    what: str = "",
    adversary: bool = False,
) -> _Played:
    """Play a variant of a learner; its random generators depend on `what`."""
    name, rule = variant
    learner = make_learner(name, game.hypotheses, terms, rule)
    generators = _generators(game, terms, seed, f"{name} {rule}{what}")
    play = play_adversary if adversary else play_labels
    return learner, play(learner, game, generators)


def _generators(game: LabelGame, terms: Terms, seed: int, coins: str) -> LabelGenerators:
    kind = game.hypotheses
    key = (kind.label, kind.n_hypotheses, kind.n_labels, game.n_rounds, terms.epsilon)
    return label_generators(seed, ("labels", *key), game.n_replicates, coins)


def _row(sweep: str, name: str, game: LabelGame, played: _Played) -> dict[str, Any]:
    """Return the columns that all points share."""
    learner, run = played
    # The entropy of the labels in nats, averaged over rounds and replicates.
    used = np.bincount(game.features, minlength=game.hypotheses.n_features) / game.n_rounds
    entropy = float((-expected_log(game.laws, game.laws) @ used)[game.law].mean())
    return {
        **_facts(sweep, name, game, learner),
        "mean_kl_risk": run.kl.mean(),
        "kl_runs": run.kl.tolist(),
        "standard_error": float(standard_error(run.kl)),
        "mean_tv": run.tv.mean() / game.n_rounds,
        "mean_log_loss": run.kl.mean() / game.n_rounds + entropy,
    }


def _facts(
    sweep: str, name: str, game: LabelGame, learner: LabelLearner | ScheffeTournament
) -> dict[str, Any]:
    """Return the columns that rows of learners and of selectors share."""
    guarantee = learner.client.guarantee
    # Without an (epsilon, delta) there is no privacy: the labels themselves are sent.
    epsilon, delta = guarantee.epsilon_delta or (math.inf, 0.0)
    return {
        "sweep": sweep,
        "hypotheses": game.hypotheses.label,
        "algorithm": name,
        "title": learner.title,
        "sensitivity_rule": learner.rule,
        "origin": learner.origin,
        "K": game.hypotheses.n_hypotheses,
        "M": game.hypotheses.n_labels,
        "T": game.n_rounds,
        "epsilon": learner.terms.epsilon,
        "delta": delta,
        "guaranteed_epsilon": epsilon,
        "replicates": game.n_replicates,
        **guarantee.as_columns(),
    }


def _estimates(played: _Played) -> Floats:
    """Return the (R, M) averages of all predictions, for a class of constants (section 6)."""
    learner, run = played
    return np.asarray(run.mean_weights @ learner.masses[0])


def _class_rows(point: ClassesPoint, setting: Setting, seed: int) -> Iterator[dict[str, Any]]:
    """Yield the rows of one synthetic class, with results that need the truth in the class."""
    K, T, lowest = setting.K, setting.T, math.nan
    if setting.kind == "hard":
        hypotheses = hard_class(K // 2, hardness(K // 2, T, setting.epsilon))
        lowest = lower_bound(K // 2, T, setting.epsilon)
    else:
        hypotheses = random_class(
            K,
            setting.M,
            seed=seed,
            concentration=point.concentration,
            n_features=point.n_features if setting.sweep == "features" else 1,
        )
    in_turn = hypotheses.n_features if setting.features == "cyclic" else 1
    game = realisable(hypotheses, np.arange(T) % in_turn, point.replicates)
    adversary = setting.features == "adversarial"
    truth, terms = game.laws[game.law, 0], Terms(T, setting.epsilon, point.delta)
    # The median selector has n groups, each with T // n rounds if that is enough.
    n, rounds = point.groups, T // point.groups
    groups_of = LabelGame(
        hypotheses=hypotheses,
        features=game.features[:rounds],
        laws=game.laws,
        law=np.repeat(game.law, n),
    )
    for variant in progress(list(variants()), f"{hypotheses.label}, learners"):
        played = _play(variant, game, terms, seed, adversary=adversary)
        row = {
            **_row(setting.sweep, variant[0], game, played),
            **_upper_bounds(variant, K, terms),
            "features": setting.features,
            "truth_weight": float(played[1].final_weights[range(len(truth)), game.law].mean()),
            "lower_bound": lowest,
        }
        if adversary:
            row["mean_log_loss"] = math.nan
        if setting.sweep != "features":
            row |= _distances("tv_average", _estimates(played), truth)
        if setting.sweep == "rounds" and rounds >= 2:
            of_group = replace(terms, n_rounds=rounds)
            groups = _play(variant, groups_of, of_group, seed, what=" median")
            estimates = _estimates(groups).reshape(len(truth), n, -1)
            row |= _distances("tv_median", median_estimate(estimates), truth)
        yield row
    for name, kind in SELECTORS.items() if setting.sweep == "rounds" else ():
        selector, parts = kind(hypotheses, terms), {"tv_average": game}
        if rounds >= 2:
            parts["tv_median"] = groups_of
        row = _facts(setting.sweep, name, game, selector)
        row |= {"features": setting.features, "lower_bound": lowest}
        for column, part in parts.items():
            coins = _generators(part, terms, seed, f"{name} {column}")
            estimates = hypotheses.masses[0, selector.play(part, coins)]
            of_run = estimates.reshape(len(truth), -1, hypotheses.n_labels)
            row |= _distances(column, median_estimate(of_run), truth)
        yield row


def _distances(name: str, estimates: Floats, truth: Floats) -> dict[str, Any]:
    """Return the total variation of the estimate of each replicate, and the mean."""
    distances = total_variation(estimates, truth)
    return {name: float(distances.mean()), f"{name}_runs": distances.tolist()}


def _hospital_rows(
    point: HospitalsPoint, stream: GainStream, seed: int
) -> Iterator[dict[str, Any]]:
    """Yield the rows for forecasts of the hospital of a random patient of each week.

    No forecast is exactly right; `best_kl` is the cost of the best one in hindsight.
    """
    capacity = stream.capacities_for("learning from labels")
    counts = stream.gains * capacity
    weeks = np.flatnonzero(counts.sum(axis=1) > 0)
    if not len(weeks):
        raise DataError(f"stream {stream.label} has no patient in any week, so it has no labels")
    hypotheses = forecast_class(counts, capacity, stream.label)
    laws = shares(counts, shares(capacity, capacity))
    features = np.repeat(weeks, point.patients_per_week)
    game = LabelGame(
        hypotheses=hypotheses,
        features=features,
        laws=laws[None],
        law=np.zeros(point.replicates, dtype=np.int64),
    )
    divergences = expected_log(laws[:, None], laws[:, None] / hypotheses.masses)
    best = float(divergences[features].sum(axis=0).min())
    for epsilon in point.epsilons:
        terms = Terms(game.n_rounds, float(epsilon), point.delta)
        for variant in progress(list(variants()), f"{hypotheses.label}, learners"):
            played = _play(variant, game, terms, seed)
            yield {
                **_row("hospitals", variant[0], game, played),
                "features": "weeks",
                "best_kl": best,
            }


def _upper_bounds(variant: Variant, K: int, terms: Terms) -> dict[str, float]:
    """Return the proved bound on the KL risk and the T from which it is informative, if any."""
    name, rule = variant
    bounds: dict[str, Callable[[int], float]] = {
        "wma": lambda T: wma_bound(K, T, terms.epsilon, terms.delta, rule),
        "exp3": lambda T: exp3_bound(K, T, terms.epsilon),
    }
    if name in bounds:
        first = informative_from(bounds[name], K)
        return {"upper_bound": bounds[name](terms.n_rounds), "informative_from": first}
    return {"upper_bound": math.log(K)} if name == "bayes" else {}
