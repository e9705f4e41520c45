"""Noise from a secret: its law against the formula, its key, and the file of the secret."""

from __future__ import annotations

import hmac
import math
from functools import cache

import numpy as np
import pytest
from scipy import special

from dpol.core import files
from dpol.core.errors import DataError, OutputError
from dpol.noise.keyed import (
    _below,
    _bits,
    _happens,
    discrete_gaussian,
    keyed_noise,
    make_secret,
    read_secret,
)
from dpol.privacy.gaussian_dp import delta_of_epsilon

FINE = 2**20 + 3
LARGEST = 1_414_213_562_375
"""The scales of mu = 1 and less than that, and of mu = 0.001 at a sensitivity of 1,000."""
DRAWS = 20_000


@cache
def draws(scale, number=DRAWS):
    """Draws of a fixed secret, so that no run of the tests differs."""
    keys = (hmac.digest(b"s" * 32, f"{scale},{it}".encode(), "sha512") for it in range(number))
    return np.array([discrete_gaussian(key, scale) for key in keys])


def fits(counts, probabilities):
    """Pearson's chi-squared test: a sound sample is rejected with probability 1e-6."""
    expected = np.sum(counts) * np.asarray(probabilities)
    statistic = float(((counts - expected) ** 2 / expected).sum())
    return special.chdtrc(len(counts) - 1, statistic) > 1e-6


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


@pytest.mark.parametrize("scale", [1, 2, 5, 1000, FINE])
def test_draws_follow_the_discrete_gaussian_law(scale):
    """Scales wrong by 5% are rejected."""
    drawn = draws(scale)
    assert fits(*cells(drawn, scale))
    for factor in (0.95, 1.05):
        assert not fits(*cells(drawn, scale, factor * scale))


@pytest.mark.parametrize("scale", [2_828_429, LARGEST, 2**53])
def test_moments_and_tails_on_the_largest_grids(scale):
    """Each within 5 standard errors; there is no float in which a last digit could be lost."""
    x = np.array([int(it) / scale for it in draws(scale)])
    moments = [x.mean(), (x**2).mean() - 1, (x**3).mean(), (x**4).mean() - 3]
    errors = np.sqrt(np.array([1, 2, 15, 96]) / DRAWS)
    assert (np.abs(moments) < 5 * errors).all()
    for edge in (1, 2, 3):
        chance = special.erfc(edge / math.sqrt(2))
        seen = (np.abs(x) > edge).mean()
        assert abs(seen - chance) < 5 * math.sqrt(chance / DRAWS)
    assert 3.5 < np.abs(x).max() < 6
    last = np.array([int(it) % 10 for it in draws(scale)])
    assert fits(np.bincount(last, minlength=10), [0.1] * 10)


def test_rounded_normal_noise_is_rejected():
    """The variance of rounded noise is larger by 1/12."""
    rounded = np.round(np.random.default_rng(6).standard_normal(DRAWS)).astype(int)
    assert not fits(*cells(rounded, 1))


def test_equal_keys_give_equal_noise_and_neighbouring_keys_independent_noise():
    """Consecutive draws of one stream of keys, and of keys that differ in a bit."""
    key = bytes(64)
    assert discrete_gaussian(key, FINE) == discrete_gaussian(key, FINE)
    flipped = [bytes(63) + bytes([1 << bit]) for bit in range(8)]
    assert len({discrete_gaussian(it, FINE) for it in [key, *flipped]}) == 9
    pairs = draws(FINE).reshape(-1, 2) / FINE
    assert abs(np.corrcoef(pairs.T)[0, 1]) < 5 / math.sqrt(len(pairs))


@pytest.mark.parametrize("ratio", [(0, 1), (1, 3), (1, 1), (7, 3), (22, 7)])
def test_exponential_chances(ratio):
    above, below = ratio
    bits = _bits(hmac.digest(b"s" * 32, repr(ratio).encode(), "sha512"))
    true = sum(_happens(bits, above, below) for _ in range(DRAWS))
    chance = math.exp(-above / below)
    assert abs(true / DRAWS - chance) <= 5 * math.sqrt(chance * (1 - chance) / DRAWS)


def test_uniform_integers():
    bits = _bits(bytes(64))
    assert _below(bits, 1) == 0
    for limit in (2, 3, 7, 8):
        seen = np.bincount([_below(bits, limit) for _ in range(DRAWS)], minlength=limit)
        assert len(seen) == limit
        assert fits(seen, [1 / limit] * limit)


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


# ---- The key of a row ----------------------------------------------------------------------------

ROW = {"place": "north", "period": "2024-01-01", "version": 1, "steps": 3, "scale": FINE}


def test_a_row_made_again_is_the_same_row_and_no_two_rows_share_noise():
    """Equal noise of two numbers would show their difference: of two counts, of a first and a
    second release, of two places with equal counts; of two agreements or two hospitals."""
    first = keyed_noise(b"s" * 32, ["valley", 7], **ROW)
    assert keyed_noise(b"s" * 32, ["valley", 7], **ROW) == first
    others = [
        {"place": "south"},
        {"period": "2024-01-08"},
        {"version": 2},
        {"steps": 4},
        {"scale": FINE + 1},
    ]
    drawn = [keyed_noise(b"s" * 32, ["valley", 7], **ROW | other) for other in others]
    drawn += [keyed_noise(b"s" * 32, purpose, **ROW) for purpose in (["valley", 8], ["hill", 7])]
    drawn += [keyed_noise(b"t" * 32, ["valley", 7], **ROW)]
    assert len({first, *drawn}) == 9


def test_no_two_lists_of_fields_are_one_text():
    """Without lengths, place 1 with version 11 and place 11 with version 1 would share noise."""
    split = [(["a", "b"], "c"), (["a"], "bc"), (["ab"], "c"), (["a", "bc"], ""), ([], "abc")]
    rows = [keyed_noise(b"s" * 32, purpose, **ROW | {"place": at}) for purpose, at in split]
    assert len({*rows}) == len(rows)


def test_noise_of_neighbouring_counts_is_independent():
    """Its correlation over 2,000 weeks is that of independent noise (5 standard errors)."""
    weeks = [f"week {it}" for it in range(2000)]
    pairs = [
        [keyed_noise(b"s" * 32, [], **ROW | {"period": it, "steps": steps}) for steps in (3, 4)]
        for it in weeks
    ]
    assert abs(np.corrcoef(np.array(pairs, dtype=float).T)[0, 1]) < 5 / math.sqrt(len(weeks))


# ---- The file of the secret ----------------------------------------------------------------------


def test_a_secret_is_made_once_and_only_its_owner_reads_it(tmp_path):
    path = tmp_path / "own" / "dpol.secret"
    make_secret(path)
    assert path.stat().st_mode & 0o777 == 0o600
    assert read_secret(path, lost="make another") == path.read_bytes()
    with pytest.raises(OutputError, match="cannot be written"):
        make_secret(path)
    other = tmp_path / "dpol.secret"
    make_secret(other)
    assert other.read_bytes() != path.read_bytes()


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o601])
def test_a_secret_that_others_could_read_is_refused_where_files_have_modes(
    tmp_path, monkeypatch, mode
):
    path = tmp_path / "dpol.secret"
    make_secret(path)
    path.chmod(mode)
    with pytest.raises(DataError, match=r"chmod 600 .* and make another"):
        read_secret(path, lost="make another")
    monkeypatch.setattr(files, "_has_modes", lambda folder: False)  # a share of Windows
    assert read_secret(path, lost="make another") == path.read_bytes()


def test_a_file_system_without_modes_is_told_by_a_new_file(tmp_path, monkeypatch):
    assert files._has_modes(tmp_path)
    assert files._has_modes(tmp_path / "not there")
    real = files.tempfile.NamedTemporaryFile

    def open_to_all(**options):
        made = real(**options)
        files.os.fchmod(made.fileno(), 0o777)
        return made

    monkeypatch.setattr(files.tempfile, "NamedTemporaryFile", open_to_all)
    assert not files._has_modes(tmp_path)


@pytest.mark.parametrize("content", [b"", bytes(32), b"k" * 32, b"kitten" * 5 + b"ab", bytes(64)])
def test_bytes_that_are_not_random_are_no_secret(tmp_path, content):
    """A power cut leaves zeros; with these anybody could take the noise away."""
    path = tmp_path / "dpol.secret"
    path.touch(0o600)
    path.write_bytes(content)
    with pytest.raises(DataError, match="is not a secret of dpol"):
        read_secret(path, lost="make another")


def test_a_secret_is_on_the_disk_before_it_is_used(tmp_path, monkeypatch):
    synced = []
    monkeypatch.setattr(files.os, "fsync", synced.append)
    make_secret(tmp_path / "dpol.secret")
    assert len(synced) == 2, "the file, and the folder that names it"
