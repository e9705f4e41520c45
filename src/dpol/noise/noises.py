"""The noises: the scale of Gaussian noise on gain vectors, and its memory.

To add a noise to dpol, define it here. Another package registers its noise, or a config names it
as `package.module:NAME`.

Delta_t is the L2 sensitivity of round t, c_ti are the capacities, s is the count sensitivity and
r the gain range. The isotropic noises are the paper's: "Prediction with Expert Advice under Local
Differential Privacy", sections 2.2 and A.2. The noises on counts are not in the papers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

import numpy as np

from dpol.core.arguments import as_float
from dpol.core.errors import DataError
from dpol.core.plugins import load_named, target_of
from dpol.core.randomness import Floats
from dpol.core.words import short_repr
from dpol.data.stream import GainStream
from dpol.privacy.chains import Chains, MemoryKind, designed
from dpol.privacy.guarantee import NO_NOISE, Origin
from dpol.privacy.noise_laws import GAUSSIAN, LAWS, Law

MemoryChoice = Literal["designed", "none"] | tuple[float, float]
"""Memory of the noise `capacity-memory`: made by `designed`, none, or (a, b) for all entities."""


def known_memory(value: object, name: str = "") -> MemoryChoice:
    """Return a checked memory from a config or an argument.

    Args:
        value: value of the config or the argument.
        name: prefix of the message, such as "memory ".

    Raises:
        ValueError: the value is not `designed`, `none`, or two numbers (a, b) in (-1, 1).
    """
    if value == "designed" or value == "none":
        return value
    pair = value if isinstance(value, list | tuple) else ()
    numbers = [x for x in map(as_float, pair) if -1 < x < 1]
    if len(pair) != 2 or len(numbers) != 2:
        allowed = "must be designed, none, or [a, b] with both between -1 and 1"
        raise ValueError(f"{name}{allowed}{f', got {value!r}' if name else ''}")
    return numbers[0], numbers[1]


@dataclass(frozen=True, kw_only=True)
class Noise:
    """A kind of noise on gain vectors: its scale, its law and its memory.

    Noise of another package has a scale, and the name of a law: dpol draws it, and computes what it
    guarantees.

    Args:
        name: name in configs, files and keys of random numbers.
        title: standard deviation on expert i in round t, in words and symbols.
        origin: `paper`, `standard`, `dpol`, or `other` (another package).
        scale: maps (stream, mu) to the (T, n) standard deviations, from public facts: where noise
            is drawn the stream's gains are 0. `find_noise` adds the check of `as_scale`. For
            Gaussian noise mu is that of one round, and dpol divides it for longer stays; for other
            laws it is that of a stay.
        needs_capacities: whether it is noise on counts, so that gains with a given sensitivity are
            refused; the record then counts people.
        constant: whether all rounds and experts have the same scale.
        none_at_infinity: whether there is no noise at mu = inf.
        central: whether curators scale their noise by it too, with one scale for all rounds.
        memory: dependence on earlier noise: `none` or `chains`.
        law_name: name of the law; laws other than `Gaussian` are for noise on counts.
    """

    name: str
    title: str
    origin: Origin
    scale: Callable[[GainStream, float], Floats]
    needs_capacities: bool = False
    constant: bool = False
    none_at_infinity: bool = True
    central: bool = False
    memory: MemoryKind = "none"
    law_name: str = GAUSSIAN.name

    def __post_init__(self) -> None:
        if self.law_name not in LAWS:
            raise ValueError(f"law_name must be {' or '.join(LAWS)}, got {self.law_name!r}")
        if self.law is not GAUSSIAN and not self.needs_capacities:
            raise ValueError(
                f"{self.law.words} is noise on counts; set needs_capacities=True, or take the law"
                f" {GAUSSIAN.name}"
            )

    def __repr__(self) -> str:
        return short_repr(self, repr(self.name), self.title)

    @property
    def law(self) -> Law:
        """Law of the noise."""
        return LAWS[self.law_name]

    def sensitivity(self, stream: GainStream) -> tuple[float, str]:
        """Return the largest sensitivity of a round that the noise hides, and its unit."""
        moved = "persons" if stream.count_sensitivity == 1 else "counts"
        if self.law is not GAUSSIAN:
            return 2 * stream.count_sensitivity, f"L1, {moved}"
        if self.needs_capacities:
            return math.sqrt(2.0) * stream.count_sensitivity, f"L2, {moved}"
        return float(stream.sensitivity.max()), "L2, gain"


def _isotropic(stream: GainStream, mu: float) -> Floats:
    return np.broadcast_to((stream.sensitivity / mu)[:, None], stream.gains.shape)


def _isotropic_constant(stream: GainStream, mu: float) -> Floats:
    return np.broadcast_to(stream.sensitivity.max() / mu, stream.gains.shape)


def _isotropic_worst_case(stream: GainStream, mu: float) -> Floats:
    # sqrt(2) minimises the worst-case regret bound (eta + 2/eta) sqrt(2 T log n).
    return np.maximum(_isotropic(stream, mu), math.sqrt(2.0) * stream.gain_range)


def _capacity(stream: GainStream, mu: float) -> Floats:
    capacity = stream.capacities_for("the noise capacity")
    return np.asarray(math.sqrt(2.0) * stream.count_sensitivity / (mu * capacity))


def as_scale(values: object, noise: str, stream: GainStream, mu: float) -> Floats:
    """Return the (T, n) scale that a noise gave for a stream, as an array of its own.

    A record takes each number as the deviation of the noise that is drawn, so a negative one would
    hide that there is no noise.

    Raises:
        DataError: the values are not (T, n) finite numbers of at least 0.
    """
    try:
        given = np.asarray(values)
    except (TypeError, ValueError):  # rows of several lengths
        given = np.array(None)
    fits = given.dtype.kind in "iuf" and given.shape == stream.gains.shape
    scale = given.astype(float) if fits else np.full(stream.gains.shape, math.nan)
    wrong = np.argwhere(~(np.isfinite(scale) & (scale >= 0)))
    if len(wrong):
        t, i = wrong[0]
        found = f"{scale[t, i]:g} for {stream.entities[i]} in round {t + 1}"
        if not fits:
            found = f"{type(values).__name__} ({given.dtype}) of shape {given.shape}"
        raise DataError(
            f"stream {stream.label}: the scale of {noise} noise at mu = {mu:g} must be finite"
            f" numbers of at least 0, of shape {scale.shape}, got {found}; mend the scale, or take"
            " a larger mu or a smaller sensitivity"
        )
    return scale + 0.0  # -0.0 is no noise, as 0.0 is


def _checked(noise: Noise) -> Noise:
    """Return a noise whose scale passes `as_scale` wherever somebody asks for it."""
    return replace(noise, scale=partial(_scale_of, noise))


def _scale_of(noise: Noise, stream: GainStream, mu: float) -> Floats:
    scale, again = (as_scale(noise.scale(stream, mu), noise.name, stream, mu) for _ in range(2))
    if (scale != again).any():  # parts of a game would share the record of the first
        raise DataError(f"noise {noise.name}: its scale changes when asked again; draw nothing")
    return scale


def memory_of(noise: Noise, stream: GainStream, mu: float, choice: MemoryChoice) -> Chains | None:
    """Return the memory of the noise of a stream; None for independent noise.

    Raises:
        ValueError: the chosen memory does not exist, or is out of range.
    """
    if noise.memory != "chains" or mu == math.inf:
        return None
    level = noise.scale(stream, mu)[0] / stream.gain_range
    if choice == "designed":
        return designed(level, stream.stay)
    a, b = (0.0, 0.0) if choice == "none" else choice
    return Chains(np.full_like(level, a), np.full_like(level, b))


ISOTROPIC = Noise(
    name="isotropic",
    title="Δ_t / μ for every expert; Δ_t is √2 / smallest capacity, or as given with a table of"
    " gains",
    origin="paper",
    scale=_isotropic,
    central=True,
)
CONSTANT = Noise(
    name="isotropic-constant",
    title="the largest Δ_t / μ of all rounds, for every expert and round",
    origin="paper",
    scale=_isotropic_constant,
    constant=True,
)
WORST_CASE = Noise(
    name="isotropic-worst-case",
    title="max(Δ_t / μ, √2): the scale that optimises the worst-case regret; noisy even at μ = ∞",
    origin="paper",
    scale=_isotropic_worst_case,
    none_at_infinity=False,
)
CAPACITY = Noise(
    name="capacity",
    title="√2 / (μ · capacity of i), the same noise on every *count*; needs capacities",
    origin="dpol",
    scale=_capacity,
    needs_capacities=True,
    central=True,
)
MEMORY = replace(
    CAPACITY,
    name="capacity-memory",
    title="as `capacity`, but each hospital's noise cancels part of its earlier noise"
    " (`privacy.memory`)",
    central=False,
    memory="chains",
)
NOISES: dict[str, Noise] = {
    noise.name: _checked(noise) for noise in (ISOTROPIC, CONSTANT, WORST_CASE, CAPACITY, MEMORY)
}
"""Noises of dpol by name."""
NOISE_GROUP = "dpol.noises"
"""Entry-point group in which other packages register noises."""


def find_noise(name: object) -> Noise:
    """Return the noise of this name, of dpol or of another package.

    Raises:
        ValueError: no package has this noise, the name stands for something else, or a noise of
            another package has more than a scale and a law.
    """
    if isinstance(name, str) and name in NOISES:
        return NOISES[name]
    target = target_of("noise", name, NOISES, NOISE_GROUP)
    noise = load_named(str(name), target)
    if not isinstance(noise, Noise):
        raise ValueError(f"noise {name}: {target} is not a dpol.Noise, but {noise!r}")
    if type(noise) is not Noise or noise.memory != "none":
        raise ValueError(
            f"noise {name}: {target} draws noise of its own; dpol draws the noise of other packages"
            " and computes what it guarantees, so give a dpol.Noise with a scale and a law_name"
            f" ({' or '.join(LAWS)})"
        )
    return _checked(replace(noise, name=str(name), origin="other", central=False))


def in_order(names: Collection[str]) -> list[str]:
    """Sort names of noises: first dpol's in the order of `NOISES`, then the others by name."""
    return [*filter(names.__contains__, NOISES), *sorted({*names} - {*NOISES})]


def module_of_noise(name: str) -> str:
    """Return the dotted name of the module that defines a noise."""
    here = name in NOISES or name == NO_NOISE
    return __name__ if here else target_of("noise", name, NOISES, NOISE_GROUP).partition(":")[0]


CENTRAL_NOISES = tuple(name for name, noise in NOISES.items() if noise.central)
"""Names of noises that curators use too."""
