"""`dpol audit`: what it says of a sound installation, and of faulty ones."""

from __future__ import annotations

import os
import sys

import numpy as np
import pytest
from scipy import stats

from dpol_weekly.holder import audit as audits
from dpol_weekly.holder.audit import ERROR, audit, describe
from dpol_weekly.sampler import SecureNoise
from releases import run
from seeded import SeededNoise

GAP, SCALE = 3.2, 2.8e6
CELLS = 20_000


def in_process(arguments):
    """Run the command in this process."""
    assert run(*arguments)[::2] == (0, "")


def looked_at(change, seed=1, cells=CELLS):
    """The chances of a sound installation to look like one whose draws are changed."""
    rng = np.random.default_rng(seed)
    draws = change(np.round(SCALE * rng.standard_normal(cells)) / SCALE, rng)
    return audits.tests(draws, GAP * rng.choice([-1, 1], size=cells), SCALE)


def failures(chances, error=ERROR):
    return [name for name, chance in chances.items() if chance < error / len(chances)]


def test_a_sound_installation_fails_as_rarely_as_is_said():
    """Over 1,000 seeds at 5%; the test fails with probability 1e-3 where that holds."""
    failed = sum(bool(failures(looked_at(lambda z, _: z, i, 2000), 0.05)) for i in range(1000))
    assert failed <= stats.binom.isf(1e-3, 1000, 0.05)
    assert failed > 0


def seeded_runs(draws, rng):
    """The second run draws what the first one drew."""
    return np.tile(draws[: CELLS // 2], 2)


def correlated(draws, rng):
    """Neighbouring rows share a hundredth of their variance."""
    return np.sqrt(0.9) * draws + np.sqrt(0.1) * np.roll(draws, 1)


def heavy(draws, rng):
    return rng.laplace(scale=np.sqrt(0.5), size=draws.size)


FAULTS = {
    "3.3% too small": (lambda z, _: 0.967 * z, "too small"),
    "10% too large": (lambda z, _: 1.1 * z, "larger than stated"),
    "known in part": (lambda z, _: np.where(np.arange(CELLS) % 9, z, 0), "guesses"),
    "the same in both runs": (seeded_runs, "comes back"),
    "correlated": (correlated, "depends"),
    "of another law": (heavy, "shape"),
}


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_faults_of_the_noise_are_named(fault):
    change, named = fault
    assert any(named in name for name in failures(looked_at(change)))


def test_the_power_that_is_stated_is_the_power():
    """Noise too small by the stated share is noticed in 99 of 100 tables.

    A sound statement fails with probability 1e-3; one of 99% that is 93% passes with 1e-3.
    """
    error = ERROR / 6
    part = 1 - audits.shortfall(CELLS, error)
    noticed = sum(
        looked_at(lambda z, _: part * z, seed)["the noise is too small"] < error
        for seed in range(400)
    )
    assert noticed >= stats.binom.ppf(1e-3, 400, 0.99)
    assert stats.binom.sf(stats.binom.ppf(1e-3, 400, 0.99) - 1, 400, 0.93) < 1e-3


@pytest.fixture
def smaller(monkeypatch):
    """Fewer canaries: 5,000 notice noise that is 10% too small as surely."""
    monkeypatch.setattr(audits, "ENTITIES", 100)
    monkeypatch.setattr(audits, "PERIODS", 50)


def test_an_audit_tells_a_sound_sampler_from_one_whose_noise_is_too_small(smaller, monkeypatch):
    rng, part = np.random.default_rng(5), 1.0

    def draws(self, scale, size):
        return SeededNoise(rng).discrete_gaussian(round(part * scale), size)

    monkeypatch.setattr(SecureNoise, "discrete_gaussian", draws)
    sound = audit(0.5, in_process)
    assert sound.failed == ()
    assert sound.cells == 5000
    assert 0.45 < sound.least_mu < 0.5
    assert sound.shortfall < 0.1
    assert "consistent with mu = 0.5" in describe(sound)[0]
    part = 0.9
    faulty = audit(0.5, in_process)
    assert "the noise is too small" in faulty.failed


MUTANT = """
from dpol_weekly import sampler
sound = sampler.SecureNoise.discrete_gaussian
sampler.SecureNoise.discrete_gaussian = lambda self, scale, size: sound(self, scale * 9 // 10, size)
"""


def test_the_command_audits_what_is_installed(smaller, folder, monkeypatch):
    """A package that changes the sampler of every Python on this machine is noticed."""
    (folder / "sitecustomize.py").write_text(MUTANT)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(folder), *sys.path]))
    code, out, err = run("audit", "--mu", "2", "--json")
    assert code == 1
    assert '"the noise is too small"' in out
    assert "the noise of this installation is not what mu = 2 asks for" in err
