"""Reading the file of a deployment, with every rule: also that its algorithm can decide.

Every reader of one calls this module. The model itself is `dpol_weekly.deployment`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast

from pydantic import ValidationError

from dpol.core.errors import ConfigError
from dpol.core.refusals import did_you_mean, problems_of, refusal
from dpol.core.settings import MISSING, AlgorithmSpec, Problem
from dpol.core.yaml_files import read_yaml
from dpol.experts.interface import LocalAlgorithm
from dpol.experts.registry import REGISTRY, make_members
from dpol_weekly.coordinator.game import unfit
from dpol_weekly.deployment import Deployment

MANUAL = "docs/reference/deployment.md"


def read_deployment(path: Path | str) -> Deployment:
    """Read and check a deployment file.

    Raises:
        ConfigError: it cannot be read, or breaks rules; all are listed.
    """
    raw, place = read_yaml(path), str(path)
    if not isinstance(raw, dict):
        raise ConfigError(f"{place}: holds no keys; `dpol deployment new` writes a whole file")
    return checked_deployment(raw, place)


def checked_deployment(raw: Mapping[str, object], place: str) -> Deployment:
    """A deployment of plain values; `place` says in messages where they are from.

    Raises:
        ConfigError: it breaks rules; all are listed.
    """
    try:
        # Where `disjoint` is missing, its own words say what it affirms.
        deployment = Deployment.model_validate({"disjoint": MISSING, **raw})
    except ValidationError as error:
        raise refusal(place, problems_of(error, Deployment), MANUAL) from None
    if problems := [*deployment.rules(), *_unfit_algorithm(deployment)]:
        raise refusal(place, problems, MANUAL)
    return deployment


def algorithm_of(deployment: Deployment, spec: AlgorithmSpec | None = None) -> LocalAlgorithm[Any]:
    """The algorithm that a deployment decides with, or another one that could.

    Args:
        deployment: what was agreed on.
        spec: the other one, as an entry of a suite; None: the deployment's own.

    Raises:
        ValueError: it is unknown or several, or cannot play a live game; the text lists those that
            can.
    """
    spec = deployment.algorithm if spec is None else spec
    name = spec.get("algorithm") if isinstance(spec, Mapping) else spec
    memory = deployment.noise.memory != "none"
    try:
        if name not in tuple(REGISTRY):
            raise ValueError(f"is not an algorithm{did_you_mean(name, REGISTRY)}")
        members = make_members(spec)
        if len(members) > 1:
            labels = ", ".join(member.label for member in members)
            raise ValueError(f"stands for {len(members)}: {labels}; set parameters so that one is")
        if wrong := unfit(members[0].algorithm, memory):
            raise ValueError(wrong)
    except ValueError as error:
        made = map(make_members, REGISTRY)
        able = [it[0].family for it in made if len(it) == 1 and not unfit(it[0].algorithm, memory)]
        raise ValueError(f"{error}; these can decide: {', '.join(able)}") from None
    return cast("LocalAlgorithm[Any]", members[0].algorithm)


def _unfit_algorithm(deployment: Deployment) -> Iterator[Problem]:
    try:
        algorithm_of(deployment)
    except ValueError as error:
        yield Problem(("algorithm",), deployment.algorithm, str(error))
