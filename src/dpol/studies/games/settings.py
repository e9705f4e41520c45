"""Settings of the main experiment: which algorithms play, and what the report shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema

from dpol.core.plugins import OF_ANOTHER
from dpol.core.settings import Label, Settings, Several, all_different
from dpol.experts.interface import Member
from dpol.noise import ISOTROPIC, NOISES, MemoryChoice, find_noise
from dpol.noise.noises import known_memory
from dpol.studies.games.names import LINEAR

if TYPE_CHECKING:
    from dpol.studies.study import Facts

Members = Mapping[str, Sequence[Member]]
"""The algorithms of each suite."""
# The registry checks algorithms and says what is wrong; a second message here would repeat it.
AlgorithmSpec = Annotated[Any, WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "object"}]})]


def known_noise(name: object) -> object:
    """Return the name of a noise. Raises ValueError for anything else."""
    find_noise(name)
    return name


NoiseName = Annotated[
    str,
    BeforeValidator(known_noise),
    WithJsonSchema(
        {
            "format": "noise",
            "anyOf": [{"enum": list(NOISES)}, {"type": "string", "pattern": OF_ANOTHER}],
        }
    ),
]


_PAIR = {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2}
MemoryName = Annotated[
    Any,
    BeforeValidator(known_memory),
    WithJsonSchema({"anyOf": [{"enum": ["designed", "none"], "type": "string"}, _PAIR]}),
]
"""A `MemoryChoice` as written in a config."""


class Suite(Settings):
    """Algorithms that one job plays on the same noisy gains."""

    noises: Several[NoiseName] = [ISOTROPIC.name]
    """Noises, with one run for each; ignored by algorithms without privacy."""
    algorithms: Annotated[list[AlgorithmSpec], Field(min_length=1)]
    """Names, or blocks with `algorithm`, parameters and perhaps `label`; all must have the same
    model."""


class Report(Settings):
    """What the tables and figures show; default: everything that the suites play."""

    algorithms: Annotated[
        list[Label],
        BeforeValidator(lambda value: [] if value is None else value),
        AfterValidator(all_different),
    ] = []
    """Labels of the algorithms to show, in this order; default: all, in the order of the suites.

    The best of the linear models (`ridge`) is shown beside them, so the default leaves them out if
    other algorithms play."""
    replay: bool = False
    """Replay a run with every true count although `dataset.public` is false.

    Public and simulated data are always replayed."""
    confidence: Annotated[float, Field(gt=0.5, lt=1)] = 0.95
    """Joint confidence of all intervals of the table (Bonferroni)."""
    width: Annotated[float, Field(ge=2.5)] = 12.0
    """Largest width of a figure in inches, such as 3.3 for one column of a paper; panels that do
    not fit stand below each other."""
    titles: bool = True
    """Whether each figure begins with its finding; false for a paper, whose captions tell it."""

    def resolved(self, members: Members) -> Report:
        """Return the report with its algorithms, by default from those played."""
        if self.algorithms:
            return self
        played = [member for made in members.values() for member in made]
        single = [member.label for member in played if member.family != LINEAR]
        named = [*dict.fromkeys(single or [member.label for member in played])]
        return self.model_copy(update={"algorithms": named})


class GamesSettings(Settings):
    """The keys of a config that the main experiment depends on."""

    suites: dict[Label, Suite] = {}
    """The suites by label."""
    keep_rounds: bool = False
    """Whether every round of every run is kept."""
    replicates: int = 1
    """Repetitions of every randomised run."""
    report: Report
    plays_table_2: bool = False
    """Whether the suites play all of the first paper's Table 2."""
    memory: MemoryName = "designed"
    """Memory of the noise `capacity-memory`."""
    seed: int = 0
    """Root of all randomness, to draw the noise of a replay again."""

    def has_table_2(self, facts: Facts) -> bool:
        """Return whether a run plays all of the paper's Table 2, under one question."""
        return self.plays_table_2 and not facts.asks_several


@dataclass(frozen=True, kw_only=True)
class GamePoint:
    """The games of a suite on a stream, with one noise and one level, of a block of replicates.

    Args:
        suite: label of the suite.
        algorithms: its algorithms, as in the config.
        noise: name of the noise.
        mu: Gaussian-DP parameter; infinity without noise.
        block: number of the first replicate, and of the last.
        memory: memory of the noise `capacity-memory`.
        keep_rounds: whether every round is kept.
    """

    suite: str
    algorithms: tuple[Any, ...]
    noise: str
    mu: float
    block: tuple[int, int]
    memory: MemoryChoice
    keep_rounds: bool
