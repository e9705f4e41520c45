"""All algorithms for expert advice, by name. To add one: its file, and one line here.

docs/how-to/add-algorithm.md and add-learner.md are worked examples.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial, wraps
from importlib import import_module
from inspect import signature
from typing import Any

from dpol.experts.adabatch import RWAdaBatch
from dpol.experts.exponential_weights import ExponentialWeights
from dpol.experts.follow_the_leader import FollowTheLeader
from dpol.experts.ftpl import RandomWalkFTPL
from dpol.experts.interface import LABEL, check_algorithm, check_bank
from dpol.experts.learners import LEARNERS, EmpiricalBayesBank, KalmanBank, LearnerBank
from dpol.experts.learners.alone import LearnerAlone
from dpol.experts.learners.empirical_bayes import Pooling
from dpol.experts.learners.ridge import (
    PENALTIES,
    WINDOWS,
    RidgeBank,
    RidgeLearner,
    ridge_label,
)
from dpol.experts.learners.state_space import as_models
from dpol.experts.meta import RWMeta
from dpol.experts.multiplicative_weights import MultiplicativeWeights
from dpol.experts.play import Algorithm
from dpol.experts.tree_ftpl import TreeFTPL

Make = Callable[..., Algorithm | Mapping[str, Algorithm]]
"""Makes an algorithm, or several by label, from parameters."""


@dataclass(frozen=True)
class Member:
    """An algorithm with its label and the registered name it came from (its family)."""

    label: str
    family: str
    algorithm: Algorithm


def _ridge(
    windows: tuple[int, ...] = WINDOWS, penalties: Mapping[str, float] = PENALTIES
) -> Mapping[str, Algorithm]:
    """One algorithm for every window and penalty."""
    bank = RidgeBank(windows, penalties)
    return {
        ridge_label(window, name): RidgeLearner(window, penalty)
        for window in bank.windows
        for name, penalty in bank.penalties.items()
    }


def _rw_meta(
    exploration_floor: float = 2.0,
    decorrelate: bool = True,
    learners: tuple[str | Mapping[str, Any], ...] = ("ridge", "rw-ftpl"),
) -> Algorithm:
    """RW-Meta, its learners given as names or blocks."""
    return RWMeta(exploration_floor, decorrelate, _learners(learners))


def _exponential_weights(
    share: float = 0.0, learners: tuple[str | Mapping[str, Any], ...] = ("kalman", "rw-ftpl")
) -> Algorithm:
    """Exponential weights, their learners given as names or blocks."""
    return ExponentialWeights(share, _learners(learners))


def _kalman(models: Sequence[Any] = KalmanBank().models) -> Mapping[str, Algorithm]:
    """One algorithm for every state-space model."""
    banks = [KalmanBank((model,)) for model in KalmanBank(as_models(models)).models]
    return {bank.labels[0]: LearnerAlone(bank) for bank in banks}


def _empirical_bayes(
    models: Sequence[Any] = EmpiricalBayesBank().models,
    pooling: Pooling = "expert",
    forgetting: float = 0.95,
) -> Algorithm:
    """An average of state-space models, played on its own."""
    return LearnerAlone(EmpiricalBayesBank(as_models(models), pooling, forgetting))


def _learners(specs: tuple[str | Mapping[str, Any], ...]) -> tuple[LearnerBank, ...]:
    if not isinstance(specs, tuple):
        raise ValueError(f"learners must be a list, got {specs!r}")
    return tuple(_learner(spec) for spec in specs)


def _learner(spec: str | Mapping[str, Any]) -> Any:
    name, parameters = _name_and_parameters(spec, "learner", LEARNERS)
    bank = _call(name, LEARNERS[name], parameters)
    check_bank(name, bank)
    return bank


def _each_alone(name: str, make: Callable[..., LearnerBank]) -> Make:
    """What makes every learner of a bank an algorithm of its own, from the bank's parameters."""

    @wraps(make, updated=())
    def made(**parameters: Any) -> Mapping[str, Algorithm]:
        bank = make(**parameters)
        check_bank(name, bank)
        return {label: LearnerAlone(bank, place) for place, label in enumerate(bank.labels)}

    return made


def _name_and_parameters(
    spec: object, key: str, known: Mapping[str, object]
) -> tuple[str, dict[str, Any]]:
    """The registered name in a spec, and the rest of it."""
    parameters = dict(spec) if isinstance(spec, Mapping) else {key: spec}
    name = parameters.pop(key, None)
    if not isinstance(name, str) or name not in known:
        raise ValueError(f"{key} {name!r} is not one of {', '.join(known)}")
    return name, parameters


def _call(name: str, make: Callable[..., Any], parameters: dict[Any, Any]) -> Any:
    known = list(signature(make).parameters)
    for key in parameters:
        if key not in known:
            raise ValueError(
                f"{name} has no parameter {key!r}; it has {', '.join(known) or 'none'}"
            )
    values = {key: tuple(v) if isinstance(v, list) else v for key, v in parameters.items()}
    try:
        return make(**values)
    except TypeError as error:
        raise ValueError(f"{name}: parameters do not fit: {error}") from None


REGISTRY: dict[str, Make | str] = {
    "rw-ftpl": RandomWalkFTPL,
    "rw-adabatch": RWAdaBatch,
    "rw-meta": _rw_meta,
    "ridge": _ridge,
    "kalman": _kalman,
    "empirical-bayes": _empirical_bayes,
    "bayesian-average": partial(_empirical_bayes, pooling="common", forgetting=1.0),
    "exponential-weights": _exponential_weights,
    "fixed-share": partial(_exponential_weights, share=0.02),
    "l2p": "dpol.lazy.algorithm:LazyWeights",
    "tree-ftpl-min-noise": partial(TreeFTPL, "min-noise"),
    "tree-ftpl-min-regret": partial(TreeFTPL, "min-regret"),
    "follow-the-leader": FollowTheLeader,
    "multiplicative-weights": MultiplicativeWeights,
}
"""What makes an algorithm, or a family of them by label, from its parameters.

`module:Class` names a class of a package above this one; `maker` imports it.
"""

# A bank of learners that has no line above is a family whose learners are played one by one.
REGISTRY |= {
    name: _each_alone(name, make) for name, make in LEARNERS.items() if name not in REGISTRY
}


def maker(name: str) -> Make:
    """What makes the algorithm, or the family, of a registered name."""
    make = REGISTRY[name]
    if isinstance(make, str):
        module, _, attribute = make.partition(":")
        found: Make = getattr(import_module(module), attribute)
        return found
    return make


def make_members(spec: str | Mapping[str, Any]) -> tuple[Member, ...]:
    """The algorithms that an entry of a suite stands for.

    Args:
        spec: a registered name, or a block with `algorithm`, optionally `label`, and the
            parameters of that algorithm.

    Raises:
        ValueError: the name is unknown, or a parameter is unknown or out of range.

    >>> [member.label for member in make_members("rw-ftpl")]
    ['rw-ftpl']
    >>> [m.label for m in make_members({"algorithm": "ridge", "windows": [8]})]
    ['ridge-w8-weak', 'ridge-w8-medium', 'ridge-w8-strong']
    """
    family, parameters = _name_and_parameters(spec, "algorithm", REGISTRY)
    label = parameters.pop("label", None)
    if label is not None and not (isinstance(label, str) and LABEL.fullmatch(label)):
        raise ValueError(f"label {label!r} must be letters, digits, '.', '_' and '-'")
    made = _call(family, maker(family), parameters)
    if not isinstance(made, Mapping):
        made = {family: made}
    if label is not None and len(made) > 1:
        raise ValueError(f"a label cannot be given to {family}, whose members are labelled")
    for name, algorithm in made.items():
        check_algorithm(name, algorithm)
    return tuple(Member(label or name, family, algorithm) for name, algorithm in made.items())
