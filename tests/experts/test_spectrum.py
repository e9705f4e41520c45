from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import experts_plain as plain
from dpol.core.randomness import replicate_generators
from dpol.experts import meta, spectrum
from dpol.experts.learners.leader import LeaderBank
from dpol.experts.learners.ridge import RidgeBank
from dpol.experts.meta import RWMeta, decorrelating_noise, shared_noise
from dpol.experts.play import play_rounds
from dpol.experts.spectrum import all_eigenvalues, cholesky_factors, largest_eigenvalues
from dpol.noise import privatize

PENALTIES = {str(it): it / 4 for it in range(1, 14)}
seeds = st.integers(0, 10_000)


def covariances(seed, m, count=4, n=6, rounds=40):
    """Sigma of learners who choose popular experts more often, with other noise in every round."""
    rng = np.random.default_rng(seed)
    popular = rng.dirichlet(np.ones(n))
    scales = rng.uniform(0.1, 3.0, size=(rounds, n))
    actions = rng.choice(n, size=(rounds, count, m), p=popular).astype(np.int32)
    return sum(shared_noise(a, s) for a, s in zip(actions, scales, strict=True))


def row_sums(covariance):
    return covariance.sum(axis=2).max(axis=1)


def exact(covariance):
    return np.linalg.eigvalsh(covariance - covariance.mean(axis=(1, 2), keepdims=True))[:, -1]


def hidden():
    """Sigma whose leading eigenvector is out of reach of Lanczos' method.

    Learner 0 shares one round with each of learners 1 to 9, who share none: its row sum, 18, is
    the largest, and the start. Two groups of fifteen share fifteen rounds each; the difference
    of the groups is an eigenvector with eigenvalue 15, orthogonal to the start and to 1.
    """
    covariance = np.zeros((40, 40))
    covariance[:10, :10] = np.eye(10)
    covariance[0, :10] = covariance[:10, 0] = 1.0
    covariance[0, 0] = 9.0
    covariance[10:25, 10:25] = covariance[25:, 25:] = 1.0
    return covariance[None]


@settings(max_examples=40)
@given(seeds, st.integers(2, 90), st.integers(2, 30), st.integers(1, 60))
def test_the_largest_eigenvalue_is_exact(seed, m, n, rounds):
    covariance = covariances(seed, m, n=n, rounds=rounds)
    size = row_sums(covariance)
    excess = (largest_eigenvalues(covariance, size) - exact(covariance)) / size
    assert excess.max() < 1e-13
    assert excess.min() > -1e-12


def test_lanczos_does_the_work_for_learners_of_a_game(random_stream, monkeypatch):
    """Of 40 learners in 20 rounds and 10 replicates, few covariances need all eigenvalues."""
    asked, computed = [], []

    def largest(covariance, size):
        asked.append(len(covariance))
        found = largest_eigenvalues(covariance, size)
        np.testing.assert_allclose(found, exact(covariance), atol=1e-12 * size.max())
        return found

    def every(covariance):
        computed.append(len(covariance))
        return all_eigenvalues(covariance)

    monkeypatch.setattr(meta, "largest_eigenvalues", largest)
    monkeypatch.setattr(spectrum, "all_eigenvalues", every)
    noisy = privatize(random_stream(21, 30), "isotropic", 0.2, seed=3, replicates=range(10))
    algorithm = RWMeta(learners=(RidgeBank((3, 5, 8), PENALTIES), LeaderBank()))
    play_rounds(algorithm, noisy, replicate_generators(3, (), range(10), "y"))
    assert sum(asked) == 200
    assert sum(computed) < 20


def test_eigenvalues_close_together_are_left_to_the_exact_method():
    """Learners who never agree: the 40 eigenvalues are variances, a few per mille apart."""
    variances = np.random.default_rng(0).uniform(1.0, 1.001, size=(3, 40))
    covariance = variances[:, :, None] * np.eye(40)
    found = largest_eigenvalues(covariance, row_sums(covariance))
    np.testing.assert_allclose(found, exact(covariance), rtol=1e-12)


@pytest.mark.parametrize("m", [3, 40])
def test_learners_that_always_agree_have_nothing_to_even_out(m):
    covariance = np.stack([np.full((m, m), 7.0), np.zeros((m, m))])
    np.testing.assert_allclose(
        largest_eigenvalues(covariance, row_sums(covariance)), 0.0, atol=1e-12
    )


def test_a_hidden_eigenvector_is_missed_but_the_noise_is_right():
    """The factor of tau I - Sigma* tells, and tau is then 15 by all eigenvalues."""
    covariance = hidden()
    assert largest_eigenvalues(covariance, row_sums(covariance))[0] < 14
    assert all_eigenvalues(covariance)[0] == pytest.approx(15.0, rel=1e-12)
    blocks = np.tile(covariance, (40, 1, 1))
    factor = decorrelating_noise(blocks, 1.0, np.eye(40)).T
    total = factor @ factor.T + covariance[0] - covariance.mean()
    np.testing.assert_allclose(total, 15 * np.eye(40), atol=1e-9)


def test_a_hidden_eigenvector_of_one_replicate_does_not_touch_the_others():
    together = np.concatenate([covariances(0, 40, 3), hidden(), covariances(1, 40, 3)])
    normals = np.random.default_rng(0).standard_normal((7, 40))
    found = decorrelating_noise(together, 3.0, normals)
    for r in range(7):
        alone = decorrelating_noise(together[r : r + 1], 3.0, normals[r : r + 1])
        np.testing.assert_array_equal(found[r], alone[0])


@given(seeds, st.sampled_from([0.0, 30.0, 1e5]))
def test_fresh_noise_of_forty_learners_has_exactly_its_covariance(seed, least):
    (covariance,) = covariances(seed, 40, count=1)
    tau, expected = plain.fresh_covariance(covariance, least)
    factor = decorrelating_noise(np.tile(covariance, (40, 1, 1)), least, np.eye(40)).T
    np.testing.assert_allclose(factor @ factor.T, expected, atol=1e-10 * tau)


@given(seeds, st.integers(1, 9))
def test_factors_and_the_matrices_without_one(seed, count):
    rng = np.random.default_rng(seed)
    roots = np.tril(rng.uniform(0.5, 2.0, size=(count, 4, 4)))
    matrices = roots @ roots.transpose(0, 2, 1)
    broken = rng.random(count) < 0.4
    matrices[broken, 3, 3] -= 10.0 + (roots[broken, 3] ** 2).sum(axis=1)
    factors, wrong = cholesky_factors(matrices)
    np.testing.assert_array_equal(wrong, broken)
    np.testing.assert_allclose(factors[~broken], roots[~broken], rtol=1e-9)
    assert not factors[broken].any()


def test_fast_equals_plain_for_forty_learners(random_stream):
    """Exactly the same actions from the same normals, where Lanczos' method is used."""
    windows = (3, 5, 8)
    noisy = privatize(random_stream(25, 5), "capacity", 0.2, seed=3, replicates=range(2))
    algorithm = RWMeta(learners=(RidgeBank(windows, PENALTIES), LeaderBank()))
    fast = play_rounds(algorithm, noisy, replicate_generators(3, (), range(2), "y"))
    twins = replicate_generators(3, (), range(2), "y").generators
    for r in range(2):
        expected = plain.rw_meta(
            noisy.gains[r],
            noisy.initial[r],
            noisy.noise_scale,
            plain.paper_learners(windows, PENALTIES.values()),
            exploration_floor=2.0,
            decorrelate=True,
            rng=twins[r],
        )
        assert fast[r].tolist() == expected
        assert len(set(expected)) > 1
