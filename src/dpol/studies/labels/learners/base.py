"""What every learner of distributions is: a client and a server.

The client turns labels into messages; the server turns messages into changes of its log-weights
over the hypotheses, and sees nothing else.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Generic, Literal, Self

from dpol.core.randomness import Floats
from dpol.studies.labels.clients import LabelClient, Messages, check_epsilon
from dpol.studies.labels.clipping import SensitivityRule
from dpol.studies.labels.hypotheses import HypothesisClass, Ints

Origin = Literal["paper", "standard", "ours"]
"""Where a learner comes from; `standard` are textbook baselines."""


@dataclass(frozen=True)
class Terms:
    """Under which a learner is made: the number of rounds T and the privacy of a message.

    Raises:
        ValueError: T is below 2, epsilon is not above 0 or delta not in (0, 1).
    """

    n_rounds: int
    epsilon: float
    delta: float = 1e-6

    def __post_init__(self) -> None:
        if not self.n_rounds >= 2:
            raise ValueError(f"n_rounds must be at least 2, got {self.n_rounds}")
        check_epsilon(self.epsilon)
        if not 0 < self.delta < 1:
            raise ValueError(f"delta must lie in (0, 1), got {self.delta}")


class LabelLearner(ABC, Generic[Messages]):
    """A learner of distributions: a frozen dataclass, generic in its messages.

    Messages never depend on weights, so a learner has no state: its weights are a softmax of the
    running sum of its `scores`.
    """

    client: LabelClient[Messages]
    """Privatises labels."""
    origin: ClassVar[Origin]
    """Where it comes from; ours are marked in tables and figures."""
    rules: ClassVar[tuple[SensitivityRule, ...]] = ("exact",)
    """The sensitivity rules that it can be made with; each is a variant of the learner."""

    @classmethod
    @abstractmethod
    def make(cls, hypotheses: HypothesisClass, terms: Terms, rule: SensitivityRule) -> Self:
        """The learner of a class."""

    @property
    @abstractmethod
    def masses(self) -> Floats:
        """(X, K, M): what each hypothesis adds to a prediction, by its weight."""

    @abstractmethod
    def scores(self, messages: Messages, features: Ints) -> Floats:
        """The change of log-weights (R, B, K) by messages of rounds with (B,) features."""
