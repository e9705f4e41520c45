"""All algorithms and learners by name. To add one, write its file and one line in registry.yaml.

Algorithms and learners of other packages are named by entry point or as `package.module:Class`.

An entry imports its class only when it is asked for, so playing one algorithm loads no other.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import KW_ONLY, MISSING, dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import Any, NoReturn

from dpol.core.plugins import is_foreign, load_named, target_of
from dpol.core.words import shortest
from dpol.core.yaml_files import read_yaml
from dpol.experts.interface import LABEL, Algorithm, AnyAlgorithm, LearnerBank, Member
from dpol.experts.learners.alone import LearnerAlone, each_alone


@dataclass(frozen=True)
class Registration:
    """A registered class: an algorithm, or a bank whose learners are played one by one.

    Args:
        target: location of the class, as `module:class`.
        when: when to take it, as a phrase for the manual.
        fixed: parameters that belong to the name, so that no config can set them.
        defaults: defaults of parameters that differ from the defaults of the class.
        regret: proved bound on its expected regret, for gains in [0, 1]; empty if none is known.
        against: comparator of this regret, the best choice in hindsight.
        chosen_on: where the values of its parameters are from: data on which dpol chose them, and
            when; or `paper`, `bound` or `hindsight`, with why. Empty if the name sets all of them.
        seen: data whose results dpol knew before it last changed the algorithm, and when.
    """

    target: str
    _: KW_ONLY
    when: str = ""
    fixed: Mapping[str, Any] = field(default_factory=dict)
    defaults: Mapping[str, Any] = field(default_factory=dict)
    regret: str = ""
    against: str = ""
    chosen_on: str = ""
    seen: str = ""

    def __post_init__(self) -> None:
        if self.chosen_on.startswith("no data"):
            raise ValueError("chosen_on must name data, or be paper, bound or hindsight")

    @property
    def chosen(self) -> str:
        """`chosen_on` and `seen` in sentences; empty if not chosen on data."""
        seen = f" Before its last change dpol had seen {self.seen}." if self.seen else ""
        return f"Its parameters were chosen on {self.chosen_on}.{seen}" if self.on_data else ""

    @property
    def on_data(self) -> bool:
        """Whether dpol chose the values of its parameters on data."""
        return not re.match("(paper|bound|hindsight)\\b|$", self.chosen_on)

    @property
    def module(self) -> str:
        """Dotted name of the module."""
        return self.target.partition(":")[0]

    def load(self, name: str) -> type[AnyAlgorithm | LearnerBank[Any]]:
        """Import and return the class that `name` is registered for.

        Raises:
            ValueError: it cannot be imported, or is not an algorithm or a bank.
        """
        kind: Any = load_named(name, self.target)
        if not (isinstance(kind, type) and issubclass(kind, Algorithm | LearnerBank)):
            wrong = "must derive from an algorithm or from a bank of learners"
            _refuse(name, kind, wrong, f"class {getattr(kind, '__name__', 'Mine')}(LocalAlgorithm)")
        if not is_dataclass(kind) or not getattr(kind, "__dataclass_params__").frozen:  # noqa: B009
            _refuse(name, kind, "must be a frozen dataclass", "@dataclass(frozen=True)")
        return kind

    def parameters(self, name: str) -> dict[str, Any]:
        """Return the parameters that a config may set, with their defaults."""
        defaults = {}
        for parameter in fields(self.load(name)):  # type: ignore[arg-type]
            factory = parameter.default_factory
            usual = parameter.default if factory is MISSING else factory()
            defaults[parameter.name] = self.defaults.get(parameter.name, usual)
        return {key: value for key, value in defaults.items() if key not in self.fixed}

    def told(self, name: str, parameters: Mapping[str, Any]) -> list[str]:
        """Return given parameters that differ from the defaults of the class, as parts of a label.

        Lists, blocks and texts that no name of a file can have are left out.

        >>> REGISTRY["mf-window"].told("mf-window", {"window": 8})
        ['8']
        """
        parts = []
        for parameter in fields(self.load(name)):  # type: ignore[arg-type]
            value = parameters.get(parameter.name, parameter.default)
            if value == parameter.default:
                continue
            if isinstance(value, bool | None):
                parts.append(f"{'' if value else 'no-'}{parameter.name.replace('_', '-')}")
            elif isinstance(value, int | float):
                parts.append(shortest(value))
            elif isinstance(value, str) and LABEL.fullmatch(value):
                parts.append(value)
        return parts

    def make(self, name: str, parameters: Mapping[str, Any]) -> Any:
        """Return an instance of the class.

        Raises:
            ValueError: a parameter is unknown or out of range, the class lacks a function, or the
                labels of a bank are no different names.
        """
        known = self.parameters(name)
        for key in parameters:
            if key not in known:
                raise ValueError(
                    f"{name} has no parameter {key!r}; it has {', '.join(known) or 'none'}"
                )
        values = _made({**self.defaults, **parameters, **self.fixed})
        try:
            made = self.load(name)(**values)
        except TypeError as error:
            raise ValueError(f"{name}: cannot be made: {error}") from None
        if isinstance(made, LearnerBank):
            labels: Any = made.labels
            sound = isinstance(labels, tuple) and labels and len(set(labels)) == len(labels)
            if not sound or not all(isinstance(x, str) and LABEL.fullmatch(x) for x in labels):
                wrong = "labels must be a tuple of different names, one for each learner, got"
                _refuse(name, type(made), f"{wrong} {labels!r}", f'return ("{name}",)')
        return made


def _refuse(name: str, kind: Any, wrong: str, remedy: str) -> NoReturn:
    shown = f"class {kind.__qualname__} ({kind.__module__})" if isinstance(kind, type) else kind
    raise ValueError(f"{name}: {shown}: {wrong}; `{remedy}`")


_FILE: Any = read_yaml(Path(__file__).with_suffix(".yaml"))
LEARNERS = {name: Registration(**block) for name, block in _FILE["learners"].items()}
"""Banks of learners, by their name under `learners` in a config."""
_ALGORITHMS = {
    name: LEARNERS[name] if block == "bank" else Registration(**block)
    for name, block in _FILE["algorithms"].items()
}
REGISTRY = _ALGORITHMS | {name: bank for name, bank in LEARNERS.items() if name not in _ALGORITHMS}
"""Algorithms by name, and banks whose learners are played one by one; the simplest first."""


ALGORITHM_GROUP, LEARNER_GROUP = "dpol.algorithms", "dpol.learners"
"""Entry-point groups in which other packages register algorithms and learners."""


def entry_of(key: str, name: object) -> Registration:
    """Return the entry of an `algorithm` or a `learner`, of dpol or of another package.

    Raises:
        ValueError: the name is unknown.
    """
    known = LEARNERS if key == "learner" else REGISTRY
    if isinstance(name, str) and name in known:
        return known[name]
    groups = [LEARNER_GROUP] if key == "learner" else [ALGORITHM_GROUP, LEARNER_GROUP]
    return Registration(target_of(key, name, known, *groups))


def regret_bounds() -> dict[str, tuple[str, str]]:
    """Return the known bounds on expected regret, with their comparators, by algorithm."""
    return {name: (entry.regret, entry.against) for name, entry in REGISTRY.items() if entry.regret}


def simplicity_of(name: str) -> int:
    """Return the place of a registered name, the simplest first; others come last."""
    return [*REGISTRY].index(name) if name in REGISTRY else len(REGISTRY)


def make_members(spec: str | Mapping[str, Any]) -> tuple[Member, ...]:
    """Return the algorithms that an entry of a suite stands for.

    Its label is its name, with the values of the given parameters that differ from the defaults of
    the class.

    Args:
        spec: registered name or `package.module:Class`; or a block with `algorithm`, optionally
            another `label`, the parameters of that algorithm, and `noises` for the suite.

    Raises:
        ValueError: the name is unknown, a parameter is unknown or out of range, or the label has a
            number to which no parameter is set.

    >>> [m.label for m in make_members({"algorithm": "mf-window", "window": 8})]
    ['mf-window-8']
    >>> [m.label for m in make_members({"algorithm": "ridge", "windows": [8]})]
    ['ridge-w8-weak', 'ridge-w8-medium', 'ridge-w8-strong']
    """
    name, entry, parameters = _named(spec, "algorithm")
    label = parameters.pop("label", None)
    family, made = name.rpartition(":")[2], entry.make(name, parameters)
    algorithms = {family: made}
    if isinstance(made, LearnerBank):
        algorithms = {alone.label: alone for alone in each_alone(made)}
    foreign = any(map(is_foreign, modules_of(spec)))
    if len(algorithms) > 1:
        if label is not None:
            raise ValueError(f"{family} is several algorithms with labels; leave out its label")
        return tuple(Member(own, family, each, foreign) for own, each in algorithms.items())
    ((own, algorithm),) = algorithms.items()
    derived = "-".join([own, *entry.told(name, parameters)])
    label = derived if label is None else label
    if not (isinstance(label, str) and LABEL.fullmatch(label)):
        raise ValueError(f"label {label!r} must be up to 64 letters, digits, '.', '_' and '-'")
    namesake = REGISTRY.get(label.lower()) if label not in (derived, family) else None
    if namesake and namesake.make(label, {}) != algorithm:
        raise ValueError(
            f"label {label!r} is the name of another algorithm; without a label it is {derived}"
        )
    known = {*_numbers(family), *_numbers(parameters)}
    if label != derived and (wrong := [it for it in _numbers(label) if it not in known]):
        raise ValueError(
            f"label {label!r} says {shortest(wrong[0])}, to which no parameter is set here; without"
            f" a label it is {derived}"
        )
    return (Member(label, family, algorithm, foreign),)


_NUMBER = re.compile(r"(?<![A-Za-z0-9.])[0-9]+(\.[0-9]+)?(e-?[0-9]+)?(?![A-Za-z0-9.])")


def _numbers(value: object) -> list[float]:
    """Return the numbers in a label, or in the values of parameters."""
    if isinstance(value, str):
        return [float(it.group()) for it in _NUMBER.finditer(value)]
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list | tuple):
        return [number for it in value for number in _numbers(it)]
    return [abs(float(value))] if isinstance(value, int | float) else []


def make_bank(spec: str | Mapping[str, Any]) -> LearnerBank[Any]:
    """Return a bank of learners from its name, or from a block with `learner` and its parameters.

    Raises:
        ValueError: the name is unknown, or a parameter is unknown or out of range.
    """
    name, entry, parameters = _named(spec, "learner")
    bank: LearnerBank[Any] = entry.make(name, parameters)
    return bank


def modules_of(spec: str | Mapping[str, Any]) -> tuple[str, ...]:
    """Return the modules of the algorithm and the learners of an entry of a suite.

    Nothing is imported.

    Raises:
        ValueError: a name is unknown.

    >>> modules_of({"algorithm": "rw-meta", "learners": ["ridge"]})
    ('dpol.experts.meta', 'dpol.experts.learners.ridge')
    """
    _, entry, parameters = _named(spec, "algorithm")
    given = {**entry.defaults, **parameters, **entry.fixed}
    learners = [_named(bank, "learner")[1] for bank in _listed(given.get("learners", ()))]
    return tuple(dict.fromkeys(each.module for each in (entry, *learners)))


def label_of(algorithm: AnyAlgorithm) -> str:
    """Return the default label of an algorithm; the name of its class if it is not registered.

    >>> from dpol.experts.tree_ftpl import TreeFTPL
    >>> label_of(TreeFTPL("min-regret"))
    'tree-ftpl-min-regret'
    """
    if isinstance(algorithm, LearnerAlone):
        return algorithm.label
    return registered_name(algorithm, REGISTRY)


def registered_name(made: object, known: Mapping[str, Registration]) -> str:
    """Return the name of the entry that could have made it and sets the most parameters.

    That is the name of its class if no entry could have.
    """
    target = f"{type(made).__module__}:{type(made).__qualname__}"
    matches = {type(made).__name__: 0}
    for name, entry in known.items():
        if entry.target == target:
            values = _made({**entry.defaults, **entry.fixed})
            if all(getattr(made, key) == values[key] for key in values):
                matches[name] = 1 + len(values)
    return max(matches, key=matches.__getitem__)


def _made(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters as a class takes them: tuples for lists, banks for names of learners."""
    made = {key: tuple(v) if isinstance(v, list) else v for key, v in parameters.items()}
    if "learners" in made:
        made["learners"] = tuple(make_bank(spec) for spec in _listed(made["learners"]))
    return made


def _listed(learners: object) -> tuple[Any, ...]:
    if not isinstance(learners, list | tuple):
        raise ValueError(f"learners must be a list, got {learners!r}")
    return tuple(learners)


def _named(spec: object, key: str) -> tuple[str, Registration, dict[str, Any]]:
    """Return the name in a spec, its entry, and its parameters; a suite reads the noises."""
    if isinstance(spec, Mapping) and key not in spec:
        raise ValueError(f"the key {key} is missing")
    parameters = dict(spec) if isinstance(spec, Mapping) else {key: spec}
    name = parameters.pop(key, None)
    parameters.pop("noises", None)
    return str(name), entry_of(key, name), parameters
