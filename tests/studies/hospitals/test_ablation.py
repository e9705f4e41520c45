"""Where systems lose, by hand, and that the parts are the whole."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from comparison_by_hand import COMPARISON, INF, LEVELS, OURS, PAPER, cell, cells
from dpol.core.intervals import student_factor
from dpol.studies.hospitals import schema
from dpol.studies.hospitals.ablation import TERMS, ablate
from dpol.studies.hospitals.settings import System

SYSTEMS = [
    PAPER,
    System(algorithm="meta", noise="capacity", learners="ridge"),
    System(algorithm="bayes", noise="isotropic", learners="kalman"),
]


def table(found=None, systems=SYSTEMS, levels=LEVELS):
    comparison = COMPARISON.model_copy(update={"ablations": systems})
    return ablate(found or cells(), comparison, levels=levels, confidence=0.95)


def row(frame, mu, system):
    same = (frame["algorithm"] == system.algorithm) & (frame["noise"] == system.noise)
    found = frame[same & (frame["mu"] == mu)]
    assert len(found) == 1
    return found.iloc[0]


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
    found = row(table(), mu, system)
    assert [found[term] for term in TERMS] == pytest.approx(list(losses), abs=1e-12)
    assert found["reference"] == "ridge-a"
    assert found["oracle"] == ("ridge-a" if system.learners == "ridge" else "kalman-a")


def test_the_parts_add_up_on_random_runs():
    """Gains of any kind; the best learners differ by level and noise."""
    rng = np.random.default_rng(5)
    found = [
        cell(it.played.label, it.noise, it.mu, rng.gamma(2.0, 5.0, 30), family=family)
        for it in cells()
        for family in [it.played.family]
    ]
    frame = table(found)
    parts = frame["noise_loss"] + frame["learner_loss"] + frame["selection_loss"]
    np.testing.assert_allclose(parts, frame["total_loss"], atol=1e-12)
    np.testing.assert_allclose(
        frame["total_loss"], frame["reference_gain"] - frame["mean_gain"], atol=1e-12
    )
    assert frame["oracle"].nunique() > 2
    assert (frame["noise_loss"].abs() > 0.01).any()
    ridge = frame["learners"] == "ridge"
    assert (frame.loc[ridge, "learner_loss"] == 0).all()
    assert (frame.loc[~ridge, "learner_loss"] != 0).all()


def test_the_oracle_is_the_largest_mean_of_its_setting():
    """The best learner of another level, noise, family or stream is not the oracle."""
    found = [
        cell("ridge-b", "isotropic", 1.0, [50.0, 60.0], family="ridge")
        if (it.played.label, it.noise, it.mu) == ("ridge-b", "isotropic", 1.0)
        else it
        for it in cells()
    ]
    frame = table(found)
    assert row(frame, 1.0, PAPER)["oracle"] == "ridge-b"
    assert row(frame, 1.0, PAPER)["oracle_gain"] == 55.0
    assert row(frame, 1.0, PAPER)["noise_loss"] == 17.0 - 55.0
    assert row(frame, 1.0, SYSTEMS[1])["oracle"] == "ridge-a"
    assert row(frame, 0.25, PAPER)["oracle"] == "ridge-a"
    assert row(frame, 1.0, SYSTEMS[2])["noisy_reference"] == "ridge-b"
    assert row(frame, 1.0, SYSTEMS[2])["oracle"] == "kalman-a"


def test_of_equal_learners_the_first_by_label_is_the_oracle():
    found = [it for it in cells() if it.played.family != "ridge"]
    for mu in LEVELS.values():
        for noise in ("isotropic", "capacity"):
            for label in ("ridge-z", "ridge-b"):
                found.append(cell(label, noise, mu, [1.0, 3.0], family="ridge"))
    assert set(table(found)["reference"]) == {"ridge-b"}


def test_intervals_of_losses_by_hand():
    """Paper at mu = 1: gains 11.5, 12.5; ridge-a 14, 16; reference 17, 17."""
    frame = table()
    found = row(frame, 1.0, PAPER)
    # 5 terms, 3 levels, 4 systems.
    assert found["ci_comparisons"] == 60
    factor = student_factor(0.95, 60, 2)
    # Noise 3, 1; selection 2.5, 3.5; total 5.5, 4.5; own noise 2.5, 1.5.
    expected = {
        "noise_loss": 1.0,
        "learner_loss": 0.0,
        "selection_loss": 0.5,
        "total_loss": 0.5,
        "own_noise_loss": 0.5,
    }
    for term, error in expected.items():
        assert found[f"{term}_half_width"] == pytest.approx(error * factor)


def test_rows_are_streams_levels_and_systems_in_order_each_once():
    frame = table([*cells(), *cells("pa")])
    keys = list(zip(frame["stream"], frame["mu"], frame["algorithm"], strict=True))
    names = ["meta", "meta", "bayes", "bayes"]
    assert keys == [(s, mu, name) for s in ("nm", "pa") for mu in LEVELS.values() for name in names]


def test_the_privacy_of_the_system_is_beside_its_losses():
    found = row(table(), 0.25, OURS)
    assert (found["guaranteed_mu"], found["mechanism"]) == (0.25, "capacity noise")
    assert found["model"] == "local"


def test_the_table_is_what_its_schema_says():
    pd.testing.assert_frame_equal(schema("ablation").check(table(), "here"), table())
