"""The study of divided help: against a plain version, by hand, and its recorded table."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy import optimize

import dividing_help as study
import dpol
from dpol.experts.play import rounds

N, T, R = 4, 12, 3


def stream_of(label: str = "A") -> dpol.GainStream:
    """A stream of slowly moving shares of hospitals whose sizes differ."""
    rng = np.random.default_rng(2)
    beds = np.tile(np.linspace(20, 150, N), (T, 1)) + rng.integers(0, 4, (T, N))
    beds[T // 2, 1] = 45  # most beds of a larger one are closed for a week
    level = 0.2 + 0.1 * np.sin(np.arange(T) / 3)[:, None]
    moved = 0.05 * rng.standard_normal(N) + 0.03 * rng.standard_normal((T, N))
    return dpol.GainStream(
        label=label,
        gains=np.clip(level + moved, 0, 1),
        capacity=beds,
        entities=tuple(f"e{i}" for i in range(N)),
        periods=np.datetime64("2021-01-01") + 7 * np.arange(T),
    )


STREAM = stream_of()
NOISY = dpol.privatize(STREAM, "capacity", 0.5, seed=5, replicates=R)
LEFT = study.unmet_need(STREAM, NOISY)


def shares(weights):
    return weights / weights.sum() if weights.sum() > 0 else np.full(N, 1 / N)


def equal_chances(mean, deviation, units, own):
    """Find z by bisection."""

    def given(z):
        return np.maximum(mean - own + z * deviation, 0.0)

    return given(optimize.brentq(lambda z: given(z).sum() - units, -1e4, 1e4, xtol=1e-12))


def plain(need, follow, rule):
    """The unmet need (R, T - 1) of a rule, one replicate, week and hospital at a time."""
    algorithm = dpol.make_members("random-effects")[0].algorithm
    beta, beds = study.NEEDS[need], STREAM.capacity
    counts = STREAM.gains * beds
    wanted = np.maximum(counts - beta * beds, 0.0)
    unmet = np.zeros((R, T - 1))
    totals = [[] for _ in range(R)]
    for t, (state, _) in enumerate(rounds(algorithm, NOISY, NOISY.seeds.algorithm("x"))):
        if t == 0:
            continue
        forecast, own = algorithm.forecast(state), beta * beds[t - 1]
        for r in range(R):
            m = (forecast.level[r] + forecast.scores[r]) * beds[t - 1]
            totals[r].append(sum(max(x, 0.0) for x in m))
            moves = [math.log(b / a) ** 2 for a, b in zip(totals[r], totals[r][1:], strict=False)]
            tau = math.sqrt((0.04 + sum(moves)) / len(totals[r]))
            s = np.sqrt(forecast.variance[r] * beds[t - 1] ** 2 + (tau * m) ** 2)
            units = wanted.sum() / T
            if follow == study.ANNOUNCED:
                units = sum(max(x - o, 0.0) for x, o in zip(m, own, strict=True))
            weights = {
                "floor": beds[t - 1],
                "last": np.maximum(NOISY.gains[r, t - 1] * beds[t - 1] - own, 0.0),
                "forecast": np.maximum(m - own, 0.0),
                "exact": np.maximum(counts[t - 1] - own, 0.0),
                "oracle": wanted[t],
            }
            if rule in weights:
                division = units * shares(weights[rule])
            else:
                kept = {"guarantee": 0.75, "equal-chances": 0.0}[rule]
                floor = kept * units * shares(weights["forecast"])
                division = floor + equal_chances(m, s, (1 - kept) * units, own + floor)
            unmet[r, t - 1] = sum(max(w - d, 0.0) for w, d in zip(wanted[t], division, strict=True))
    return unmet


@pytest.mark.parametrize("case", [case for case in LEFT if case[2] != "best-fixed"])
def test_every_rule_is_what_a_plain_version_divides(case) -> None:
    np.testing.assert_allclose(LEFT[case], plain(*case), rtol=1e-9, atol=1e-9)


def test_the_cases_are_all_rules_for_each_need() -> None:
    """The best fixed division needs one number of units for all weeks."""
    rules = {*study.RULES, "floor", "oracle"}
    fixed = set(product(study.NEEDS, [study.ANNOUNCED], ["best-fixed"]))
    assert LEFT.keys() == {*product(study.NEEDS, (study.MEAN, study.ANNOUNCED), rules)} - fixed


def test_a_division_depends_on_earlier_releases_only() -> None:
    gains = NOISY.gains.copy()
    gains[:, 6:] += 0.3  # from round 7 on
    changed = study.unmet_need(STREAM, replace(NOISY, gains=gains))
    for case, before in LEFT.items():
        np.testing.assert_array_equal(before[:, :6], changed[case][:, :6])  # rounds 2 to 7
    assert any((LEFT[case][:, 6:] != changed[case][:, 6:]).any() for case in LEFT)


def test_a_share_is_a_ratio_of_sums_over_the_weeks() -> None:
    left = {
        ("patients", "mean", rule): np.array([unmet], dtype=float)
        for rule, unmet in {
            "floor": [20, 20],
            "exact": [10, 30],
            "last": [20, 10],
            "oracle": [0, 16],
        }.items()
    }
    assert study.avoided(left, ("patients", "mean", "exact"))[0] == 0.0
    assert study.avoided(left, ("patients", "mean", "last"))[0] == pytest.approx(10 / 24)
    assert study.avoided(left, ("patients", "mean", "oracle"))[0] == 1.0


def test_blocks_of_weeks_are_resampled_together() -> None:
    """Every week is as likely as any other, and neighbours come together."""
    draws = study.resamples(66)
    assert (draws.sum(axis=1) == 66).all()
    # Each mean has a standard error of 0.03: five of them, for 66 weeks, fail in 4e-5 of seeds.
    assert np.abs(draws.mean(axis=0) - 1).max() < 0.15
    together = np.corrcoef(draws[:, 10], draws[:, 11])[0, 1]
    apart = np.corrcoef(draws[:, 10], draws[:, 40])[0, 1]
    assert together > 0.7 > 0.2 > abs(apart)


def test_scores_are_means_over_the_streams() -> None:
    one, other = (study.study([stream_of(name)], [0.5], R) for name in "AB")
    both = study.study([stream_of("A"), stream_of("B")], [0.5], R)
    assert not np.allclose(one["avoided"], other["avoided"], rtol=1e-3)
    np.testing.assert_allclose(both["avoided"], (one["avoided"] + other["avoided"]) / 2)


def test_the_page_shows_the_recorded_numbers() -> None:
    recorded = pd.read_csv(study.RECORDED)
    page = study.PICTURE.with_suffix(".md").read_text(encoding="utf-8")
    assert study.table(recorded) in page
    assert f"({study.PICTURE.name})" in page
    study.picture(recorded)  # every rule and level has a place
