"""Leaders of privately released sums: their noise, state and record of privacy.

A curator releases sums of the gains by the matrix mechanism, and anyone can name the leader. No
curator is needed: hospitals that keep their own past can release the same sums, with the same
distribution and the same mu.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace

import numpy as np

from dpol.core.randomness import Floats, ReplicateGenerators
from dpol.experts.interface import Actions, CentralAlgorithm, CuratorSetup, Observation
from dpol.privacy.guarantee import Guarantee
from dpol.privacy.matrix_mechanism import Factorization, MatrixMechanism, scaled_to


@dataclass(frozen=True, kw_only=True)
class SumsState:
    """Raw sums so far, and the noise of all sums to come.

    Args:
        mechanism: mechanism that makes the noise.
        rounds: number of rounds so far.
        sums: (R, n) raw sums that the next release is made from.
        noise: (T, R, n) noise of every release; empty before round 1.
        kept: (R, n) arrays of earlier rounds that the algorithm needs, the latest last.
    """

    mechanism: MatrixMechanism
    rounds: int = 0
    sums: Floats
    noise: Floats
    kept: tuple[Floats, ...] = ()

    @property
    def released(self) -> Floats:
        """Sums that are released after the last round, noise included, (R, n)."""
        return np.asarray(self.sums + self.noise[self.rounds - 1])


@dataclass(frozen=True)
class ReleasedSums(CentralAlgorithm[SumsState]):
    """The leader of sums that the matrix mechanism releases; expert 0 in round 1.

    The isotropic noise gives every expert the same noise. The capacity noise (†) gives each
    expert the noise for the largest change that one person can make to its gain.
    """

    origin = "standard"

    @abstractmethod
    def factorization(self, n_rounds: int) -> Factorization:
        """Return the factorization that releases the sums of a game of T rounds."""

    @abstractmethod
    def absorb(self, state: SumsState, gains: Floats) -> SumsState:
        """Return the state with the (R, n) gains of the round that `state.rounds` counts last."""

    def scores(self, state: SumsState) -> Floats:
        """Return (R, n) scores made from releases alone; the leader is their argmax."""
        return state.released

    def mechanism(self, setup: CuratorSetup) -> MatrixMechanism:
        """Return the mechanism at the privacy level of a game.

        Raises:
            ValueError: capacity noise is asked for, but gains have no capacities.
        """
        return scaled_to(
            self.factorization(setup.n_rounds),
            setup.sensitivity if setup.changes is None else setup.changes,
            setup.n_experts,
            setup.mu,
            by_capacity=setup.by_capacity,
            stay=setup.stay,
        )

    def init(self, setup: CuratorSetup) -> SumsState:
        nothing = np.zeros((setup.n_replicates, setup.n_experts))
        return SumsState(
            mechanism=self.mechanism(setup),
            sums=nothing,
            noise=np.zeros((0, *nothing.shape)),
        )

    def step(
        self, state: SumsState, observation: Observation | None, generators: ReplicateGenerators
    ) -> tuple[SumsState, Actions]:
        if not len(state.noise):
            state = replace(state, noise=state.mechanism.noise(generators))
        if observation is None:  # nothing is released yet: all experts tie
            return state, np.zeros(len(state.sums), dtype=np.int32)
        state = self.absorb(replace(state, rounds=state.rounds + 1), observation.gains)
        return state, self.scores(state).argmax(axis=1).astype(np.int32)

    def guarantee(self, setup: CuratorSetup) -> Guarantee:
        """Return the Gaussian-DP guarantee of all released sums and of the actions."""
        mechanism = self.mechanism(setup)
        name = f"Gaussian noise on factorised sums ({mechanism.factorization.name})"
        return setup.guarantee(name, mechanism.achieved_mu, mechanism.mu_of_rounds)
