"""Hypothesis selection from private messages: a Scheffé tournament without interaction.

The Scheffé set of two hypotheses holds the labels to which the first gives more mass. Its masses
under the two differ by their total variation.

Source: Kamath, Pour, Regehr and Woodruff, "Query-Efficient Locally Private Hypothesis Selection via
the Scheffe Graph", sections 3 and 4, with the sets of all pairs. There groups are equally large;
here each person draws a pair. A hypothesis answers for its own sets only, which is enough for the
bound below. The problem is from "Locally Private Hypothesis Selection" by Gopi et al., of which we
know the abstract only.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from dpol.core.randomness import Floats
from dpol.labels.clients import MembershipClient
from dpol.labels.clipping import SensitivityRule
from dpol.labels.game import LabelGame, LabelGenerators
from dpol.labels.hypotheses import HypothesisClass, Ints
from dpol.labels.learners import Terms
from dpol.privacy.guarantee import Origin


@dataclass(frozen=True, eq=False)
class ScheffeClient(MembershipClient):
    """Randomised response to one question: is the label in the Scheffé set of a pair?

    The pair is uniform and public.
    """

    @cached_property
    def pairs(self) -> tuple[Ints, Ints]:
        """The first and the second hypothesis, (J,) each, of the J = K (K - 1) / 2 pairs."""
        first, second = np.triu_indices(self.hypotheses.n_hypotheses, 1)
        return first, second

    @cached_property
    def sets(self) -> NDArray[np.bool_]:
        """(X, J, M) whether the first hypothesis of the pair gives the label more mass."""
        first, second = self.pairs
        masses = self.hypotheses.masses
        return np.asarray(masses[:, first] > masses[:, second])


@dataclass(frozen=True, eq=False)
class ScheffeTournament:
    """Select the hypothesis whose masses are nowhere far from the estimated ones.

    The masses of the Scheffé sets are estimated from the answers. The distance of a hypothesis is
    the largest error of its masses of its own K - 1 sets, and the smallest distance is selected. If
    no estimate is wrong by more than a, the selected hypothesis has a total variation from the
    truth of at most 3 times the smallest one, plus 2a: by the set of the selected and the best
    hypothesis.

    Args:
        hypotheses: class of constants, with one feature.
        terms: number of rounds and privacy of a message.

    Raises:
        ValueError: the class has more than one feature.
    """

    hypotheses: HypothesisClass
    terms: Terms

    title: ClassVar[str] = "Scheffé tournament"
    """Name of the selector in figures."""
    origin: ClassVar[Origin] = "standard"
    rule: ClassVar[SensitivityRule] = "exact"

    def __post_init__(self) -> None:
        if self.hypotheses.n_features > 1:
            raise ValueError(
                f"a Scheffé tournament needs one feature, got {self.hypotheses.n_features}"
            )

    @cached_property
    def client(self) -> ScheffeClient:
        """Client that answers whether the label is in a Scheffé set."""
        return ScheffeClient(self.hypotheses, self.terms.epsilon)

    def selected(self, game: LabelGame, generators: LabelGenerators) -> Ints:
        """Return the (R,) hypotheses that are selected after all rounds of a game."""
        chances = self.client.chances(game.truths.transpose(1, 0, 2))[0]
        masses = (chances / len(chances)).reshape(-1, len(game.truths)).T[game.truth]
        draws = zip(generators.clients.generators, masses, strict=True)
        counts = [coins.multinomial(game.n_rounds, own / own.sum()) for coins, own in draws]
        return self.select(np.array(counts).reshape(len(masses), -1, 2))

    def select(self, counts: Ints) -> Ints:
        """Return the (R,) hypotheses with the smallest distance; the first of equals.

        Args:
            counts: (R, J, 2) how often no and yes was answered about each pair. A pair about which
                nobody was asked has no estimate, and is left out.
        """
        answers, keep = counts.sum(axis=2), self.client.keep
        share = counts[..., 1] / np.maximum(answers, 1)
        estimates = (share - (1 - keep)) / (2 * keep - 1)
        distances: Floats = np.zeros((self.hypotheses.n_hypotheses, len(counts)))
        for side in self.client.pairs:
            masses = (self.client.sets[0] * self.hypotheses.masses[0, side]).sum(axis=1)
            errors = np.where(answers > 0, np.abs(estimates - masses), 0.0)
            np.maximum.at(distances, side, errors.T)
        return np.asarray(distances.argmin(axis=0))
