"""All learners of distributions, by name. To add one: its file, and one line here.

docs/how-to/add-learner.md is a worked example.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any

from dpol.studies.labels.clipping import SensitivityRule
from dpol.studies.labels.hypotheses import HypothesisClass
from dpol.studies.labels.learners.base import LabelLearner, Terms

LEARNERS: Mapping[str, str] = {
    "wma": "wma:PrivateWMA",
    "exp3": "exp3:PrivateEXP3",
    "exp3-bayes": "bayes:MessageBayes",
    "membership": "bayes:MembershipBayes",
    "randomised-response": "bayes:ResponseBayes",
    "bayes": "bayes:OpenBayes",
}
"""Module below `dpol.studies.labels.learners` and class of every learner, imported when needed."""


def learner_class(name: str) -> type[LabelLearner[Any]]:
    """A registered class.

    Raises:
        ValueError: the name is unknown, or what is registered is no learner.
    """
    if name not in LEARNERS:
        raise ValueError(f"learner {name!r} is not one of {', '.join(LEARNERS)}")
    module, _, kind = LEARNERS[name].partition(":")
    found = getattr(import_module(f"dpol.studies.labels.learners.{module}"), kind)
    if not (isinstance(found, type) and issubclass(found, LabelLearner)):
        raise ValueError(f"{name}: {LEARNERS[name]} is no LabelLearner (dpol.studies.labels)")
    return found


def variants() -> Iterator[tuple[str, SensitivityRule]]:
    """Every learner under each of its sensitivity rules."""
    for name in LEARNERS:
        for rule in learner_class(name).rules:
            yield name, rule


def make_learner(
    name: str, hypotheses: HypothesisClass, terms: Terms, rule: SensitivityRule = "exact"
) -> LabelLearner[Any]:
    """A registered learner.

    Args:
        name: key of `LEARNERS`.
        hypotheses: the class to learn.
        terms: rounds and privacy.
        rule: of the sensitivity: `exact` is sound, `published` the paper's.

    Raises:
        ValueError: the learner or its rule is unknown.

    >>> from dpol.studies.labels.classes import random_class
    >>> learner = make_learner("exp3", random_class(4, 10, seed=1), Terms(1000, epsilon=1.0))
    >>> learner.client.guarantee.epsilon_delta
    (1.0, 0.0)
    """
    kind = learner_class(name)
    if rule not in kind.rules:
        raise ValueError(f"sensitivity {rule!r} of {name} is not one of {', '.join(kind.rules)}")
    return kind.make(hypotheses, terms, rule)
