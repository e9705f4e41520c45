"""How tables and figures call the learners; † marks what is ours."""

from __future__ import annotations

from collections.abc import Mapping

from dpol.studies.labels.clipping import SensitivityRule
from dpol.studies.labels.registry import learner_class

NAMES: Mapping[str, str] = {
    "wma": "private WMA",
    "exp3": "private EXP3",
    "exp3-bayes": "EXP3 messages, Bayes learner",
    "membership": "membership response",
    "randomised-response": "randomised response",
    "bayes": "Bayes, no privacy",
}
"""Words for learners; one without words is called by its registered name."""


def title_of(name: str) -> str:
    """The title of a learner.

    >>> title_of("membership")
    'membership response †'
    """
    ours = learner_class(name).origin == "ours"
    return NAMES.get(name, name.replace("-", " ")) + (" †" if ours else "")


def variant_title(name: str, rule: SensitivityRule) -> str:
    """The title of a learner under a sensitivity rule; exact sensitivities are ours.

    >>> variant_title("wma", "exact")
    'private WMA, exact †'
    """
    if len(learner_class(name).rules) == 1:
        return title_of(name)
    return f"{title_of(name)}, {rule}" + (" †" if rule == "exact" else "")
