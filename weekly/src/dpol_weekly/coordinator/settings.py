"""The coordinator's own file: `coordinator.yaml` in the folder of the log.

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
    rounds: Annotated[int, Field(ge=2, le=999_999)] | None = None
    """Number of periods of the whole game, for a rule that must know it."""
    names: Annotated[int, Field(ge=1, le=1000)] = 1
    """Number of entities that a decision names."""
    question: Gain = THE_PAPERS
    """The question that a decision answers."""
    cannot_be_chosen: list[str] = []
    """Entities that report, and are not named."""

    def rules(self, deployment: Deployment) -> Iterator[Problem]:
        """Yield the broken rules that involve several keys, for an agreement."""
        for key, named in (("titles", self.titles), ("cannot_be_chosen", self.cannot_be_chosen)):
            for name in named:
                if name not in deployment.entities:
                    told = nearest(name, deployment.entities)
                    yield Problem((key,), name, f"is not an entity of {deployment.name}{told}")


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
