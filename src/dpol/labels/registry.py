"""All learners of distributions, by name. To add one, write its class and add one line here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from dpol.labels.bayes import MembershipBayes, MessageBayes, OpenBayes, ResponseBayes
from dpol.labels.clipping import SensitivityRule
from dpol.labels.hypotheses import HypothesisClass
from dpol.labels.learners import LabelLearner, PrivateEXP3, PrivateWMA, Terms
from dpol.labels.scheffe import ScheffeTournament

LEARNERS: Mapping[str, type[LabelLearner]] = {
    "wma": PrivateWMA,
    "exp3": PrivateEXP3,
    "exp3-bayes": MessageBayes,
    "membership": MembershipBayes,
    "randomised-response": ResponseBayes,
    "bayes": OpenBayes,
}
"""Every learner, in the order of tables."""
SELECTORS: Mapping[str, type[ScheffeTournament]] = {"scheffe-tournament": ScheffeTournament}
"""Every rule that selects one hypothesis after all messages, and predicts nothing before."""
Variant = tuple[str, SensitivityRule]
"""A learner's name and a sensitivity rule."""


def variants() -> Iterator[Variant]:
    """Yield every learner with each of its sensitivity rules."""
    return ((name, rule) for name, kind in LEARNERS.items() for rule in kind.rules)


def make_learner(
    name: str, hypotheses: HypothesisClass, terms: Terms, rule: SensitivityRule = "exact"
) -> LabelLearner:
    """Make a registered learner.

    Args:
        name: key of `LEARNERS`.
        hypotheses: class to learn.
        terms: number of rounds and privacy of a message.
        rule: sensitivity rule: `exact` is sound, `published` is the paper's.

    Raises:
        ValueError: the learner or its rule is unknown, or a term is out of range.

    >>> from dpol.labels.hypotheses import random_class
    >>> learner = make_learner("exp3", random_class(4, 10, seed=1), Terms(1000, epsilon=1.0))
    >>> learner.client.guarantee.epsilon(0.0)
    1.0
    """
    if (name, rule) not in variants():
        every = ", ".join(f"{name} ({' or '.join(kind.rules)})" for name, kind in LEARNERS.items())
        raise ValueError(f"learner {name!r} by rule {rule!r} is not one of {every}")
    return LEARNERS[name](hypotheses, terms, rule)
