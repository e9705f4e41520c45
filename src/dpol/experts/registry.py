"""All algorithms and learners by name. To add one: its file, and one line here.

An entry says where a class is, and imports it when it is asked for: to know the names, or to play
one algorithm, no other is loaded. docs/how-to/add-algorithm.md and add-learner.md are examples.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, MISSING, dataclass, field, fields
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
from dpol.show.looks import DASH_DOT, DASH_DOT_DOT, DASHED, GREY, SHORT, SOLID, Look

JOINED = "dpol.experts.learners.joined"  # as text: only jobs that play learners alone watch it


@dataclass(frozen=True)
class Entry:
    """A registered class: an algorithm, or a bank whose learners are played one by one.

    Nothing that plays knows how it is drawn, so that another colour plays nothing again.

    Args:
        target: where it is, as `module:class`.
        fixed: parameters that belong to the name, so that no config can set them.
        defaults: defaults of parameters, where they differ from those of the class.
        look: its look in figures; without one it gets one that differs from those around it.
        variants: looks of labels that configs and studies give it with other parameters.
        rival: the kind of central rival that RW-Meta is compared with; empty if it is none.
    """

    target: str
    _: KW_ONLY
    fixed: Mapping[str, Any] = field(default_factory=dict)
    defaults: Mapping[str, Any] = field(default_factory=dict)
    look: Look | None = None
    variants: Mapping[str, Look] = field(default_factory=dict)
    rival: str = ""

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


LEARNERS: dict[str, Entry] = {
    "ridge": Entry("dpol.experts.learners.ridge:RidgeBank"),
    "rw-ftpl": Entry("dpol.experts.learners.leader:LeaderBank"),
    "kalman": Entry("dpol.experts.learners.state_space:KalmanBank"),
    "empirical-bayes": Entry(
        "dpol.experts.learners.empirical_bayes:EmpiricalBayesBank",
        look=Look("#332288", SOLID, "*", width=1.9),
    ),
    "random-effects": Entry(
        "dpol.experts.learners.random_effects:RandomEffectsBank",
        look=Look("#00868B", DASH_DOT_DOT, "P", width=1.9),
    ),
}
"""Banks of learners, by the name that `learners` in a config gives them."""
REGISTRY: dict[str, Entry] = {
    "rw-ftpl": Entry("dpol.experts.ftpl:RandomWalkFTPL", look=Look("#3A9AD9", DASHED, "s")),
    "rw-adabatch": Entry(
        "dpol.experts.adabatch:RWAdaBatch",
        look=Look("#7B4FB5", DASH_DOT, "^"),
        variants={"rw-adabatch-reflection": Look("#C06FD8", SHORT, ">")},
    ),
    "rw-meta": Entry(
        "dpol.experts.meta:RWMeta",
        look=Look("#0072B2", SOLID, "o", width=1.7),
        variants={
            "rw-meta-floor-0": Look("#0072B2", DASH_DOT, "<"),
            "rw-meta-kalman": Look("#0072B2", DASHED, ">"),
        },
    ),
    "persistence": Entry(
        "dpol.experts.persistence:Persistence", look=Look("#1F3A5F", DASH_DOT, "+")
    ),
    # A bank that shares its name with an algorithm is a learner only.
    **{name: bank for name, bank in LEARNERS.items() if name != "rw-ftpl"},
    "bayesian-average": Entry(
        "dpol.experts.learners.empirical_bayes:EmpiricalBayesBank",
        defaults={"pooling": "common", "forgetting": 1.0},
        look=Look("#6A5ACD", DASHED, "h"),
    ),
    "exponential-weights": Entry(
        "dpol.experts.exponential_weights:ExponentialWeights", look=Look("#4A7A9C", SOLID, "d")
    ),
    "fixed-share": Entry(
        "dpol.experts.exponential_weights:ExponentialWeights",
        defaults={"share": 0.02},
        look=Look("#7A7500", DASH_DOT, "p"),
    ),
    "l2p": Entry(
        "dpol.lazy.algorithm:LazyWeights",
        look=Look("#CC6699", DASH_DOT_DOT, "p"),
        variants={
            "l2p-sound": Look("#CC6699", SOLID, "p"),
            "l2p-published": Look("#5C1A45", DASHED, "s"),
            "l2p-one-round": Look("#A0308A", SHORT, "^"),
            "l2p-theorem-3.10": Look("#8F7FC0", SHORT, "v"),
            "l2p-theorem-3.12": Look("#8F7FC0", DASHED, "v"),
        },
    ),
    "tree-ftpl-min-noise": Entry(
        "dpol.experts.tree_ftpl:TreeFTPL",
        fixed={"objective": "min-noise"},
        look=Look("#D55E00", DASHED, "D"),
        rival="tree",
    ),
    "tree-ftpl-min-regret": Entry(
        "dpol.experts.tree_ftpl:TreeFTPL",
        fixed={"objective": "min-regret"},
        look=Look("#8C3B00", DASH_DOT, "v"),
        rival="tree",
    ),
    "mf-ftpl": Entry(
        "dpol.experts.matrix_ftpl:MatrixFTPL",
        fixed={"window": None},
        look=Look("#009E73", SOLID, "s"),
        rival="factorised prefix sums",
    ),
    "mf-window": Entry(
        "dpol.experts.matrix_ftpl:MatrixFTPL",
        defaults={"window": 8},
        variants={"mf-window-8": Look("#4C9A2A", SOLID, "v")},
        rival="factorised window sums",
    ),
    "mf-discounted": Entry(
        "dpol.experts.matrix_discounted:MatrixDiscounted",
        variants={
            "mf-discounted-0.8": Look("#00614A", SHORT, "<"),
            "mf-discounted-0.9": Look("#00614A", DASHED, "^"),
        },
        rival="factorised decayed sums",
    ),
    "noisy-max": Entry("dpol.experts.noisy_max:NoisyMax", rival="fresh noise"),
    "follow-the-leader": Entry(
        "dpol.experts.follow_the_leader:FollowTheLeader", look=Look(GREY, SHORT, "X")
    ),
    "multiplicative-weights": Entry(
        "dpol.experts.multiplicative_weights:MultiplicativeWeights", look=Look(GREY, DASHED, "P")
    ),
}
"""Algorithms by name, and banks whose learners are played one by one."""


def known_looks() -> dict[str, Look]:
    """The looks of labels in figures; no algorithm is loaded for them."""
    looks = {name: entry.look for name, entry in REGISTRY.items() if entry.look}
    for entry in REGISTRY.values():
        looks.update(entry.variants)
    return looks


def central_rivals() -> dict[str, list[str]]:
    """The kinds of central rivals of RW-Meta, with the registered names of each."""
    kinds: dict[str, list[str]] = {}
    for name, entry in REGISTRY.items():
        if entry.rival:
            kinds.setdefault(entry.rival, []).append(name)
    return kinds


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
