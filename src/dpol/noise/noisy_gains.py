"""Noise on gain vectors: the input of a local algorithm in place of raw gains.

Source: "Prediction with Expert Advice under Local Differential Privacy", sections 3 and A.2.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from dpol.core.arguments import check_kind, check_mu
from dpol.core.randomness import (
    Floats,
    ReplicateGenerators,
    replicate_generators,
    replicate_numbers,
)
from dpol.core.words import short_repr
from dpol.data.stream import MAKE_STREAM, GainStream
from dpol.noise.neighbours import neighbours_of
from dpol.noise.noises import MemoryChoice, as_scale, find_noise, known_memory, memory_of
from dpol.privacy.chains import Chains, MemoryKind
from dpol.privacy.gaussian_dp import worst_two
from dpol.privacy.guarantee import Guarantee
from dpol.privacy.losses import Loss
from dpol.privacy.noise_laws import GAUSSIAN, LAPLACE
from dpol.privacy.stays import mu_of_rounds, mu_of_stays


@dataclass(frozen=True, kw_only=True)
class Seeds:
    """Seed and names that, with a purpose, fix the random numbers of a game.

    Args:
        seed: root of all randomness.
        stream: label of the stream.
        noise: name of the noise; `none` where nothing is private.
        mu: privacy level.
        replicates: numbers of the replicates.
    """

    seed: int
    stream: str
    noise: str
    mu: float
    replicates: tuple[int, ...]

    def local_noise(self) -> ReplicateGenerators:
        """Return generators of the noise on the gains, which all algorithms of a suite share."""
        return self._generators("local noise")

    def algorithm(self, label: str) -> ReplicateGenerators:
        """Return generators of an algorithm's own randomness, by its label in a suite."""
        return self._generators(f"algorithm {label}")

    def _generators(self, purpose: str) -> ReplicateGenerators:
        key = (self.stream, self.noise, self.mu)
        return replicate_generators(self.seed, key, self.replicates, purpose)


@dataclass(frozen=True, kw_only=True)
class NoisyGains:
    """Input of a local algorithm: noisy gains and their public noise scale.

    Args:
        initial: (R, n) pure noise of the scale of round 1, drawn before the game (z_0).
        gains: (R, T, n) noisy gains.
        noise_scale: (T, n) standard deviation of the noise; 0 for no noise.
        gain_range: upper end of the raw gains' range.
        guarantee: privacy of each round's noisy vector, and of anything made from the vectors.
        seeds: origin of the noise: seed, stream, noise, mu and replicates; None for noise made by
            hand. They also key an algorithm's own numbers; no algorithm sees them.
        stay: longest stay that the guarantee covers: rounds in a row that may count one person.
        memory: dependence of the noise on earlier noise; None for independent noise.
        fresh_scale: (T, n) standard deviation of the noise's fresh part; None if all is fresh.
        capacity: (T, n) public capacities; None where gains are not shares of people.
        law_name: law of the noise.
    """

    initial: Floats
    gains: Floats
    noise_scale: Floats
    gain_range: float
    guarantee: Guarantee
    seeds: Seeds | None = None
    stay: int = 1
    memory: Chains | None = None
    fresh_scale: Floats | None = None
    capacity: Floats | None = None
    law_name: str = GAUSSIAN.name

    def __repr__(self) -> str:
        made = self.seeds
        return short_repr(
            self,
            *([repr(made.stream), f"{made.noise} noise"] if made else []),
            f"mu {self.guarantee.mu:.4g}",
            f"{self.n_replicates} replicates x {self.n_rounds} rounds x {self.n_experts} experts",
        )

    @property
    def memory_kind(self) -> MemoryKind:
        """Kind of dependence on earlier noise."""
        return "none" if self.memory is None else "chains"

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
    """Return the (T, n) standard deviations of independent noise at privacy level mu.

    Raises:
        ValueError: the noise is unknown.
        DataError: the stream lacks the capacities that the noise needs, or `as_scale` refuses the
            scale.
    """
    made = find_noise(noise)
    one_round = mu / math.sqrt(stream.stay) if made.law is GAUSSIAN else mu
    # Without the gains, so that no scale can depend on them.
    public = replace(stream, gains=np.zeros_like(stream.gains), provenance={})
    return made.scale(public, one_round)


def achieved_mu(stream: GainStream, scale: Floats, memory: Chains | None = None) -> float:
    """Return the exact Gaussian-DP parameter of noise whose fresh part has the (T, n) scale.

    Moving one person between hospitals i and j shifts round t's noisy vector by a Mahalanobis
    distance of sqrt(1/(c_i eta_i)^2 + 1/(c_j eta_j)^2) times the count sensitivity. The worst pair
    counts, of the worst round or of every round of the worst stay. With a given sensitivity
    Delta_t the shift is at most Delta_t / eta for the smallest noisy expert of round t.
    """
    shifts = _shifts(stream, scale)
    if memory is not None:  # a whole chain of counts has one scale
        return memory.mu(shifts.max(axis=0), stream.n_rounds, stream.stay)
    return mu_of_stays(shifts, None, stream.stay)


def _in_rounds(shifts: Floats, memory: Chains | None, rounds: int) -> Loss:
    """Return the loss of a person counted in `rounds` rounds, in a row or not."""
    if memory is not None:
        return Loss(gaussian=memory.mu_of_rounds(shifts.max(axis=0), len(shifts), rounds))
    return Loss(gaussian=mu_of_rounds(shifts, None, rounds))


def _shifts(stream: GainStream, scale: Floats) -> Floats:
    """Return how far one person moves each gain, (T, n), or a round, (T, 1), over its deviation."""
    with np.errstate(divide="ignore"):
        if stream.capacity is None:
            return np.asarray(stream.sensitivity[:, None] / scale.min(axis=1, keepdims=True))
        return stream.count_sensitivity / (stream.capacities_for("a person's share") * scale)


def privatize(
    stream: GainStream,
    noise: str,
    mu: float,
    *,
    seed: int,
    replicates: int | Sequence[int],
    memory: MemoryChoice = "designed",
) -> NoisyGains:
    """Add noise to a stream, once for every replicate.

    Args:
        stream: raw gains; the result holds no reference to them.
        noise: key of `dpol.noise.NOISES`, or name of another package's noise.
        mu: privacy level; inf for no noise, if the noise has `none_at_infinity`.
        seed: root seed; with the stream's label, noise, mu and replicate it fixes all draws, so a
            secret seed is for one release. Two releases that share them, of other capacities, stays
            or a corrected table, have the same draws, and together they reveal the raw gains.
        replicates: number of replicates, or their numbers.
        memory: memory of the noise `capacity-memory`; other noises ignore it.

    Raises:
        TypeError: `stream` is not a `GainStream`.
        ValueError: the noise or memory is unknown, mu is not above 0, the seed is below 0, there is
            no replicate, or the memory is unfit for the stays.
        DataError: the stream lacks the capacities that the noise needs, or the noise is not finite.

    >>> from dpol.data.stream import GainStream
    >>> gains, weeks = np.full((3, 2), 0.1), np.datetime64("2021-01-01") + 7 * np.arange(3)
    >>> stream = GainStream(
    ...     label="example",
    ...     gains=gains,
    ...     capacity=400 * gains,
    ...     entities=("north", "south"),
    ...     periods=weeks,
    ... )
    >>> noisy = privatize(stream, "capacity", mu=0.5, seed=1, replicates=10)
    >>> noisy.gains.shape, noisy.noise_scale[0].round(4).tolist(), round(noisy.guarantee.mu, 6)
    ((10, 3, 2), [0.0707, 0.0707], 0.5)
    """
    check_kind("stream", stream, GainStream, MAKE_STREAM)
    mu = check_mu(mu)
    memory = known_memory(memory, "memory ")
    seeds = Seeds(
        seed=seed,
        stream=stream.label,
        noise=noise,
        mu=mu,
        replicates=replicate_numbers(replicates),
    )
    fresh, kept = _scale_and_memory(stream, noise, mu, memory)
    made = find_noise(noise)
    if made.law is LAPLACE and fresh.any():
        strengths = _strengths(stream, fresh)
        initial, gains = _draw_on_counts(stream, strengths, seeds.local_noise())
    else:
        initial, gains = _draw(stream.gains, fresh, kept, seeds.local_noise())
    return NoisyGains(
        initial=_frozen(initial),
        gains=_frozen(gains).transpose(1, 0, 2),
        noise_scale=_frozen(fresh if kept is None else fresh * kept.deviations(*fresh.shape)),
        gain_range=stream.gain_range,
        guarantee=_guarantee(stream, noise, mu, fresh, kept),
        seeds=seeds,
        stay=stream.stay,
        memory=kept,
        fresh_scale=None if kept is None else _frozen(fresh),
        capacity=stream.capacity,
        law_name=made.law_name,
    )


def _frozen(array: Floats) -> Floats:
    array.flags.writeable = False
    return array


def _scale_and_memory(
    stream: GainStream, noise: str, mu: float, choice: MemoryChoice
) -> tuple[Floats, Chains | None]:
    """Return the (T, n) scale of the fresh noise, and its memory."""
    independent = noise_scale(stream, noise, mu)
    kept = memory_of(find_noise(noise), stream, mu, choice)
    if kept is None:
        return independent, None
    scale = find_noise(noise).scale(stream, mu) * kept.norm(stream.stay)
    return as_scale(scale, noise, stream, mu), kept


def _draw(
    raw: Floats, fresh: Floats, memory: Chains | None, generators: ReplicateGenerators
) -> tuple[Floats, Floats]:
    """Draw the (R, n) initial noise and the (T, R, n) noisy gains.

    Rounds are the first axis because algorithms read one round of all replicates at a time.
    """
    rounds, n = raw.shape
    replicates = generators.n_replicates
    initial = np.zeros((replicates, n))
    if not fresh.any():
        return initial, np.repeat(raw[:, None], replicates, axis=1)
    gains = np.empty((rounds, replicates, n))
    noise = np.empty((rounds + 1, n))
    for r, generator in enumerate(generators.generators):
        generator.standard_normal(out=noise)
        np.multiply(noise[0], fresh[0], out=initial[r])
        gains[:, r] = noise[1:]
    if memory is not None:
        gains = memory.noise(gains)
    gains *= fresh[:, None]
    gains += raw[:, None]
    return initial, gains


def _draw_on_counts(
    stream: GainStream, strengths: Floats, generators: ReplicateGenerators
) -> tuple[Floats, Floats]:
    """Draw the (R, n) initial noise and the (T, R, n) noisy gains of Laplace noise on counts."""
    strengths = _with_initial(strengths)
    draws = [generator.laplace(size=strengths.shape) for generator in generators.generators]
    noise = np.stack(draws, axis=1) / strengths[:, None]
    noise *= _with_initial(_of_one(stream))[:, None]
    return noise[0], stream.gains[:, None] + noise[1:]


def _with_initial(rounds: Floats) -> Floats:
    """Return values (T, n) with those of round 1 before them, for the initial noise."""
    return np.concatenate([rounds[:1], rounds])


def _of_one(stream: GainStream) -> Floats:
    """Return how far one person moves each gain, (T, n)."""
    return np.asarray(stream.count_sensitivity / stream.capacities_for("noise on counts"))


def _strengths(stream: GainStream, scale: Floats) -> Floats:
    """Return the (T, n) strengths of Laplace noise on counts, for the (T, n) deviations of gains.

    Deviations are rounded down to 12 digits, so that cells which are to be alike are; those too
    small for a digit, to 0.
    """
    deviations = scale / _of_one(stream)
    digit = 10 ** (np.floor(np.log10(np.where(deviations > 1e-290, deviations, 1.0))) - 11)
    with np.errstate(divide="ignore"):
        return np.asarray(LAPLACE.deviation_of_one / (np.floor(deviations / digit) * digit))


def record_of(stream: GainStream, noise: str, mu: float) -> Guarantee:
    """Return the record of noise at level mu, without a draw; arguments as in `privatize`."""
    return _guarantee(stream, noise, mu, *_scale_and_memory(stream, noise, mu, "designed"))


def _guarantee(
    stream: GainStream, noise: str, mu: float, fresh: Floats, memory: Chains | None
) -> Guarantee:
    """Return the record of noise made at level mu."""
    made, near = find_noise(noise), neighbours_of(stream)
    in_rounds: Callable[[int], Loss] | None = None
    if made.law is LAPLACE:
        said, remembered = f"{noise}, {made.law.words} on counts", ""
        # A person moves two counts in a round, at most those with the least noise.
        worst = worst_two(_strengths(stream, fresh))
        in_rounds = partial(_of_worst_rounds, worst)
        windows = np.sort(sliding_window_view(worst, stream.stay, axis=0), axis=2)
        loss = _of_strengths(windows.max(axis=0))
    else:
        said, remembered = f"{noise} {made.law.words} on every gain vector", _remembered(memory)
        # It holds public numbers only, as the record leaves with the noisy gains.
        in_rounds = partial(_in_rounds, _shifts(stream, fresh), memory)
        loss = Loss(gaussian=achieved_mu(stream, fresh, memory))
    sensitivity, unit = made.sensitivity(stream)
    return Guarantee(
        mechanism=said,
        **{**near.as_fields(in_rounds), "in_rounds": in_rounds},
        sensitivity=sensitivity,
        sensitivity_unit=unit,
        loss=loss,
        model="local",
        memory=remembered,
    )


def _of_worst_rounds(worst: Floats, rounds: int) -> Loss:
    """Return the loss of a person counted in `rounds` of the rounds, for (T, 2) strengths."""
    return _of_strengths(np.sort(worst, axis=0)[-rounds:])


def _of_strengths(strengths: Floats) -> Loss:
    """Return the loss of a release at each strength."""
    counts = Counter(strengths.ravel().tolist())
    return sum((LAPLACE.loss(e, count) for e, count in counts.items()), Loss())


def _remembered(memory: Chains | None) -> str:
    if memory is None:
        return ""
    ends = (f"{name} = {_span(values)}" for name, values in (("a", memory.a), ("b", memory.b)))
    return ", ".join(ends)


def _span(values: Floats) -> str:
    low, high = values.min(), values.max()
    return f"{low:g}" if low == high else f"{low:g} to {high:g}"
