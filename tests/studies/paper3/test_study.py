"""Tables of risks: every row compared with a run by hand."""

import dataclasses
import functools
import math

import numpy as np
import pandas as pd
import pytest

from dpol.core.errors import DataError
from dpol.core.intervals import half_width
from dpol.data.stream import write_stream
from dpol.labels.bounds import exp3_bound, lower_bound, wma_bound
from dpol.labels.game import label_generators, play_labels
from dpol.labels.hard_pairs import hardness
from dpol.labels.hypotheses import hard_class, random_class
from dpol.labels.registry import SELECTORS, variants
from dpol.studies.jobs import join_tables
from dpol.studies.paper3 import compute as module
from dpol.studies.paper3.compute import COLUMNS, run
from dpol.studies.paper3.settings import ClassPoint, Labels
from dpol.studies.paper3.study import STUDY, jobs
from dpol.studies.study import Facts, Inputs
from in_process import compute
from labels import plain

FACTS = Facts({"PA": "Pennsylvania"}, simulated=False, confidence=0.95)

MEMBERS = tuple(variants())
CHOSEN = tuple((name, "exact") for name in SELECTORS)
RANDOM = ClassPoint(sweep="rounds", kind="random", K=4, M=6, T=90, epsilon=1.0, replicates=5)
HARD = ClassPoint(sweep="rounds", kind="hard", K=4, M=4, T=90, epsilon=1.0, replicates=5)
LABELS = ClassPoint(sweep="labels", kind="random", K=3, M=9, T=60, epsilon=2.0, replicates=5)
SETTINGS = (RANDOM, HARD, LABELS)


def config(**fields):
    facts = {"n_rounds": 60, "replicates": 5}
    return Labels.model_validate({**facts, **fields})


def rows_and_games(point, **files):
    """Return the rows of a point, and the games played for them in order."""
    games = []

    def play(learner, game, generators):
        run = play_labels(learner, game, generators)
        games.append((learner, game, run))
        return run

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "play_labels", play)
        rows = run(point, Inputs(seed=5, files=files))["labels"]
    join_tables([rows])  # as a job writes them
    return pd.DataFrame(rows), games


played = functools.cache(rows_and_games)


def of_hospitals(stream, folder):
    """Return what `rows_and_games` gives for the point of a stream."""
    study = config(patients_per_week=5, sweeps={"epsilons": [0.5, 2.0]})
    (point,) = jobs(study, FACTS)["hospitals-PA"].points
    write_stream(stream, folder / "stream.parquet")
    return rows_and_games(point, stream=folder / "stream.parquet")


@pytest.fixture(scope="module")
def stream(make_stream):
    rng = np.random.default_rng(0)
    capacity = rng.integers(10, 60, size=(8, 3))
    gains = np.round(rng.random((8, 3)) * capacity) / capacity
    gains[2] = 0.0  # a week without a patient
    return make_stream(gains, capacity, label="beds")


@pytest.fixture(scope="module")
def hospitals(stream, tmp_path_factory):
    return of_hospitals(stream, tmp_path_factory.mktemp("hospitals"))


# ---- points --------------------------------------------------------------------------------------


def test_points_change_one_number_each():
    swept = {"rounds": [10], "labels": [7], "hypotheses": [8], "epsilons": [0.5, 4]}
    study = config(epsilon=2, patients_per_week=1, sweeps=swept)
    made = jobs(study, FACTS)
    of_state = made.pop("hospitals-PA")
    assert of_state.inputs == {"stream": "streams/PA.parquet"}
    (of_stream,) = of_state.points
    assert (of_stream.sweeps.epsilons, of_stream.patients_per_week) == ([0.5, 4], 1)
    (sweeps,) = made.values()
    assert [dataclasses.astuple(it) for it in sweeps.points] == [
        ("rounds", "random", 4, 100, 10, 2, 5),
        ("rounds", "hard", 4, 4, 10, 2, 5),
        ("labels", "random", 4, 7, 60, 2, 5),
        ("hypotheses", "random", 8, 100, 60, 2, 5),
        *(("epsilons", "random", 4, 100, 60, epsilon, 5) for epsilon in (0.5, 4)),
    ]
    assert not jobs(config(), FACTS)
    few = config(epsilon=0.1, sweeps={"rounds": [8]})
    assert hardness(2, 8, 0.1) > 1, "too few rounds for the hard class"
    assert [each.kind for each in jobs(few, FACTS)["sweeps"].points] == ["random"]


# ---- rows ----------------------------------------------------------------------------------------


def test_all_points_share_the_error_of_their_intervals():
    whole = compute(STUDY, config(sweeps={"rounds": [90], "labels": [9]}), seed=5)["labels"]
    assert tuple(whole.columns) == COLUMNS
    assert (whole[["ci_comparisons", "confidence"]] == [len(whole), 0.95]).all(axis=None)
    risks = ["mean_kl_risk", "standard_error", "ci_half_width", "mean_tv", "kl_runs"]
    unplayed = whole["algorithm"].isin(SELECTORS)
    assert unplayed.sum() == 2
    assert whole.loc[unplayed, risks].isna().all(axis=None)
    for row in whole[~unplayed].itertuples():
        assert row.ci_half_width == float(half_width(np.array(row.kl_runs), 0.95, len(whole)))


def rows_and_runs(setting):
    """Yield each row with its runs: one for each random class, or one of all replicates."""
    rows, games = played(setting)
    rows = rows[~rows["algorithm"].isin(SELECTORS)]
    for place, row in enumerate(rows.itertuples()):
        yield row, games[place :: len(rows)]


def truths_of(parts):
    """Return the (R, M) true laws of the replicates, hypothesis r mod K of the class of each."""
    return [law for _, game, _ in parts for law in game.truths[game.truth, 0]]


@pytest.mark.parametrize("setting", SETTINGS)
def test_a_row_is_what_its_runs_give(setting):
    """The average of predictions is at least as near to the truth as the predictions on average."""
    table, _ = played(setting)
    members = [*MEMBERS, *(CHOSEN if setting.sweep == "rounds" else ())]
    assert list(zip(table["algorithm"], table["sensitivity_rule"], strict=True)) == members
    facts = table[["sweep", "hypotheses", "K", "M", "T", "epsilon", "replicates"]]
    assert (facts == [*vars(setting).values()]).all(axis=None)
    T, classes = setting.T, [hard_class(2, hardness(2, 90, 1.0))]
    if setting is not HARD:
        classes = [random_class(setting.K, setting.M, seed=5, replicate=r) for r in range(5)]
    lowest = lower_bound(2, 90, 1.0) if setting is HARD else math.nan
    for row, parts in rows_and_runs(setting):
        bounds = {
            "wma": wma_bound(row.K, T, row.epsilon, 1e-6, row.sensitivity_rule),
            "exp3": exp3_bound(row.K, T, row.epsilon),
            "bayes": math.log(row.K),
        }
        np.testing.assert_equal(row.upper_bound, bounds.get(row.algorithm, math.nan))
        np.testing.assert_equal(row.lower_bound, lowest)
        for (_, game, _), kind in zip(parts, classes, strict=True):
            np.testing.assert_array_equal(game.hypotheses.masses, kind.masses)
        laws = [law for _, game, _ in parts for law in game.truth]
        assert laws == [r % row.K for r in range(5)]
        risks = np.concatenate([outcome.kl for *_, outcome in parts])
        assert row.mean_kl_risk == pytest.approx(risks.mean(), rel=1e-12)
        assert row.kl_runs == risks.tolist()
        assert row.standard_error == pytest.approx(risks.std(ddof=1) / math.sqrt(5))
        tv = np.concatenate([outcome.tv for *_, outcome in parts])
        assert row.mean_tv == pytest.approx(tv.mean() / T, rel=1e-12)
        assert row.mean_tv <= math.sqrt(row.mean_kl_risk / T / 2)
        clients = [it.client for it, *_ in parts]
        pairs = [(it.guarantee.epsilon(it.delta), it.delta) for it in clients]
        assert (row.guaranteed_epsilon, row.delta) == max(pairs)
        for learner, game, _ in parts:
            assert set(game.features) == {0}
            assert game.hypotheses.masses.shape[1:] == (row.K, row.M)
            assert row.origin == learner.origin
            assert row.sensitivity_rule == "exact" or learner.client.clipping.rule == "published"
        average = [law for it, _, run in parts for law in run.mean_weights @ it.masses[0]]
        distances = [plain.tv(p, q) for p, q in zip(truths_of(parts), average, strict=True)]
        assert row.tv_average == pytest.approx(np.mean(distances), rel=1e-9)
        assert row.tv_average_runs == pytest.approx(distances, rel=1e-9)
        assert row.tv_average <= row.mean_tv + 1e-12


@pytest.mark.parametrize("setting", [RANDOM, HARD])
def test_the_row_of_a_selector_is_its_selection(setting):
    rows = played(setting)[0].set_index("algorithm")
    _, parts = next(rows_and_runs(setting))
    for name, kind in SELECTORS.items():
        row, distances = rows.loc[name], []
        for place, (learner, game, _) in enumerate(parts):
            own = range(5) if setting is HARD else [place]
            key = ("labels", setting.kind, 4, setting.M, 90, 1.0)
            coins = label_generators(5, key, own, f"{name} tv_average")
            masses = game.hypotheses.masses[0]
            chosen = kind(game.hypotheses, learner.terms).selected(game, coins)
            distances += [
                plain.tv(masses[r % 4], masses[c]) for r, c in zip(own, chosen, strict=True)
            ]
        assert row["tv_average_runs"] == pytest.approx(distances, rel=1e-9)
        assert row["tv_average"] == pytest.approx(np.mean(distances), rel=1e-9)
        assert (row["model"], row["guaranteed_epsilon"], row["delta"]) == ("local", 1.0, 0.0)


# ---- hospitals -----------------------------------------------------------------------------------


def test_hospital_rows_are_what_their_runs_give(stream, hospitals):
    table, games = hospitals
    order = table[["epsilon", "algorithm", "sensitivity_rule"]].itertuples(index=False, name=None)
    assert list(order) == [(epsilon, *member) for epsilon in (0.5, 2.0) for member in MEMBERS]
    facts = table[["sweep", "hypotheses", "K", "M", "T", "replicates"]]
    assert (facts == ["hospitals", "beds", 5, 3, 35, 5]).all(axis=None)
    counts = stream.gains * stream.capacity
    weeks = [week for week in range(8) if week != 2]
    truths = {week: counts[week] / counts[week].sum() for week in weeks}
    for row, (_, game, outcome) in zip(table.itertuples(), games, strict=True):
        assert game.features.tolist() == [week for week in weeks for _ in range(5)]
        for week in weeks:
            np.testing.assert_allclose(game.truths[0, week], truths[week], rtol=1e-12)
        assert game.truth.tolist() == [0] * 5
        masses = game.hypotheses.masses
        each = [[plain.kl(truths[week], law) for law in masses[week]] for week in weeks]
        costs = 5 * np.sum(each, axis=0)
        assert row.best_kl == pytest.approx(min(costs), rel=1e-9)
        assert row.mean_kl_risk == pytest.approx(outcome.kl.mean(), rel=1e-12)


def test_hospitals_need_patients(make_stream, tmp_path):
    with pytest.raises(DataError, match="has no patient in any week"):
        of_hospitals(make_stream(np.zeros((3, 2)), 10.0), tmp_path)
