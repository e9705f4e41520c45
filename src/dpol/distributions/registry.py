"""All algorithms for distribution learning, by name. To add one: its file, and one line here.

docs/how-to/add-learner.md is a worked example.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, is_dataclass
from typing import get_args

import numpy as np

from dpol.distributions.bayes import MembershipBayes, MessageBayes, ResponseBayes
from dpol.distributions.exp3 import PrivateEXP3
from dpol.distributions.play import LabelAlgorithm, Origin
from dpol.distributions.wma import PrivateWMA
from dpol.local.clipping import Clipping, LikelihoodSensitivity, Rule
from dpol.local.hypotheses import HypothesisClass
from dpol.local.label_messages import (
    MembershipClient,
    ResponseClient,
    SampledClient,
    VectorClient,
    check_epsilon,
)


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


@dataclass(frozen=True)
class Entry:
    """How a registered algorithm is made, and the calibrations that it has."""

    make: Callable[[HypothesisClass, Terms, Rule], LabelAlgorithm]
    calibrations: tuple[Rule, ...] = ("exact",)


def _wma(hypotheses: HypothesisClass, terms: Terms, rule: Rule) -> LabelAlgorithm:
    sensitivity = LikelihoodSensitivity(Clipping(hypotheses, terms.n_rounds), rule)
    return PrivateWMA(VectorClient(sensitivity, terms.epsilon, terms.delta, composition=rule))


def _sampled(hypotheses: HypothesisClass, terms: Terms, rule: Rule) -> SampledClient:
    sensitivity = LikelihoodSensitivity(Clipping(hypotheses, terms.n_rounds), rule)
    return SampledClient(sensitivity, terms.epsilon)


def _response(hypotheses: HypothesisClass, epsilon: float) -> LabelAlgorithm:
    return ResponseBayes(ResponseClient(hypotheses.n_labels, epsilon), hypotheses)


REGISTRY: Mapping[str, Entry] = {
    "wma": Entry(_wma, ("exact", "published")),
    "exp3": Entry(lambda h, t, rule: PrivateEXP3(_sampled(h, t, rule)), ("exact", "published")),
    "exp3-bayes": Entry(lambda h, t, rule: MessageBayes(_sampled(h, t, rule))),
    "membership": Entry(lambda h, t, _: MembershipBayes(MembershipClient(h, t.epsilon))),
    "randomised-response": Entry(lambda h, t, _: _response(h, t.epsilon)),
    "bayes": Entry(lambda h, t, _: _response(h, math.inf)),
}
"""What makes a learner for a class; `exact` is the sound calibration, `published` the paper's."""


def title_of(name: str) -> str:
    """How tables and figures call a learner that they have no words for; † marks ours.

    >>> title_of("membership")
    'membership †'
    """
    smallest = HypothesisClass(np.eye(2))
    learner = make_learner(name, smallest, Terms(n_rounds=2, epsilon=1.0))
    return name.replace("-", " ") + (" †" if learner.origin == "ours" else "")


def make_learner(
    name: str, hypotheses: HypothesisClass, terms: Terms, calibration: Rule = "exact"
) -> LabelAlgorithm:
    """A registered learner.

    Raises:
        ValueError: the name or calibration is unknown, or what is registered is no learner.

    >>> from dpol.distributions.classes import random_class
    >>> learner = make_learner("exp3", random_class(4, 10, seed=1), Terms(1000, epsilon=1.0))
    >>> learner.client.guarantee.epsilon_delta
    (1.0, 0.0)
    """
    if name not in REGISTRY:
        raise ValueError(f"algorithm {name!r} is not one of {', '.join(REGISTRY)}")
    entry = REGISTRY[name]
    if calibration not in entry.calibrations:
        known = ", ".join(entry.calibrations)
        raise ValueError(f"calibration {calibration!r} of {name} is not one of {known}")
    learner = entry.make(hypotheses, terms, calibration)
    _check(name, learner)
    return learner


def _check(name: str, learner: LabelAlgorithm) -> None:
    """Refuse what does not keep the interface of `LabelAlgorithm`.

    Raises:
        ValueError: what is wrong, with the remedy.
    """
    kind = type(learner)
    origins = get_args(Origin)
    client = getattr(learner, "client", None)
    problems = []
    if not (is_dataclass(kind) and kind.__dataclass_params__.frozen):
        problems.append("it is no frozen dataclass; `@dataclass(frozen=True, eq=False)`")
    if getattr(kind, "origin", None) not in origins:
        problems.append(
            f"origin is missing, or not one of {', '.join(origins)};"
            ' `origin: ClassVar[Origin] = "ours"`'
        )
    for part in ("masses", "scores"):
        if not hasattr(kind, part):
            problems.append(f"it has no {part}; see dpol.distributions.play.LabelAlgorithm")
    if not all(hasattr(client, part) for part in ("privatize", "guarantee")):
        problems.append(
            "it has no client with privatize and guarantee;"
            " see dpol.local.label_messages.LabelClient"
        )
    if problems:
        place = f"{name}: class {kind.__qualname__} ({kind.__module__})"
        raise ValueError("; ".join(f"{place}: {problem}" for problem in problems))
