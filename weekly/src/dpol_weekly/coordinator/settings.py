"""The coordinator's own file: `coordinator.yaml` in the folder of the log.

No guarantee depends on it, so it may change on any day. A decision states the choices it used.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, cast

from pydantic import Field, ValidationError

from dpol.core.errors import ConfigError
from dpol.core.names import fault_of
from dpol.core.near import did_you_mean, nearest
from dpol.core.refusals import problems_of, refusal
from dpol.core.settings import AlgorithmSpec, Problem, Settings
from dpol.core.yaml_files import read_yaml
from dpol.data.question import THE_PAPERS, Gain
from dpol.experts.interface import Algorithm, LocalAlgorithm
from dpol.experts.registry import REGISTRY, label_of, make_members
from dpol_weekly.deployment import Deployment

FILE = "coordinator.yaml"
"""Name of the file in the coordinator's folder."""
TEMPLATE = Path(__file__).with_name(FILE)
"""A template with every key as a comment with its default."""
MANUAL = "The file that dpol collect writes"


class Coordination(Settings):
    """The coordinator's choices."""

    titles: dict[str, str] = {}
    """Names of entities to show; without one the identifier is shown."""
    names: Annotated[int, Field(ge=1, le=1000)] = 1
    """Number of entities that a decision names."""
    question: Gain = THE_PAPERS
    """The question that a decision answers."""
    cannot_be_chosen: list[str] = []
    """Entities that report, and are not named."""
    units: Annotated[int, Field(ge=0, le=100_000)] | None = None
    """Units of help to divide, each of which serves one patient; default: nothing is divided."""
    guaranteed: Annotated[float, Field(ge=0, le=1)] = 0.75
    """Share of the units that is guaranteed in proportion to the predicted need."""
    own_staff: Annotated[float, Field(ge=0, le=1)] = 0.0
    """Share of its beds that a hospital serves with its own staff."""
    algorithm: AlgorithmSpec = "empirical-bayes"
    """A local algorithm that decides from the noisy shares, as in a suite of a config."""
    seed: Annotated[int, Field(ge=0, lt=2**63)] = 0
    """Root of the random numbers of a randomised algorithm; public."""

    def rules(self, deployment: Deployment) -> Iterator[Problem]:
        """Yield the broken rules that involve several keys, for an agreement."""
        for key, named in (("titles", self.titles), ("cannot_be_chosen", self.cannot_be_chosen)):
            for name in named:
                if name not in deployment.entities:
                    told = nearest(name, deployment.entities)
                    yield Problem((key,), name, f"is not an entity of {deployment.name}{told}")
        for name, title in self.titles.items():
            if fault := fault_of(title):
                yield Problem(("titles", name), title, fault)
        try:
            algorithm_of(self.algorithm)
        except ValueError as error:
            yield Problem(("algorithm",), self.algorithm, str(error))


def read_coordination(folder: Path, deployment: Deployment) -> Coordination:
    """Read the file in a coordinator's folder; without one, return the defaults.

    Raises:
        ConfigError: the file cannot be read, or breaks rules; all are listed.
    """
    path = folder / FILE
    raw = read_yaml(path) if path.exists() else None
    if not isinstance(raw, Mapping | None):
        raise ConfigError(f"{path}: holds no keys; move it away, and dpol collect writes it again")
    return _checked(raw or {}, deployment, str(path))


def _checked(raw: Mapping[str, Any], deployment: Deployment, place: str) -> Coordination:
    try:
        coordination = Coordination.model_validate(raw)
    except ValidationError as error:
        raise refusal(place, problems_of(error, Coordination, raw), MANUAL) from None
    if problems := [*coordination.rules(deployment)]:
        raise refusal(place, problems, MANUAL)
    return coordination


def algorithm_of(spec: AlgorithmSpec) -> LocalAlgorithm[Any]:
    """Return the algorithm that a coordinator chose, written as in a suite, if it can decide.

    Raises:
        ValueError: it is unknown, stands for several, or cannot play a live game; the text lists
            the algorithms that can.
    """
    name = spec.get("algorithm") if isinstance(spec, Mapping) else spec
    try:
        if name not in tuple(REGISTRY):
            raise ValueError(f"is not an algorithm{did_you_mean(name, REGISTRY)}")
        members = make_members(spec)
        if len(members) > 1:
            labels = ", ".join(member.label for member in members)
            raise ValueError(f"stands for {len(members)}: {labels}; set parameters so that one is")
        if wrong := unfit(members[0].algorithm):
            raise ValueError(wrong)
    except ValueError as error:
        made = map(make_members, REGISTRY)
        able = [
            members[0].family
            for members in made
            if len(members) == 1 and not unfit(members[0].algorithm)
        ]
        raise ValueError(f"{error}; these can decide: {', '.join(able)}") from None
    return cast("LocalAlgorithm[Any]", members[0].algorithm)


def unfit(algorithm: Algorithm[Any, Any]) -> str:
    """Return why an algorithm cannot play a live game; empty if it can."""
    why = ""
    if not isinstance(algorithm, LocalAlgorithm):
        why = "needs raw counts; take a local algorithm, such as empirical-bayes"
    elif algorithm.needs_all_rounds:
        why = "must know beforehand how many rounds there will be; take another one"
    return why and f"{label_of(algorithm)} {why}"
