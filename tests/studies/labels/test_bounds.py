from __future__ import annotations

import math

import numpy as np
import pytest

from dpol.studies.labels.accounting import scale_factor
from dpol.studies.labels.bounds import exp3_bound, informative_from, lower_bound, wma_bound
from dpol.studies.labels.game import label_generators, play_labels, realisable
from dpol.studies.labels.hypotheses import hard_class, random_class
from dpol.studies.labels.learners import Terms
from dpol.studies.labels.points import hardness
from dpol.studies.labels.registry import LEARNERS, make_learner

CLASS = random_class(4, 6, seed=0)
PRIVATE = [
    name
    for name in LEARNERS
    if make_learner(name, CLASS, Terms(300, 1.0)).client.guarantee.model != "none"
]


def bound_by_hand(K, T, b_over_s, samples):
    """sqrt(2 K' T log K) / c + 3 s + e^-gamma (T s + 3 s), gamma = log T, s = log((K + 1) T)."""
    s = math.log(K + 1) + math.log(T)
    c = 1 / (s + 2 * b_over_s * s * (math.log(T) + math.log(K) + math.log(T)))
    return math.sqrt(2 * samples * T * math.log(K)) / c + 3 * s + (T * s + 3 * s) / T


@pytest.mark.parametrize(("K", "T", "epsilon"), [(2, 100, 1.0), (16, 10**6, 0.25), (5, 2, 4.0)])
def test_bounds_by_hand(K, T, epsilon):
    assert exp3_bound(K, T, epsilon) == pytest.approx(bound_by_hand(K, T, 1 / epsilon, K))
    published = (2 * math.sqrt(2 * K * math.log(1e6)) + math.sqrt(K * epsilon)) / epsilon
    found = wma_bound(K, T, epsilon, 1e-6, "published")
    assert found == pytest.approx(bound_by_hand(K, T, published, 1))
    exact = bound_by_hand(K, T, scale_factor(K, epsilon, 1e-6, "exact"), 1)
    assert wma_bound(K, T, epsilon, 1e-6, "exact") == pytest.approx(exact)
    assert exact < found


def test_the_lower_bound_by_hand():
    """eps = log 2, so min((e^eps - 1)^2, 1) e^eps = 2: a = sqrt(4 / 180,000), times T / 132."""
    assert lower_bound(4, 10_000, math.log(2)) == pytest.approx(0.35712464, rel=1e-7)


def test_a_lower_bound_needs_enough_rounds():
    """K / (9 eps-part): here 1 / (9 * 1 * 0.5) = 0.22 for a pair; eps = 0.01 needs 1,100."""
    growth = math.expm1(0.01)
    first = math.ceil(1 / (9 * growth**2 * math.exp(0.01)))
    assert first > 1000
    assert lower_bound(1, first, 0.01) == pytest.approx(first / 132, rel=1e-3)
    with pytest.raises(ValueError, match=r"n_rounds must be larger: a = 1\.0\d* is above 1"):
        lower_bound(1, first - 1, 0.01)


def risks(name, hypotheses, T, epsilon, rule="exact", replicates=40):
    """KL risks of the replicates (R / K, K), a column for each truth."""
    learner = make_learner(name, hypotheses, Terms(T, epsilon), rule)
    game = realisable(hypotheses, np.zeros(T, dtype=int), replicates)
    run = play_labels(learner, game, label_generators(3, ("bounds",), replicates, name))
    return run.kl.reshape(-1, hypotheses.n_hypotheses)


def surely_below(*played):
    """Upper bounds on the mean risk of each truth, by five standard errors."""
    found = risks(*played)
    return found.mean(axis=0) + 5 * found.std(axis=0, ddof=1) / math.sqrt(len(found))


@pytest.mark.parametrize("rule", ["exact", "published"])
@pytest.mark.parametrize("epsilon", [0.5, 4.0])
def test_the_theorems_bound_measured_risks(rule, epsilon):
    random = random_class(4, 6, seed=0, concentration=0.3)
    for hypotheses in (random, hard_class(2, hardness(2, 300, epsilon))):
        found = surely_below("exp3", hypotheses, 300, epsilon, rule)
        assert (found < exp3_bound(4, 300, epsilon)).all()
        found = surely_below("wma", hypotheses, 300, epsilon, rule)
        assert (found < wma_bound(4, 300, epsilon, 1e-6, rule)).all()


@pytest.mark.parametrize("name", PRIVATE)
@pytest.mark.parametrize("epsilon", [0.5, 4.0])
def test_no_private_learner_beats_the_lower_bound_on_its_worst_truth(name, epsilon):
    found = surely_below(name, hard_class(2, hardness(2, 300, epsilon)), 300, epsilon)
    assert found.max() > lower_bound(2, 300, epsilon)


def test_without_privacy_the_lower_bound_may_be_beaten():
    """Power: at eps = 0.02 and T = 10^4 the bound is 14 nats, and Bayes' risk below 2 log K."""
    T, epsilon = 10_000, 0.02
    hypotheses, bound = hard_class(2, hardness(2, T, epsilon)), lower_bound(2, T, epsilon)
    assert bound > 10
    for name in (*PRIVATE, "bayes"):
        largest = risks(name, hypotheses, T, epsilon, replicates=8).max()
        assert (largest < bound) == (name == "bayes")


@pytest.mark.parametrize("rule", ["exact", "published", None])
@pytest.mark.parametrize(("K", "epsilon"), [(2, 1.0), (16, 4.0)])
def test_a_bound_becomes_informative_at_its_crossing(rule, K, epsilon):
    def bound(T):
        return wma_bound(K, T, epsilon, 1e-6, rule) if rule else exp3_bound(K, T, epsilon)

    def margin(T):
        return round(T) * math.log(K) - bound(round(T))

    found = informative_from(bound, K)
    assert margin(found) > 0
    assert margin(found / 1.02) < 0
    assert all(margin(T) > 0 for T in np.geomspace(found * 1.01, found * 1e6, 40))
    assert all(margin(T) < 0 for T in np.geomspace(2, found / 1.02, 40))
