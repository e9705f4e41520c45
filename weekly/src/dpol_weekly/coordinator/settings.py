"""The coordinator's own file: `coordinator.yaml` in the folder of the accepted releases.

No guarantee depends on it, so it may change on any day. A decision states the choices it used.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from dpol.core.errors import ConfigError
from dpol.core.settings import Problem, Settings
from dpol.core.suggestions import nearest
from dpol.core.yaml_files import read_yaml
from dpol.data.question import THE_PAPERS, Gain
from dpol_weekly.deployment import Deployment
from dpol_weekly.settings_file import checked

FILE = "coordinator.yaml"
"""Name of the file in the coordinator's folder."""
TEMPLATE = Path(__file__).with_name(FILE)
"""A template with every key as a comment with its default."""
MANUAL = "The file that dpol collect writes"


class Coordination(Settings):
    """The coordinator's choices."""

    titles: dict[str, str] = {}
    """Names of entities to show; without one the identifier is shown."""
    rule: str | dict[str, Any] = "random-effects"
    """The local rule that decides, as in a config of dpol: a name, or a block."""
    names: Annotated[int, Field(ge=1, le=1000)] = 1
    """Number of entities that a decision names."""
    question: Gain = THE_PAPERS
    """The question that a decision answers."""

    def rules(self, deployment: Deployment) -> Iterator[Problem]:
        """Yield the broken rules that involve several keys, for an agreement."""
        for name in self.titles:
            if name not in deployment.entities:
                told = nearest(name, deployment.entities)
                yield Problem(("titles",), name, f"is not an entity of {deployment.name}{told}")
        if wrong := _unplayable(self.rule):
            yield Problem(("rule",), self.rule, wrong)


def _unplayable(rule: str | dict[str, Any]) -> str:
    """Return why a rule cannot decide every week; empty if it can.

    A hospital that joins, leaves or is silent for a week leaves a gap in the reports.
    """
    from dpol.experts.games import members_of

    try:
        member, *others = members_of(rule)
    except ValueError as error:
        return f"{error}"
    if others or member.algorithm.model != "local":
        return "must be one local rule: it sees released numbers only, and no learner is asked for"
    if member.algorithm.needs_rounds or not member.algorithm.skips_gaps:
        return (
            "must be a rule that plays on when a hospital joins, leaves or is silent:"
            " random-effects, window-mean or cautious-mean"
        )
    return ""


def read_coordination(folder: Path, deployment: Deployment) -> Coordination:
    """Read the file in a coordinator's folder; without one, return the defaults.

    Raises:
        ConfigError: the file cannot be read, or breaks rules; all are listed.
    """
    path = folder / FILE
    raw = (read_yaml(path) if path.exists() else None) or {}
    if not isinstance(raw, dict):
        raise ConfigError(f"{path}: holds no keys; move it away, and dpol collect writes it again")
    return checked(
        Coordination, raw, str(path), rules=lambda it: it.rules(deployment), manual=MANUAL
    )
