"""Which synthetic classes are played: known without any mathematics of learning."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

from dpol.studies.labels.settings import Labels


@dataclass(frozen=True)
class Setting:
    """A synthetic class: K, M, T and the privacy of a message, one of them swept."""

    sweep: str
    kind: Literal["random", "hard"]
    n_hypotheses: int
    n_labels: int
    n_rounds: int
    epsilon: float


def settings_of(study: Labels) -> Iterator[tuple[str, Setting]]:
    """All settings in the order of the rows, each with a label that is fit for a file name."""
    base = Setting("", "random", study.n_hypotheses, study.n_labels, study.n_rounds, study.epsilon)
    swept = {"rounds": "n_rounds", "labels": "n_labels"}
    swept |= {"hypotheses": "n_hypotheses", "epsilons": "epsilon"}
    for sweep, field in swept.items():
        for position, value in enumerate(getattr(study.sweeps, sweep)):
            changed: dict[str, Any] = {"sweep": sweep, field: value}
            setting = replace(base, **changed)
            yield f"{sweep}-{position}", setting
            pairs = setting.n_hypotheses // 2
            if sweep == "rounds" and hardness(pairs, setting.n_rounds, setting.epsilon) <= 1:
                changed = {"n_hypotheses": 2 * pairs, "n_labels": 1 << pairs.bit_length()}
                yield f"{sweep}-{position}-hard", replace(setting, kind="hard", **changed)


def hardness(n_pairs: int, n_rounds: int, epsilon: float) -> float:
    """a = sqrt(K / (9 T min((e^eps - 1)^2, 1) e^eps)), the distance within each pair.

    Source: "Online Distribution Learning with Local Privacy Constraints", Appendix A.
    """
    growth = min(math.expm1(min(epsilon, 1.0)), 1.0)
    return math.sqrt(n_pairs / (9 * n_rounds)) * math.exp(-epsilon / 2) / growth
