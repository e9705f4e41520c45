"""Scales of other packages: dpol refuses what is no scale, and records the rest as it draws it."""

import dataclasses
import math
import sys
import types

import numpy as np
import pytest

from dpol.cli import main
from dpol.core.errors import DataError
from dpol.noise import CAPACITY, Noise, privatize
from noise.wrong_scales import BASES, RECORDED, REFUSED, noise_of

NAME = "theirs:NOISE"
pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered")


@pytest.fixture
def theirs(monkeypatch):
    """Make a noise the one that another package calls `NAME`."""

    def make(noise):
        module = types.ModuleType("theirs")
        module.NOISE = noise
        monkeypatch.setitem(sys.modules, "theirs", module)
        return NAME

    return make


@pytest.fixture(params=[1, 3], ids="stay {}".format)
def stream(request, random_stream):
    return random_stream(6, 4, stay=request.param)


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("label", REFUSED)
def test_what_is_no_scale_is_refused_in_words(theirs, stream, label, base):
    """A negative number at one place once left it without noise, with the record of mu = 0.5."""
    name = theirs(noise_of(label, base))
    with pytest.raises(
        DataError, match=r"scale .*(must be finite|changes when asked again)"
    ) as why:
        privatize(stream, name, 0.5, seed=1, replicates=2)
    assert NAME in str(why.value)


@pytest.mark.parametrize("label", ["negative at one place", "None", "-0.0 at one place"])
def test_gains_without_capacities_have_the_same_condition(theirs, stream, label):
    name = theirs(noise_of(label, "Gaussian on gains"))
    given = dataclasses.replace(stream, capacity=None, given_sensitivity=np.ones(6), stay=1)
    if label in REFUSED:
        with pytest.raises(DataError, match="must be finite"):
            privatize(given, name, 0.5, seed=1, replicates=2)
    else:
        assert privatize(given, name, 0.5, seed=1, replicates=2).guarantee.mu == math.inf


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("label", RECORDED)
def test_every_other_scale_is_recorded_as_it_is_drawn(theirs, stream, label, base):
    """The record is checked against the noise of 2,000 games: a cell without noise has no mu.

    The deviation of a cell misses its scale by 10% with probability 1e-9 (Gaussian), 1e-4 (Laplace)
    at another seed.
    """
    noisy = privatize(stream, theirs(noise_of(label, base)), 0.5, seed=1, replicates=2000)
    drawn = (noisy.gains - stream.gains).std(axis=0)
    np.testing.assert_allclose(drawn, noisy.noise_scale, rtol=0.1, atol=1e-15)
    assert not np.signbit(noisy.noise_scale).any()
    silent = (drawn < 1e-15).any()
    assert silent == label.startswith(("0", "-0.0", "next"))
    assert (noisy.guarantee.mu == math.inf) == silent
    assert (noisy.guarantee.of_rounds(1).mu == math.inf) == silent


def test_laplace_noise_at_infinity_is_drawn_by_its_law(theirs, random_stream):
    """Its record is of Laplace noise, so Gaussian noise of the same deviation would be another.

    A sample of Gaussian noise has a kurtosis below 4 with probability 1 - 1e-9, one of Laplace
    noise above; 6 is its own.
    """
    scale = lambda stream, mu: np.full(stream.gains.shape, 0.05)  # noqa: E731
    noise = Noise(
        name="n", title="n", origin="other", scale=scale, needs_capacities=True,
        law_name="Laplace", none_at_infinity=False,
    )  # fmt: skip
    stream = random_stream(6, 4)
    noisy = privatize(stream, theirs(noise), math.inf, seed=1, replicates=2000)
    z = (noisy.gains - stream.gains) / 0.05
    assert "Laplace" in noisy.guarantee.mechanism
    assert (z**4).mean() / (z**2).mean() ** 2 > 4.5


@pytest.mark.parametrize("label", REFUSED)
def test_dpol_check_refuses_what_is_no_scale_in_words(theirs, capsys, label):
    assert main(["check", theirs(noise_of(label, "Gaussian on counts"))]) == 1
    said = capsys.readouterr()
    assert "must be finite numbers" in said.out + said.err or "asked again" in said.out + said.err
    assert "Traceback" not in said.out + said.err


@pytest.mark.parametrize("name", ["capacity", "isotropic", "capacity-memory"])
def test_noise_too_large_for_a_number_is_refused(stream, name):
    with pytest.raises(DataError, match="got inf for h. in round .; .* larger mu"):
        privatize(stream, name, 1e-309, seed=1, replicates=1, memory="none")


def test_a_scale_that_changes_its_array_later_changes_no_record(theirs, random_stream):
    kept = np.array(CAPACITY.scale(random_stream(6, 4), 1.0))
    noise = dataclasses.replace(CAPACITY, central=False, scale=lambda stream, mu: kept)
    noisy = privatize(random_stream(6, 4), theirs(noise), 1.0, seed=1, replicates=2)
    kept[:] = -1.0
    assert (noisy.noise_scale > 0).all()
    assert noisy.guarantee.of_rounds(4).mu == pytest.approx(2.0)
