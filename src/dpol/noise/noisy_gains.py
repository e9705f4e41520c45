"""Gaussian noise on gain vectors: what a local algorithm is given in place of raw gains.

Source: "Prediction with Expert Advice under Local Differential Privacy", sections 3 and A.2.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dpol.core.errors import DataError
from dpol.core.randomness import Floats, ReplicateGenerators, Seeds, replicate_numbers
from dpol.data.stream import GainStream
from dpol.noise.noises import NOISES
from dpol.privacy.guarantee import Guarantee, neighbours_of
from dpol.privacy.stays import mu_of_rounds, mu_of_stays


@dataclass(frozen=True)
class NoisyGains:
    """What a local algorithm may see: noisy gains and their public noise scale.

    Args:
        initial: (R, n) pure noise of the scale of round 1, drawn before the game (z_0).
        gains: (R, T, n) noisy gains.
        noise_scale: (T, n) standard deviation of the noise; 0 means none.
        gain_range: upper end of the raw gains' range.
        guarantee: the privacy of each round's noisy vector, and of anything made from them.
        seeds: what the noise was drawn from: seed, stream, noise, mu and replicates; None if it
            was made by hand. The game keys an algorithm's own numbers by it; no algorithm sees it.
        stay: in how many rounds in a row a person may be counted, for whom the guarantee holds.
    """

    initial: Floats
    gains: Floats
    noise_scale: Floats
    gain_range: float
    guarantee: Guarantee
    seeds: Seeds | None = None
    stay: int = 1

    @property
    def n_replicates(self) -> int:
        """Number of replicates R."""
        return int(self.gains.shape[0])

    @property
    def n_rounds(self) -> int:
        """Number of rounds T."""
        return int(self.gains.shape[1])

    @property
    def n_experts(self) -> int:
        """Number of experts n."""
        return int(self.gains.shape[2])


def noise_scale(stream: GainStream, noise: str, mu: float) -> Floats:
    """The (T, n) noise standard deviations at privacy level mu.

    Raises:
        ValueError: unknown noise, or mu not above 0.
        DataError: the stream lacks the capacities that the noise needs, or the noise is no finite
            number.
    """
    if noise not in NOISES:
        raise ValueError(f"noise {noise!r} is not one of {', '.join(NOISES)}")
    if not mu > 0:
        raise ValueError(f"mu must be above 0, got {mu}")
    scale = NOISES[noise].scale(stream, mu / math.sqrt(stream.stay))
    if not np.isfinite(scale).all():
        raise DataError(
            f"stream {stream.label}: {noise} noise at mu = {mu:g} is too large for a number;"
            " take a larger mu, or a smaller sensitivity"
        )
    return scale


def achieved_mu(stream: GainStream, scale: Floats) -> float:
    """The exact Gaussian-DP parameter of noise with standard deviations `scale` (T, n).

    Moving one person between hospitals i and j shifts round t's noisy vector by a Mahalanobis
    distance of sqrt(1/(c_i eta_i)^2 + 1/(c_j eta_j)^2) times the count sensitivity; the worst pair
    of the worst round counts, or of every round of the worst stay. With a given sensitivity
    Delta_t the shift is at most Delta_t / eta for the least noisy expert of round t.
    """
    if stream.capacity is None:
        with np.errstate(divide="ignore"):
            return float((stream.sensitivity / scale.min(axis=1)).max())
    return mu_of_stays(_shifts(stream, scale), None, stream.stay)


def _shifts(stream: GainStream, scale: Floats) -> Floats:
    with np.errstate(divide="ignore"):
        return stream.count_sensitivity / (stream.capacities_for("a person's share") * scale)


def privatize(
    stream: GainStream,
    noise: str,
    mu: float,
    *,
    seed: int,
    replicates: int | Sequence[int],
) -> NoisyGains:
    """Noise a stream once for every replicate.

    Args:
        stream: the raw gains; the result holds no reference to them.
        noise: a key of `dpol.noise.NOISES`.
        mu: privacy level; inf for no noise, if the noise has `none_at_infinity`.
        seed: root seed; with the stream's label, noise, mu and replicate it fixes the noise.
        replicates: how many, or their numbers.

    Raises:
        ValueError: unknown noise, mu not above 0, or no replicate.
        DataError: as `noise_scale`.

    >>> from dpol.data.stream import GainStream
    >>> periods = np.datetime64("2021-01-01") + 7 * np.arange(3)
    >>> gains, beds = np.full((3, 2), 0.1), np.full((3, 2), 40.0)
    >>> stream = GainStream("example", gains, beds, ("north", "south"), periods)
    >>> noisy = privatize(stream, "capacity", mu=0.5, seed=1, replicates=10)
    >>> noisy.gains.shape, noisy.noise_scale[0].round(4).tolist()
    ((10, 3, 2), [0.0707, 0.0707])
    >>> round(noisy.guarantee.mu, 6), noisy.guarantee.model
    (0.5, 'local')
    """
    seeds = Seeds(seed, stream.label, noise, float(mu), replicate_numbers(replicates))
    scale = np.array(noise_scale(stream, noise, mu))
    initial, gains = _draw(stream.gains, scale, seeds.local_noise())
    for array in (scale, initial, gains):
        array.flags.writeable = False
    return NoisyGains(
        initial=initial,
        gains=gains.transpose(1, 0, 2),
        noise_scale=scale,
        gain_range=stream.gain_range,
        guarantee=_guarantee(stream, noise, scale),
        seeds=seeds,
        stay=stream.stay,
    )


def _draw(raw: Floats, scale: Floats, generators: ReplicateGenerators) -> tuple[Floats, Floats]:
    """The initial noise (R, n) and the noisy gains (T, R, n).

    Rounds lead in memory because algorithms read one round of all replicates at a time.
    """
    rounds, n = raw.shape
    replicates = generators.n_replicates
    initial = np.zeros((replicates, n))
    if not scale.any():
        return initial, np.repeat(raw[:, None], replicates, axis=1)
    gains = np.empty((rounds, replicates, n))
    noise = np.empty((rounds + 1, n))
    for r, generator in enumerate(generators.generators):
        generator.standard_normal(out=noise)
        np.multiply(noise[0], scale[0], out=initial[r])
        noise[1:] *= scale
        np.add(noise[1:], raw, out=gains[:, r])
    return initial, gains


def _guarantee(stream: GainStream, noise: str, scale: Floats) -> Guarantee:
    sensitivity, unit = NOISES[noise].sensitivity(stream)
    return Guarantee(
        mechanism=f"{noise} Gaussian noise on every gain vector",
        **neighbours_of(stream).as_fields(
            lambda rounds: mu_of_rounds(_shifts(stream, scale), None, rounds)
        ),
        sensitivity=sensitivity,
        sensitivity_unit=unit,
        mu=achieved_mu(stream, scale),
        model="local",
        sampler="seeded",
    )
