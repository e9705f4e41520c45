"""L2P over multiplicative weights, in the central model."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, replace
from functools import lru_cache, partial
from typing import ClassVar

import numpy as np

from dpol.core.arguments import check_choice, check_number, check_whole
from dpol.core.errors import DataError
from dpol.core.randomness import Floats, ReplicateGenerators
from dpol.experts.interface import Actions, CentralAlgorithm, CuratorSetup, Observation
from dpol.lazy.accounting import ACCOUNTANTS, NORMALISERS, Accountant, LazyGame, sound_loss
from dpol.lazy.parameters import AccountedParameters, choose_parameters
from dpol.lazy.transform import LazyParameters, LazyState, advance, start
from dpol.lazy.weights import WeightsMeasure
from dpol.privacy.gaussian_dp import epsilon_of_delta
from dpol.privacy.guarantee import Guarantee, Origin
from dpol.privacy.losses import Loss, pure


@dataclass(frozen=True, kw_only=True)
class LazyWeightsState:
    """State of a lazy algorithm over multiplicative weights between rounds.

    Args:
        measure: multiplicative weights.
        parameters: parameters of the transformation.
        gain_range: r, the range of gains; a loss is (r - gain) / r.
        lazy: state of the transformation; None before round 1.
        batch: (n,) summed losses of the current batch so far.
        rounds: rounds of the current batch so far.
    """

    measure: WeightsMeasure
    parameters: LazyParameters
    gain_range: float
    lazy: LazyState | None = None
    batch: Floats
    rounds: int = 0


@dataclass(frozen=True)
class LazyWeights(CentralAlgorithm[LazyWeightsState]):
    """L2P: keep the expert unless new losses or a coin cause a redraw by multiplicative weights.

    The parameters keep mu-GDP (`sound`), or the (epsilon, delta) of mu-GDP at `delta`
    (`published`), for the largest change of a loss that one person can cause. Source: "Private
    Online Learning via Lazy Algorithms", Algorithm 1 and section 3.1; `sound` is not in the paper.

    Args:
        delta: delta of the theorem, in (0, 1); with `sound`, of the search for parameters.
        accountant: `sound` (not in the paper; with the tight normaliser, and a bound on regret as
            objective) or `published` (Theorem 3.2, with the paper's normaliser and objective).
        largest_batch: largest batch size in rounds; None for no limit.

    Raises:
        ValueError: a parameter is unknown or out of range.

    >>> from dpol.experts.play import RawGains, guarantee_of
    >>> from dpol.data.stream import GainStream
    >>> periods = np.datetime64("2021-01-01") + 7 * np.arange(100)
    >>> beds = np.full((100, 2), 50.0)
    >>> stream = GainStream(
    ...     label="example",
    ...     gains=np.full((100, 2), 0.2),
    ...     capacity=beds,
    ...     entities=("a", "b"),
    ...     periods=periods,
    ... )
    >>> guarantee = guarantee_of(LazyWeights(), RawGains(stream, mu=0.5))
    >>> guarantee.model, 0 < guarantee.mu <= 0.5
    ('central', True)
    """

    scales_noise = False
    one_round = True
    name: ClassVar[str] = "L2P"
    """Name in messages."""
    mechanism: ClassVar[str] = "lazy resampling from multiplicative weights (L2P)"
    """Name of the mechanism in privacy records."""
    choose: ClassVar[Callable[..., AccountedParameters]] = staticmethod(choose_parameters)
    """Function that chooses the parameters for an epsilon."""

    delta: float = 1e-6
    accountant: Accountant = "sound"
    _: KW_ONLY
    largest_batch: int | None = None

    def __post_init__(self) -> None:
        check_number("delta", self.delta, "(0, 1)")
        check_choice("accountant", self.accountant, ACCOUNTANTS)
        if self.largest_batch is not None:
            check_whole("largest_batch", self.largest_batch)

    @property
    def origin(self) -> Origin:
        published = self.accountant == "published" and self.largest_batch is None
        return "paper" if published else "dpol"

    def parameters_for(self, setup: CuratorSetup) -> AccountedParameters:
        """Return the parameters for a game.

        Raises:
            ValueError: there are fewer than two experts.
            DataError: no parameters make this game private enough.
        """
        if setup.n_experts < 2:
            raise ValueError(f"{self.name} needs at least 2 experts, got {setup.n_experts}")
        try:
            return _parameters(self, self._game(setup), setup.mu, setup.n_experts)
        except ValueError as error:
            raise DataError(
                f"{self.name} at mu = {setup.mu:g}: {error}; take a larger mu, a larger delta of"
                " the algorithm, or leave it out of the suite"
            ) from None

    def _game(self, setup: CuratorSetup) -> LazyGame:
        return LazyGame(
            setup.n_rounds,
            self.delta,
            largest_change=min(setup.largest_change / setup.gain_range, 1.0),
            normaliser=NORMALISERS[self.accountant],
        )

    def loss(self, game: LazyGame, made: AccountedParameters) -> Loss:
        """Return the loss of the actions; that of the theorem is (epsilon, delta)-DP."""
        if self.accountant == "published":
            return pure(made.epsilon, self.delta)
        return sound_loss(game, made)

    def init(self, setup: CuratorSetup) -> LazyWeightsState:
        parameters = self.parameters_for(setup)
        return LazyWeightsState(
            measure=WeightsMeasure(setup.n_experts, parameters.eta),
            parameters=parameters,
            gain_range=setup.gain_range,
            batch=np.zeros(setup.n_experts),
        )

    def step(
        self,
        state: LazyWeightsState,
        observation: Observation | None,
        generators: ReplicateGenerators,
    ) -> tuple[LazyWeightsState, Actions]:
        lazy, batch, rounds = state.lazy, state.batch, state.rounds
        if lazy is None:
            lazy = start(state.measure, generators)
        if observation is not None:
            # The curator's observation is the same for every replicate.
            batch, rounds = batch + (1 - observation.gains[0] / state.gain_range), rounds + 1
        if rounds == state.parameters.batch_size:
            lazy = advance(state.measure, state.parameters, lazy, batch, generators)
            batch, rounds = np.zeros_like(batch), 0
        return replace(state, lazy=lazy, batch=batch, rounds=rounds), lazy.played

    def guarantee(self, setup: CuratorSetup) -> Guarantee:
        """Return the guarantee of the actions."""
        return Guarantee(
            mechanism=f"{self.mechanism}, {self.accountant} accountant",
            **setup.neighbours.as_fields(),
            sensitivity=setup.largest_change,
            sensitivity_unit="L-infinity, gain",
            loss=self.loss(self._game(setup), self.parameters_for(setup)),
            model="central",
        )


@lru_cache(maxsize=64)
def _parameters(
    algorithm: LazyWeights, game: LazyGame, mu: float, n_experts: int
) -> AccountedParameters:
    """Return the parameters of the largest epsilon that keep mu; or of the epsilon of mu at delta.

    The latter are those of the theorem, which keep no mu. Otherwise an epsilon that gives another
    mu than asked is changed by their ratio, until mu is reached to 1%, or has no effect any more.
    """
    choose = partial(
        algorithm.choose,
        game,
        n_experts=n_experts,
        accountant=algorithm.accountant,
        largest_batch=algorithm.largest_batch,
    )
    epsilon = epsilon_of_delta(game.delta, mu)
    if algorithm.accountant == "published" or mu == math.inf:
        return choose(epsilon=epsilon)
    epsilon, best, last = epsilon or mu, None, math.nan
    for _ in range(_MOST_SEARCHES):
        tried = choose(epsilon=epsilon)
        reached = algorithm.loss(game, tried).mu
        if reached <= mu:
            if best is None or tried.objective < best.objective:
                best = tried
            if reached >= 0.99 * mu or reached == last:
                return best
        epsilon, last = epsilon * 0.997 * mu / reached, reached
    if best is None:
        raise ValueError("no parameters were found that keep it")
    return best


_MOST_SEARCHES = 12
