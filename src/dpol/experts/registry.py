"""All algorithms and learners by name. To add one: its file, and one line here.

An entry says where a class is, and imports it when it is asked for: to know the names, or to play
one algorithm, no other is loaded. docs/how-to/add-algorithm.md and add-learner.md are examples.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from typing import Any

from dpol.core.imports import code_hash, load
from dpol.experts.interface import (
    LABEL,
    AnyAlgorithm,
    LearnerBank,
    Member,
    check_class,
    check_made,
)

JOINED = "dpol.experts.learners.joined"  # as text: only jobs that play learners alone watch it


@dataclass(frozen=True)
class Entry:
    """A registered class: an algorithm, or a bank whose learners are played one by one.

    Args:
        target: where it is, as `module:class`.
        fixed: parameters that belong to the name, so that no config can set them.
        defaults: defaults of parameters, where they differ from those of the class.
    """

    target: str
    fixed: Mapping[str, Any] = field(default_factory=dict)
    defaults: Mapping[str, Any] = field(default_factory=dict)

    @property
    def module(self) -> str:
        """The dotted name of the module."""
        return self.target.partition(":")[0]

    def load(self, name: str) -> type[AnyAlgorithm | LearnerBank[Any]]:
        """The class, which `name` is registered for.

        Raises:
            ValueError: it is not a whole algorithm or bank.
        """
        kind: type = load(self.target)
        check_class(name, kind)
        return kind

    def parameters(self, name: str) -> dict[str, Any]:
        """Parameters that a config may set, with their defaults."""
        found = {}
        for own in fields(self.load(name)):  # type: ignore[arg-type]
            factory = own.default_factory
            usual = own.default if factory is MISSING else factory()
            found[own.name] = self.defaults.get(own.name, usual)
        return {key: value for key, value in found.items() if key not in self.fixed}

    def make(self, name: str, parameters: Mapping[str, Any]) -> Any:
        """An instance of the class.

        Raises:
            ValueError: a parameter is unknown or out of range.
        """
        known = self.parameters(name)
        for key in parameters:
            if key not in known:
                raise ValueError(
                    f"{name} has no parameter {key!r}; it has {', '.join(known) or 'none'}"
                )
        values = {key: tuple(v) if isinstance(v, list) else v for key, v in parameters.items()}
        if "learners" in values:
            values["learners"] = tuple(make_bank(spec) for spec in _listed(values["learners"]))
        try:
            made = self.load(name)(**{**self.defaults, **values, **self.fixed})
        except TypeError as error:
            raise ValueError(f"{name}: parameters do not fit: {error}") from None
        check_made(name, made)
        return made


_LEARNERS: Mapping[str, str | Entry] = {
    "ridge": "dpol.experts.learners.ridge:RidgeBank",
    "rw-ftpl": "dpol.experts.learners.leader:LeaderBank",
    "kalman": "dpol.experts.learners.state_space:KalmanBank",
    "empirical-bayes": "dpol.experts.learners.empirical_bayes:EmpiricalBayesBank",
    "random-effects": "dpol.experts.learners.random_effects:RandomEffectsBank",
}
_ALGORITHMS: Mapping[str, str | Entry] = {
    "rw-ftpl": "dpol.experts.ftpl:RandomWalkFTPL",
    "rw-adabatch": "dpol.experts.adabatch:RWAdaBatch",
    "rw-meta": "dpol.experts.meta:RWMeta",
    "persistence": "dpol.experts.persistence:Persistence",
    "ridge": _LEARNERS["ridge"],
    "kalman": _LEARNERS["kalman"],
    "empirical-bayes": _LEARNERS["empirical-bayes"],
    "random-effects": _LEARNERS["random-effects"],
    "bayesian-average": Entry(
        "dpol.experts.learners.empirical_bayes:EmpiricalBayesBank",
        defaults={"pooling": "common", "forgetting": 1.0},
    ),
    "exponential-weights": "dpol.experts.exponential_weights:ExponentialWeights",
    "fixed-share": Entry(
        "dpol.experts.exponential_weights:ExponentialWeights", defaults={"share": 0.02}
    ),
    "l2p": "dpol.lazy.algorithm:LazyWeights",
    "tree-ftpl-min-noise": Entry(
        "dpol.experts.tree_ftpl:TreeFTPL", fixed={"objective": "min-noise"}
    ),
    "tree-ftpl-min-regret": Entry(
        "dpol.experts.tree_ftpl:TreeFTPL", fixed={"objective": "min-regret"}
    ),
    "mf-ftpl": Entry("dpol.experts.matrix_ftpl:MatrixFTPL", fixed={"window": None}),
    "mf-window": Entry("dpol.experts.matrix_ftpl:MatrixFTPL", defaults={"window": 8}),
    "mf-discounted": "dpol.experts.matrix_discounted:MatrixDiscounted",
    "noisy-max": "dpol.experts.noisy_max:NoisyMax",
    "follow-the-leader": "dpol.experts.follow_the_leader:FollowTheLeader",
    "multiplicative-weights": "dpol.experts.multiplicative_weights:MultiplicativeWeights",
}


def _entries(lines: Mapping[str, str | Entry]) -> dict[str, Entry]:
    return {name: Entry(it) if isinstance(it, str) else it for name, it in lines.items()}


LEARNERS = _entries(_LEARNERS)
"""Banks of learners, by the name that `learners` in a config gives them."""
# In this order; a bank that shares its name with an algorithm (rw-ftpl) is a learner only.
REGISTRY = _entries({**_ALGORITHMS, **_LEARNERS, **_ALGORITHMS})
"""Algorithms by name, and banks whose learners are played one by one."""


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
    made = REGISTRY[family].make(family, parameters)
    algorithms = {family: made}
    if isinstance(made, LearnerBank):
        algorithms = {alone.label: alone for alone in load(f"{JOINED}:each_alone")(made)}
    if label is not None and len(algorithms) > 1:
        raise ValueError(f"a label cannot be given to {family}, whose members are labelled")
    return tuple(Member(label or name, family, it) for name, it in algorithms.items())


def make_bank(spec: str | Mapping[str, Any]) -> LearnerBank[Any]:
    """A bank of learners from its name, or a block with `learner` and its parameters.

    Raises:
        ValueError: the name is unknown, or a parameter is unknown or out of range.
    """
    name, parameters = _name_and_parameters(spec, "learner", LEARNERS)
    bank: LearnerBank[Any] = LEARNERS[name].make(name, parameters)
    return bank


def modules_of(spec: str | Mapping[str, Any]) -> tuple[str, ...]:
    """The modules that an entry of a suite names: its algorithm's, and those of its learners.

    A bank whose learners are played one by one also needs the module that plays one alone. Nothing
    is imported. What these modules import themselves, default learners included, is not listed.

    Raises:
        ValueError: a name is unknown.

    >>> modules_of({"algorithm": "rw-meta", "learners": ["kalman"]})
    ('dpol.experts.meta', 'dpol.experts.learners.state_space')
    """
    family, parameters = _name_and_parameters(spec, "algorithm", REGISTRY)
    found = [REGISTRY[family].module]
    if REGISTRY[family].target in {entry.target for entry in LEARNERS.values()}:
        found.append(JOINED)
    for learner in _listed(parameters.get("learners", ())):
        found.append(LEARNERS[_name_and_parameters(learner, "learner", LEARNERS)[0]].module)
    return tuple(dict.fromkeys(found))


def code_that_plays(start: Sequence[str], specs: Sequence[str | Mapping[str, Any]]) -> str:
    """A hash of the code of some modules, and of algorithms with all their parameters.

    Of this registry it holds what the entries are made to: the defaults and fixed parameters of
    other entries do not matter.

    Args:
        start: dotted names of the modules.
        specs: entries of suites.

    Raises:
        ValueError: a name is unknown, or a parameter is unknown or out of range.

    >>> start = ["dpol.studies.hospitals.runs"]
    >>> code_that_plays(start, ["rw-meta"]) == code_that_plays(start, ["fixed-share"])
    False
    """
    modules = [module for spec in specs for module in modules_of(spec)]
    return code_hash(
        *start, "dpol.core.imports", *modules, made=repr([make_members(spec) for spec in specs])
    )


def label_of(algorithm: AnyAlgorithm) -> str:
    """Default label of an algorithm in a suite; the name of its class if it is not registered.

    >>> from dpol.experts.tree_ftpl import TreeFTPL
    >>> label_of(TreeFTPL("min-regret"))
    'tree-ftpl-min-regret'
    """
    if isinstance(algorithm, load(f"{JOINED}:LearnerAlone")):
        return str(algorithm.label)
    return _name_of(algorithm, REGISTRY)


def learner_name(bank: LearnerBank[Any]) -> str:
    """The name that a bank of learners is registered by, or that of its class."""
    return _name_of(bank, LEARNERS)


def _name_of(made: object, known: Mapping[str, Entry]) -> str:
    """The name whose entry could have made it; the one that sets most of its parameters."""
    target = f"{type(made).__module__}:{type(made).__qualname__}"
    found = {type(made).__name__: 0}
    for name, entry in known.items():
        own = {**entry.defaults, **entry.fixed}
        if entry.target == target and all(getattr(made, key) == own[key] for key in own):
            found[name] = 1 + len(own)
    return max(found, key=found.__getitem__)


def _listed(learners: object) -> tuple[Any, ...]:
    if not isinstance(learners, list | tuple):
        raise ValueError(f"learners must be a list, got {learners!r}")
    return tuple(learners)


def _name_and_parameters(
    spec: object, key: str, known: Mapping[str, object]
) -> tuple[str, dict[str, Any]]:
    """The registered name in a spec, and the rest of it."""
    parameters = dict(spec) if isinstance(spec, Mapping) else {key: spec}
    name = parameters.pop(key, None)
    if not isinstance(name, str) or name not in known:
        raise ValueError(f"{key} {name!r} is not one of {', '.join(known)}")
    return name, parameters
