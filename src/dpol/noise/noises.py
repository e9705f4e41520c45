"""The noises: how the Gaussian noise on gain vectors is scaled. To add one: one line here.

With Delta_t the L2 sensitivity of round t, c_ti the capacities, s the count sensitivity and r the
gain range. All noises but `capacity`, which is ours, are the paper's: "Prediction with Expert
Advice under Local Differential Privacy", sections 2.2 and A.2.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dpol.core.randomness import Floats
from dpol.data.stream import GainStream
from dpol.privacy.guarantee import Origin


@dataclass(frozen=True)
class Noise:
    """A way to scale Gaussian noise on gain vectors.

    Args:
        name: what configs, files and keys of random numbers call it.
        title: its standard deviation on expert i in round t, in words and symbols.
        origin: `paper`, `standard` or `ours`.
        scale: (stream, mu) to the (T, n) standard deviations.
        needs_capacities: whether it is refused for gains with a given sensitivity.
        constant: whether all rounds and experts have the same scale.
        on_counts: whether it is noise of one scale on every count; its record counts persons.
        none_at_infinity: whether there is no noise at mu = inf.
        central: whether curators scale their noise by it too, with one scale for all rounds.
    """

    name: str
    title: str
    origin: Origin
    scale: Callable[[GainStream, float], Floats]
    needs_capacities: bool = False
    constant: bool = False
    on_counts: bool = False
    none_at_infinity: bool = True
    central: bool = False

    def sensitivity(self, stream: GainStream) -> tuple[float, str]:
        """The largest sensitivity of a round that the noise hides, and its unit."""
        if self.on_counts:
            return math.sqrt(2.0) * stream.count_sensitivity, "L2, persons"
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


ISOTROPIC = Noise(
    "isotropic",
    "Δ_t / μ for every expert; Δ_t is √2 / smallest capacity, or as given with a table of gains",
    "paper",
    _isotropic,
    central=True,
)
CONSTANT = Noise(
    "isotropic-constant",
    "the largest Δ_t / μ of all rounds, for every expert and round",
    "paper",
    _isotropic_constant,
    constant=True,
)
WORST_CASE = Noise(
    "isotropic-worst-case",
    "max(Δ_t / μ, √2): the scale that optimises the worst-case regret; noisy even at μ = ∞",
    "paper",
    _isotropic_worst_case,
    none_at_infinity=False,
)
CAPACITY = Noise(
    "capacity",
    "√2 / (μ · capacity of i), the same noise on every *count*; needs capacities",
    "ours",
    _capacity,
    needs_capacities=True,
    on_counts=True,
    central=True,
)

NOISES: dict[str, Noise] = {
    noise.name: noise for noise in (ISOTROPIC, CONSTANT, WORST_CASE, CAPACITY)
}
"""All noises by name."""

CENTRAL_NOISES = tuple(name for name, noise in NOISES.items() if noise.central)
"""Names of those that curators use too."""

NO_NOISE = "none"
"""What stands for the noise of algorithms without privacy."""


def is_ours(name: str) -> bool:
    """Whether a name is that of a noise that is not in the papers."""
    return name in NOISES and NOISES[name].origin == "ours"
