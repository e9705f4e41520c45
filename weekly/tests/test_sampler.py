from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import special

from dpol.privacy.gaussian_dp import delta_of_epsilon
from dpol_weekly.sampler import SecureNoise
from seeded import SeededNoise

# Secure draws differ in every run of the tests; each test of them fails with probability 1e-6.
SAMPLERS = {"seeded": lambda: SeededNoise(np.random.default_rng(5)), "secure": SecureNoise}
DRAWS = 40_000
FINE = 2**20 + 3


def fits(counts, probabilities):
    """Pearson's chi-squared test: a sound sample is rejected with probability 1e-6."""
    expected = np.sum(counts) * np.asarray(probabilities)
    statistic = float(((counts - expected) ** 2 / expected).sum())
    return special.chdtrc(len(counts) - 1, statistic) > 1e-6


@pytest.fixture(scope="module")
def draw():
    """Draws of a sampler, each kind drawn once."""
    kept = {}

    def draws(name, scale):
        if (name, scale) not in kept:
            kept[name, scale] = np.array(SAMPLERS[name]().discrete_gaussian(scale, DRAWS))
        return kept[name, scale]

    return draws


def cells(draws, scale, law_of=None):
    """Counts in 24 cells or fewer, and their probabilities under the law of scale `law_of`.

    Small scales: one cell for every integer within 2.5 scales. Large ones: cells a quarter scale
    wide, whose probabilities are those of the normal law between half integers (error 1e-13).
    """
    law_of = law_of or scale
    if scale < 10:
        edge = math.ceil(2.5 * scale)
        k = np.arange(-40 * scale, 40 * scale + 1)
        law = np.exp(-(k**2) / (2 * law_of**2))
        law = np.bincount(np.clip(k, -edge, edge) + edge, weights=law / law.sum())
        return np.bincount(np.clip(draws, -edge, edge) + edge, minlength=2 * edge + 1), law
    edges = np.round(np.arange(-11, 12) / 4 * scale).astype(int)
    below = np.concatenate([[0], special.ndtr((edges - 0.5) / law_of), [1]])
    counts = np.bincount(np.searchsorted(edges, draws, side="right"), minlength=len(edges) + 1)
    return counts, np.diff(below)


@pytest.mark.parametrize("name", SAMPLERS)
@pytest.mark.parametrize("scale", [1, 4, FINE])
def test_draws_follow_the_discrete_gaussian_law(draw, name, scale):
    """Chi-squared test, error probability 1e-6; scales wrong by 5% are rejected."""
    draws = draw(name, scale)
    assert fits(*cells(draws, scale))
    for factor in (0.95, 1.05):
        assert not fits(*cells(draws, scale, factor * scale))


def test_rounded_normal_noise_is_rejected():
    """The variance of rounded noise is larger by 1/12."""
    rounded = np.round(np.random.default_rng(6).standard_normal(DRAWS)).astype(int)
    assert not fits(*cells(rounded, 1))


@pytest.mark.parametrize("name", SAMPLERS)
def test_the_last_digit_of_fine_noise_is_uniform(draw, name):
    """No digit of the value shows; noise in steps of 2 is rejected."""
    draws = draw(name, FINE)
    assert fits(np.bincount(draws % 10, minlength=10), [0.1] * 10)
    even = draws - draws % 2
    assert not fits(np.bincount(even % 10, minlength=10), [0.1] * 10)


def test_seeded_noise_repeats_and_secure_noise_does_not(draw):
    one, two = (SeededNoise(np.random.default_rng(3)).discrete_gaussian(FINE, 50) for _ in "ab")
    assert one == two
    assert SecureNoise().discrete_gaussian(FINE, 50) != SecureNoise().discrete_gaussian(FINE, 50)


@pytest.mark.parametrize("name", SAMPLERS)
def test_draws_are_plain_integers_of_the_number_asked_for(name):
    for size in (0, 1, 7):
        draws = SAMPLERS[name]().discrete_gaussian(3, size)
        assert len(draws) == size
        assert {type(draw) for draw in draws} <= {int}
    # At the largest scale 64 bits are still wide enough: no draw is cut off.
    assert max(map(abs, SAMPLERS[name]().discrete_gaussian(2**53, 200))) < 2**56


# ---- Gaussian DP of the discrete Gaussian, by exact computation ----------------------------------


def probits(scale, top):
    """z_m = -Phi^-1(P(Y >= m)) for m = 1..top, by Newton's method on the logarithm of the tail."""
    law = -(np.arange(top + 40 * scale, dtype=float) ** 2) / (2 * scale**2)
    total = np.logaddexp(law[0], np.log(2) + np.logaddexp.reduce(law[1:]))
    target = np.logaddexp.accumulate(law[::-1])[::-1][1 : top + 1] - total
    z = np.sqrt(-2 * target)
    for _ in range(30):
        own = special.log_ndtr(-z)
        density = -(z**2) / 2 - math.log(2 * math.pi) / 2
        z += (own - target) * np.exp(own - density)
    return z


@pytest.mark.parametrize("scale", [2, 3, 5, 8])
def test_no_step_of_any_threshold_costs_more_than_the_one_at_the_centre(scale):
    """All thresholds up to 7 scale^2, a region of probability below 1e-42 (scale 2) to 1e-680."""
    z = probits(scale, 7 * scale**2)
    steps = np.concatenate([[2 * z[0]], np.diff(z)])
    assert (steps[1:] < steps[0] * (1 + 1e-12)).all()
    assert steps[0] * scale == pytest.approx(1 + 1 / (24 * scale**2), rel=1e-3)
    assert 1 / scale < steps[0] < 1 / (scale - 1)


@pytest.fixture(scope="module")
def tails():
    """P(Y >= m) for m = 0..12 scales, of scale FINE; summed from the far end."""
    law = np.exp(-((np.arange(12 * FINE, dtype=float) / FINE) ** 2) / 2)
    return np.cumsum(law[::-1])[::-1] / (FINE * math.sqrt(2 * math.pi))


def probit(tails, m):
    """z_m = -Phi^-1(P(Y >= m)); z_(1-m) = -z_m, because the law is symmetric."""
    return np.where(m > 0, 1, -1) * -special.ndtri(tails[np.where(m > 0, m, 1 - m)])


@pytest.mark.parametrize("mu", [0.1, 1.0, 4.0])
def test_on_a_fine_grid_the_errors_of_every_threshold_are_allowed(tails, mu):
    """No slack: one unit of scale outweighs the grid. A scale smaller by two would be too small."""
    shift = int(mu * (FINE - 1))
    m = np.arange(-7 * FINE, 9 * FINE, 1009)
    distance = probit(tails, m) - probit(tails, m - shift)
    assert (distance < shift / (FINE - 1)).all()
    assert (distance > shift / (FINE + 1)).all()


@pytest.mark.parametrize(("shift", "scale"), [(8, 9), (8, 33), (24, 25)])
def test_two_counts_together_have_mu_times_root_two(shift, scale):
    """One person moved from one count to another: the exact delta of both noisy counts."""
    mu = math.sqrt(2) * shift / (scale - 1)
    k = np.arange(-12 * scale, 12 * scale + 1)
    law = np.exp(-(k**2) / (2 * scale**2))
    law /= law.sum()
    loss = (2 * k * shift - shift**2) / (2 * scale**2)
    for epsilon in (0.0, 0.3, 1.0, 3.0):
        gain = 1 - np.exp(epsilon + loss[:, None] + loss[None, :])
        exact = float((np.maximum(gain, 0) * law[:, None] * law[None, :]).sum())
        assert 0 < exact < float(delta_of_epsilon(epsilon, mu))
        assert exact > float(delta_of_epsilon(epsilon, mu * (1 - 2 / scale)))
