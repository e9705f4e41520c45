"""Scales of other packages: honest ones pass, wrong ones are refused, and nothing else is taken."""

from __future__ import annotations

import dataclasses
import math
import time

import numpy as np
import pytest

from checks import scales
from dpol.checks.check import check
from dpol.noise import MEMORY, NOISES, privatize
from dpol.noise.noisy_gains import noise_scale
from dpol.privacy.noise_laws import LAPLACE


def refusals(name: str, seed: int) -> list[str]:
    """Return the counterexamples to a noise of `scales`."""
    verdicts = check(f"checks.scales:{name}", seed=seed)
    return [each.counterexample for each in verdicts if not each.holds]


@pytest.mark.parametrize("number", range(len(scales.HONEST)), ids=[*scales.HONEST])
def test_an_honest_scale_is_not_accused_within_three_seconds(number):
    start = time.process_time()
    assert refusals(f"HONEST_{number}", seed=1 + number) == []
    assert time.process_time() - start < 6  # 3 s on an idle machine


@pytest.mark.parametrize("number", range(len(scales.WRONG)), ids=[*scales.WRONG])
def test_a_wrong_scale_is_refused(number):
    assert refusals(f"WRONG_{number}", seed=1 + number)


@pytest.mark.parametrize(
    "drawing",
    [NOISES["laplace-uniform"], MEMORY, type("Own", (type(MEMORY),), {})(
        name="own", title="own", origin="other", scale=MEMORY.scale
    )],
)  # fmt: skip
def test_whatever_draws_is_refused_in_words(monkeypatch, drawing):
    monkeypatch.setattr(scales, "DRAWING", drawing, raising=False)
    with pytest.raises(ValueError, match="draws noise of its own; dpol draws the noise of other"):
        check("checks.scales:DRAWING")


def test_a_law_is_one_of_dpol_and_other_laws_are_for_counts():
    with pytest.raises(ValueError, match="law_name must be Gaussian or Laplace"):
        dataclasses.replace(MEMORY, law_name="uniform")
    with pytest.raises(ValueError, match="Laplace noise is noise on counts; set needs_capacities"):
        dataclasses.replace(NOISES["isotropic"], law_name="Laplace")


def test_a_scale_sees_no_gains_where_noise_is_drawn(random_stream):
    """Even a scale that would show them."""
    stream = random_stream(6, 3)
    blank = dataclasses.replace(stream, gains=np.zeros_like(stream.gains))
    name = f"checks.scales:WRONG_{[*scales.WRONG].index('by the number of people')}"
    np.testing.assert_array_equal(noise_scale(stream, name, 1.0), noise_scale(blank, name, 1.0))


@pytest.mark.parametrize("mu", [0.5, 4.0])
def test_laplace_noise_has_the_deviation_and_the_record_of_its_scale(random_stream, mu):
    """The mean square of 160,000 draws within 5 standard errors."""
    stream = dataclasses.replace(random_stream(4, 4), stay=2)
    name = f"checks.scales:HONEST_{[*scales.HONEST].index('Laplace by pure epsilon')}"
    noisy = privatize(stream, name, mu, seed=1, replicates=10_000)
    squares = ((noisy.gains - stream.gains) / noisy.noise_scale) ** 2
    assert abs(squares.mean() - 1) < 5 * squares.std() / math.sqrt(squares.size)
    first = (noisy.initial / noisy.noise_scale[0]) ** 2
    assert abs(first.mean() - 1) < 5 * first.std() / math.sqrt(first.size)
    e = math.sqrt(2) / float((noisy.noise_scale * stream.capacity)[0, 0])
    assert noisy.guarantee.mu == pytest.approx(LAPLACE.loss(e, 4).mu, rel=1e-6)
    assert noisy.guarantee.of_rounds(1).mu == pytest.approx(LAPLACE.loss(e, 2).mu, rel=1e-6)
    assert "Laplace noise on counts" in noisy.guarantee.mechanism
