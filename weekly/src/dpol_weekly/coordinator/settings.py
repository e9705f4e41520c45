"""The coordinator's own file: `coordinator.yaml` in the folder of the accepted releases.

No guarantee depends on it, so it may change on any day. A decision states the choices it used.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from dpol.core.settings import Problem, Settings
from dpol.data.question import THE_PAPERS, Gain
from dpol_weekly.settings_file import checked, read_keys

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

    def rules(self) -> Iterator[Problem]:
        """Yield what keeps the rule from deciding every week.

        A hospital that joins, leaves or is silent for a week leaves a gap in the reports.
        """
        from dpol.experts.games import members_of

        try:
            made = [it.algorithm for it in members_of(self.rule)]
        except ValueError as error:
            yield Problem(("rule",), self.rule, str(error))
            return
        if [it.model == "local" and it.skips_gaps and not it.needs_rounds for it in made] != [True]:
            allowed = (
                "must be one local rule that plays on when a hospital joins, leaves or is silent:"
                " random-effects, window-mean or cautious-mean"
            )
            yield Problem(("rule",), self.rule, allowed)


def read_coordination(folder: Path) -> Coordination:
    """Read the file in a coordinator's folder; without one, return the defaults.

    Raises:
        ConfigError: the file cannot be read, or breaks rules; all are listed.
    """
    path = folder / FILE
    remedy = "move it away, and dpol collect writes it again"
    raw = read_keys(path, remedy) if path.exists() else {}
    return checked(Coordination, raw, str(path), rules=Coordination.rules, manual=MANUAL)
