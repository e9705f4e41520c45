"""Losses of systems, computed by hand; their parts add up to the total."""

from __future__ import annotations

import numpy as np
import pytest

from comparison_by_hand import COMPARISON, CONFIDENCE, INF, LEVELS, OURS, PAPER, cell, cells
from dpol.core.intervals import student_factor
from dpol.studies.comparison.ablation import TERMS, ablate
from dpol.studies.comparison.settings import System
from dpol.studies.comparison.study import STUDY
from dpol.studies.study import schemas_of

SYSTEMS = [
    PAPER,
    System(algorithm="meta", noise="capacity", learners="ridge"),
    System(algorithm="bayes", noise="isotropic", learners="kalman"),
]


def table(runs=None):
    comparison = COMPARISON.model_copy(update={"ablations": SYSTEMS})
    frame = ablate(runs or cells(), comparison, LEVELS, CONFIDENCE)
    return schemas_of(STUDY)["ablation"].check(frame, "here")


def row(frame, mu, system):
    same = (frame["algorithm"] == system.algorithm) & (frame["noise"] == system.noise)
    rows = frame[same & (frame["mu"] == mu)]
    assert len(rows) == 1
    return rows.iloc[0]


@pytest.mark.parametrize(
    ("system", "mu", "losses"),
    [
        # Without noise the best ridge learner has 17, the best kalman learner 18.5.
        (PAPER, INF, (0.0, 0.0, 3.0, 3.0, 0.0)),
        (OURS, INF, (0.0, -1.5, 0.5, -1.0, 0.0)),
        # At mu = 1 isotropic noise costs 2, capacity noise 1; at mu = 0.25 it is 6 and 3.
        (PAPER, 1.0, (2.0, 0.0, 3.0, 5.0, 2.0)),
        (SYSTEMS[1], 1.0, (1.0, 0.0, 3.0, 4.0, 1.0)),
        (OURS, 1.0, (1.0, -1.5, 0.5, 0.0, 1.0)),
        (SYSTEMS[2], 0.25, (6.0, -1.5, 0.5, 5.0, 6.0)),
        (OURS, 0.25, (3.0, -1.5, 0.5, 2.0, 3.0)),
    ],
)
def test_losses_by_hand(system, mu, losses):
    result = row(table(), mu, system)
    assert [result[term] for term in TERMS] == pytest.approx(list(losses), abs=1e-12)
    assert result["reference"] == "ridge-a"
    assert result["best_learner"] == ("ridge-a" if system.learners == "ridge" else "kalman-a")
    assert (result["model"], result["mechanism"]) == ("local", f"{system.noise} noise")
    assert result["guaranteed_mu"] == mu


def test_the_parts_add_up_on_random_runs():
    """On random gains, the best learner depends on level and noise."""
    rng = np.random.default_rng(5)
    frame = table(
        [
            cell(run.algorithm, run.noise, run.mu, rng.gamma(2.0, 5.0, 30), family=run.family)
            for run in cells()
        ]
    )
    parts = frame["noise_loss"] + frame["learner_loss"] + frame["selection_loss"]
    np.testing.assert_allclose(parts, frame["total_loss"], atol=1e-12)
    total = frame["reference_gain"] - frame["mean_gain"]
    np.testing.assert_allclose(frame["total_loss"], total, atol=1e-12)
    assert frame["best_learner"].nunique() > 2
    assert (frame["noise_loss"].abs() > 0.01).any()
    ridge = frame["learners"] == "ridge"
    assert (frame.loc[ridge, "learner_loss"] == 0).all()
    assert (frame.loc[~ridge, "learner_loss"] != 0).all()


def test_the_best_learner_has_the_largest_mean_of_its_setting():
    """Learners of another level, noise, family or stream do not count."""
    changed = ("ridge-b", "isotropic", 1.0)
    others = [run for run in cells() if (run.algorithm, run.noise, run.mu) != changed]
    frame = table([*others, cell(*changed, [50.0, 60.0], family="ridge")])
    paper = row(frame, 1.0, PAPER)
    assert paper[["best_learner", "best_learner_gain", "noise_loss"]].tolist() == [
        "ridge-b",
        55.0,
        17.0 - 55.0,
    ]
    assert row(frame, 1.0, SYSTEMS[1])["best_learner"] == "ridge-a"
    assert row(frame, 0.25, PAPER)["best_learner"] == "ridge-a"
    assert row(frame, 1.0, SYSTEMS[2])["noisy_reference"] == "ridge-b"
    assert row(frame, 1.0, SYSTEMS[2])["best_learner"] == "kalman-a"


def test_ties_of_best_learners_go_to_the_first_label():
    runs = [run for run in cells() if run.family != "ridge"]
    for mu in LEVELS.values():
        for noise in ("isotropic", "capacity"):
            for label in ("ridge-z", "ridge-b"):
                runs.append(cell(label, noise, mu, [1.0, 3.0], family="ridge"))
    assert set(table(runs)["reference"]) == {"ridge-b"}


def test_intervals_of_losses_by_hand():
    """Baseline at mu = 1: gains 11.5, 12.5; ridge-a 14, 16; reference 17, 17."""
    baseline = row(table(), 1.0, PAPER)
    # 5 terms, 3 levels, 4 systems.
    assert baseline["ci_comparisons"] == 60
    # Noise 3, 1; learner 0, 0; selection 2.5, 3.5; total 5.5, 4.5; own noise 2.5, 1.5.
    errors = np.array([1.0, 0.0, 0.5, 0.5, 0.5])
    widths = [baseline[f"{term}_half_width"] for term in TERMS]
    assert widths == pytest.approx(errors * student_factor(0.95, 60, 2))


def test_rows_are_streams_levels_and_systems_in_order():
    frame = table([*cells(), *cells("pa")])
    keys = list(zip(frame["stream"], frame["mu"], frame["algorithm"], strict=True))
    names = ["meta", "meta", "bayes", "bayes"]
    assert keys == [(s, mu, name) for s in ("nm", "pa") for mu in LEVELS.values() for name in names]


def test_the_papers_learners_get_independent_noise_if_the_system_has_correlated_noise():
    """The paper's learners cannot model it. Ours gains 17.25, its best learner 17.4."""
    ours = OURS.model_copy(update={"noise": "capacity-memory"})
    facts = {"family": "kalman", "ours": True}
    runs = [
        *cells(),
        cell("bayes", "capacity-memory", INF, [18.0, 18.0], ours=True),
        cell("bayes", "capacity-memory", 1.0, [17.0, 17.5], ours=True),
        cell("kalman-a", "capacity-memory", INF, [18.5, 18.5], **facts),
        cell("kalman-a", "capacity-memory", 1.0, [17.3, 17.5], **facts),
    ]
    comparison = COMPARISON.model_copy(update={"ours": ours})
    levels = {"none": INF, "low": 1.0}
    frame = ablate(runs, comparison, levels, CONFIDENCE)
    losses = [row(frame, 1.0, ours)[term] for term in TERMS]
    # Without noise ridge-a has 17, under capacity noise 16.
    assert losses == pytest.approx([1.0, -1.4, 0.15, -0.25, 0.75])
