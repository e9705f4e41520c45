"""Gaussian noise on gain vectors, scaled in four ways.

All but `capacity`, which is ours, are the paper's: "Prediction with Expert Advice under Local
Differential Privacy", sections 2.2 and A.2.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from dpol.core.errors import DataError
from dpol.core.randomness import Floats, ReplicateGenerators, replicate_generators
from dpol.data.stream import GainStream
from dpol.privacy.guarantee import Guarantee, neighbours_of


@dataclass(frozen=True)
class NoisyGains:
    """What a local algorithm may see: noisy gains and their public noise scale.

    Args:
        initial: (R, n) pure noise of the scale of round 1, drawn before the game (z_0).
        gains: (R, T, n) noisy gains.
        noise_scale: (T, n) standard deviation of the noise; 0 means none.
        gain_range: upper end of the raw gains' range.
        guarantee: the privacy of each round's noisy vector, and of anything made from them.
    """

    initial: Floats
    gains: Floats
    noise_scale: Floats
    gain_range: float
    guarantee: Guarantee

    @property
    def n_replicates(self) -> int:
        """R."""
        return int(self.gains.shape[0])

    @property
    def n_rounds(self) -> int:
        """T."""
        return int(self.gains.shape[1])

    @property
    def n_experts(self) -> int:
        """n."""
        return int(self.gains.shape[2])


def _isotropic(stream: GainStream, mu: float) -> Floats:
    return np.broadcast_to((stream.sensitivity / mu)[:, None], stream.gains.shape)


def _isotropic_worst_case(stream: GainStream, mu: float) -> Floats:
    # sqrt(2) minimises the worst-case regret bound (eta + 2/eta) sqrt(2 T log n).
    return np.maximum(_isotropic(stream, mu), math.sqrt(2.0) * stream.gain_range)


def _capacity(stream: GainStream, mu: float) -> Floats:
    capacity = stream.capacities_for("the noise capacity")
    return np.asarray(math.sqrt(2.0) * stream.count_sensitivity / (mu * capacity))


def _isotropic_constant(stream: GainStream, mu: float) -> Floats:
    return np.broadcast_to(stream.sensitivity.max() / mu, stream.gains.shape)


NOISES: dict[str, Callable[[GainStream, float], Floats]] = {
    "isotropic": _isotropic,
    "isotropic-constant": _isotropic_constant,
    "isotropic-worst-case": _isotropic_worst_case,
    "capacity": _capacity,
}
"""How each noise makes the (T, n) noise scale of a stream, see `noise_scale`."""


def noise_scale(stream: GainStream, noise: str, mu: float) -> Floats:
    """The (T, n) noise standard deviations at privacy level mu.

    With Delta_t the L2 sensitivity of round t, c the capacities and r the gain range:
    `isotropic` Delta_t / mu; `isotropic-constant` the largest of them in every round;
    `isotropic-worst-case` max(Delta_t / mu, sqrt(2) r), which keeps noise even at mu = inf;
    `capacity` sqrt(2) s / (mu c_ti), that is N(0, 2 s^2 / mu^2) on each count, s the count
    sensitivity.

    Raises:
        ValueError: unknown noise, or mu not above 0.
        DataError: `capacity` on a stream without capacities, or the noise is no finite number.
    """
    if noise not in NOISES:
        raise ValueError(f"noise {noise!r} is not one of {', '.join(NOISES)}")
    if not mu > 0:
        raise ValueError(f"mu must be above 0, got {mu}")
    scale = NOISES[noise](stream, mu)
    if not np.isfinite(scale).all():
        raise DataError(
            f"stream {stream.label}: {noise} noise at mu = {mu:g} is too large for a number;"
            " take a larger mu, or a smaller sensitivity"
        )
    return scale


def achieved_mu(stream: GainStream, scale: Floats) -> float:
    """The exact Gaussian-DP parameter of noise with standard deviations `scale` (T, n).

    Moving one person between hospitals i and j shifts round t's noisy vector by a
    Mahalanobis distance of sqrt(1/(c_i eta_i)^2 + 1/(c_j eta_j)^2) times the count
    sensitivity; the worst pair of the worst round counts. With a given sensitivity Delta_t the
    shift is at most Delta_t / eta for the least noisy expert of round t.
    """
    with np.errstate(divide="ignore"):
        if stream.capacity is None:
            return float((stream.sensitivity / scale.min(axis=1)).max())
        shift = (stream.count_sensitivity / (stream.capacity * scale)) ** 2
    worst_two = np.sort(shift, axis=1)[:, -2:]
    return float(np.sqrt(worst_two.sum(axis=1).max()))


def privatize(
    stream: GainStream,
    noise: str,
    mu: float,
    *,
    seed: int,
    replicates: Sequence[int],
) -> NoisyGains:
    """Noise a stream once for every replicate.

    Args:
        stream: the raw gains; the result holds no reference to them.
        noise: a key of `NOISES`.
        mu: privacy level; inf for no noise (but see `isotropic-worst-case`).
        seed: root seed; the noise depends on it, the stream's label, noise, mu and
            the replicate's number only.
        replicates: numbers of the replicates.

    Raises:
        ValueError: unknown noise, mu not above 0, or no replicate.
        DataError: `capacity` on a stream without capacities.

    Source: "Prediction with Expert Advice under Local Differential Privacy", sections 3 and A.2;
    `capacity` is ours.

    >>> from dpol.data.stream import GainStream
    >>> periods = np.datetime64("2021-01-01") + 7 * np.arange(3)
    >>> gains, beds = np.full((3, 2), 0.1), np.full((3, 2), 40.0)
    >>> stream = GainStream("example", gains, beds, ("north", "south"), periods)
    >>> noisy = privatize(stream, "capacity", mu=0.5, seed=1, replicates=range(10))
    >>> noisy.gains.shape, noisy.noise_scale[0].round(4).tolist()
    ((10, 3, 2), [0.0707, 0.0707])
    >>> round(noisy.guarantee.mu, 6), noisy.guarantee.model
    (0.5, 'local')
    """
    if not len(replicates):
        raise ValueError("at least one replicate is needed")
    scale = np.array(noise_scale(stream, noise, mu))
    generators = replicate_generators(
        seed, (stream.label, noise, float(mu)), replicates, "local noise"
    )
    initial, gains = _draw(stream.gains, scale, generators)
    for array in (scale, initial, gains):
        array.flags.writeable = False
    return NoisyGains(
        initial=initial,
        gains=gains.transpose(1, 0, 2),
        noise_scale=scale,
        gain_range=stream.gain_range,
        guarantee=_guarantee(stream, noise, scale),
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
    on_counts = noise == "capacity"
    return Guarantee(
        mechanism=f"{noise} Gaussian noise on every gain vector",
        **neighbours_of(stream).as_fields(),
        sensitivity=(
            math.sqrt(2.0) * stream.count_sensitivity
            if on_counts
            else float(stream.sensitivity.max())
        ),
        sensitivity_unit="L2, persons" if on_counts else "L2, gain",
        mu=achieved_mu(stream, scale),
        model="local",
        sampler="seeded",
    )
