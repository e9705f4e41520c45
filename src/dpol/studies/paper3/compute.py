"""Risk of learning distributions from private labels, on synthetic classes and hospitals."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dpol.core.errors import DataError
from dpol.core.intervals import add_intervals, joined_row
from dpol.core.logs import progress
from dpol.core.schemas import read_schemas
from dpol.data.stream import GainStream, read_stream
from dpol.labels.bounds import exp3_bound, lower_bound, wma_bound
from dpol.labels.game import (
    LabelGame,
    LabelGenerators,
    LabelRun,
    expected_log,
    label_generators,
    play_labels,
    realisable,
    total_variation,
)
from dpol.labels.hard_pairs import hardness
from dpol.labels.hypotheses import HypothesisClass, forecast_class, hard_class, random_class, shares
from dpol.labels.learners import LabelLearner, Terms
from dpol.labels.registry import SELECTORS, Variant, make_learner, variants
from dpol.labels.scheffe import ScheffeTournament
from dpol.privacy.settings import DELTA
from dpol.studies.jobs import read_points
from dpol.studies.paper3.settings import (
    HOSPITALS,
    ClassPoint,
    Labels,
    LabelsPoint,
)
from dpol.studies.study import Facts, FileLists, Inputs

if TYPE_CHECKING:
    import pandas as pd

POINT = LabelsPoint
COLUMNS = tuple(read_schemas(Path(__file__).with_name("results.yaml"))["labels"].columns)
"""Columns of the table of risks (docs/reference/tables.md)."""


def run(point: LabelsPoint, inputs: Inputs) -> dict[str, list[dict[str, Any]]]:
    """Return a row per variant and selector, without intervals; on a stream, per epsilon too.

    Raises:
        DataError: the stream has no patients or no capacities.
    """
    if isinstance(point, ClassPoint):
        rows = _class_rows(point, inputs.seed)
    else:
        rows = _hospital_rows(point, read_stream(inputs.files["stream"]), inputs.seed)
    return {"labels": list(rows)}


def collect(files: FileLists, study: Labels, facts: Facts) -> dict[str, pd.DataFrame]:
    """Return the rows of all points, with intervals of the risks that hold together."""
    errors = {"standard_error": "ci_half_width"}
    whole = add_intervals(read_points(files["labels"]), errors, facts.confidence)
    return {"labels": whole.reindex(columns=list(COLUMNS))}


MEANS = {"kl_runs": "mean_kl_risk", "tv_average_runs": "tv_average"}
"""Column of the mean of each kind of runs."""
_Coins = Callable[[str], LabelGenerators]
"""Generators of a game by the name of who draws messages; labels are the same for all."""


def _coins(game: LabelGame, terms: Terms, replicates: Sequence[int], seed: int) -> _Coins:
    kind = game.hypotheses
    key = (kind.label, kind.n_hypotheses, kind.n_labels, game.n_rounds, terms.epsilon)
    return partial(label_generators, seed, ("labels", *key), replicates)


def _played(
    sweep: str, variant: Variant, game: LabelGame, terms: Terms, coins: _Coins
) -> tuple[LabelLearner, LabelRun, dict[str, Any]]:
    """Play a variant of a learner; the row has the columns that all points share."""
    name, rule = variant
    learner = make_learner(name, game.hypotheses, terms, rule)
    run = play_labels(learner, game, coins(f"{name} {rule}"))
    risks = {"kl_runs": run.kl, "mean_tv": run.tv / game.n_rounds}
    return learner, run, _facts(sweep, name, game, learner) | risks


def _facts(
    sweep: str, name: str, game: LabelGame, learner: LabelLearner | ScheffeTournament
) -> dict[str, Any]:
    """Return the columns that rows of learners and of selectors share."""
    guarantee = learner.client.guarantee
    delta = learner.client.delta
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
        "guaranteed_epsilon": guarantee.epsilon(delta),
        **guarantee.as_columns(),
    }


def _class_rows(point: ClassPoint, seed: int) -> Iterator[dict[str, Any]]:
    """Yield the rows of one kind of synthetic classes.

    A random class is drawn for each replicate, and all learners play on it.
    """
    R, half = point.replicates, point.K // 2
    if point.kind == "hard":
        hypotheses = hard_class(half, hardness(half, point.T, point.epsilon))
        parts = [list(_rows_of(point, hypotheses, range(R), seed))]
    else:
        parts = []
        for replicate in progress(range(R), f"random class, {point.sweep}, replicates"):
            hypotheses = random_class(point.K, point.M, seed=seed, replicate=replicate)
            parts.append(list(_rows_of(point, hypotheses, [replicate], seed)))
    yield from (joined_row(rows, MEANS) for rows in zip(*parts, strict=True))


def _rows_of(
    point: ClassPoint, hypotheses: HypothesisClass, replicates: Sequence[int], seed: int
) -> Iterator[dict[str, Any]]:
    """Yield the rows of one synthetic class, with results that need the truth in the class."""
    K, T = point.K, point.T
    lowest = lower_bound(K // 2, T, point.epsilon) if point.kind == "hard" else math.nan
    game = realisable(hypotheses, np.zeros(T, dtype=np.int64), replicates)
    truth, terms = game.truths[game.truth, 0], Terms(T, point.epsilon, DELTA)
    coins = _coins(game, terms, replicates, seed)
    for variant in variants():
        learner, outcome, row = _played(point.sweep, variant, game, terms, coins)
        average = outcome.mean_weights @ learner.masses[0]  # the estimate of section 6
        yield {
            **row,
            "upper_bound": _upper_bound(variant, K, terms),
            "lower_bound": lowest,
            "tv_average_runs": total_variation(average, truth),
        }
    for name, kind in SELECTORS.items() if point.sweep == "rounds" else ():
        selector = kind(hypotheses, terms)
        chosen = selector.selected(game, coins(f"{name} tv_average"))
        yield {
            **_facts(point.sweep, name, game, selector),
            "lower_bound": lowest,
            "tv_average_runs": total_variation(hypotheses.masses[0, chosen], truth),
        }


def _hospital_rows(study: Labels, stream: GainStream, seed: int) -> Iterator[dict[str, Any]]:
    """Yield the rows for forecasts of the hospital of a random patient of each week.

    No forecast is exactly right; `best_kl` is the cost of the best one in hindsight.
    """
    assert study.patients_per_week is not None, "otherwise no stream is a point"
    capacity = stream.capacities_for("learning from labels")
    counts = stream.gains * capacity
    weeks = np.flatnonzero(counts.sum(axis=1) > 0)
    if not len(weeks):
        raise DataError(f"stream {stream.label} has no patient in any week, so it has no labels")
    hypotheses = forecast_class(counts, capacity, stream.label)
    truths = shares(counts, shares(capacity, capacity))
    features = np.repeat(weeks, study.patients_per_week)
    game = LabelGame(
        hypotheses=hypotheses,
        features=features,
        truths=truths[None],
        truth=np.zeros(study.replicates, dtype=np.int64),
    )
    divergences = expected_log(truths[:, None], truths[:, None] / hypotheses.masses)
    best = float(divergences[features].sum(axis=0).min())
    for epsilon in study.sweeps.epsilons or [study.epsilon]:
        terms = Terms(game.n_rounds, float(epsilon), DELTA)
        coins = _coins(game, terms, range(study.replicates), seed)
        for variant in progress(list(variants()), f"{hypotheses.label}, learners"):
            _, _, row = _played(HOSPITALS, variant, game, terms, coins)
            yield joined_row([row | {"best_kl": best}], MEANS)


def _upper_bound(variant: Variant, K: int, terms: Terms) -> float:
    """Return the proved bound on the KL risk; not a number if there is none."""
    name, rule = variant
    if name == "wma":
        return wma_bound(K, terms.n_rounds, terms.epsilon, terms.delta, rule)
    if name == "exp3":
        return exp3_bound(K, terms.n_rounds, terms.epsilon)
    return math.log(K) if name == "bayes" else math.nan
