"""Settings of the main experiment: which algorithms play, and what the report shows.

Also which of them are columns of the first paper's Table 2, and what a run lacks of that table.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Annotated, Any, Self

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema

from dpol.core.plugins import OF_ANOTHER
from dpol.core.settings import Different, Label, Settings, Several, all_different
from dpol.core.words import listed
from dpol.experts.interface import Member
from dpol.experts.registry import make_members, modules_of
from dpol.experts.suites import by_label
from dpol.noise import (
    ISOTROPIC,
    NO_NOISE,
    NOISES,
    MemoryChoice,
    find_noise,
    module_of_noise,
)
from dpol.noise.noises import known_memory
from dpol.studies.games.names import BEST_LINEAR, LINEAR, PAPER_NOISE, PAPERS

if TYPE_CHECKING:
    from dpol.studies.study import Facts

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


def parted(entry: Any) -> tuple[tuple[str, ...], Any]:
    """Return the noises of an entry of a suite, empty for those of the suite, and its rest."""
    if not isinstance(entry, Mapping):
        return (), entry
    rest = {key: value for key, value in entry.items() if key != "noises"}
    return tuple(entry.get("noises") or ()), rest


def _with_known_noises(entry: Any) -> Any:
    """Return an entry of a suite. Raises ValueError if its noises are wrong."""
    if isinstance(entry, Mapping) and "noises" in entry:
        noises = entry["noises"]
        if not isinstance(noises, list) or not noises:
            raise ValueError("noises must be a list of noises")
        all_different([known_noise(it) for it in noises])
    return entry


class Suite(Settings):
    """Algorithms that one job plays on the same noisy gains."""

    noises: Several[NoiseName] = [ISOTROPIC.name]
    """Noises, with one run for each; ignored by algorithms without privacy."""
    algorithms: Annotated[
        list[Annotated[AlgorithmSpec, BeforeValidator(_with_known_noises)]], Field(min_length=1)
    ]
    """Names, or blocks with `algorithm`, parameters, and perhaps `label` and other `noises` than
    those of the suite; all must have the same model."""
    shown: Different[Label] = []
    """Labels that tables and figures of the games show; default: all."""

    @property
    def entries(self) -> list[tuple[tuple[str, ...], Any]]:
        """The algorithms, as a registry makes them, each after its noises."""
        return [(own or tuple(self.noises), entry) for own, entry in map(parted, self.algorithms)]

    @property
    def members(self) -> list[Member]:
        """The algorithms of all entries, made by the registry."""
        return [member for _, entry in self.entries for member in make_members(entry)]

    @property
    def by_noise(self) -> dict[str, tuple[Any, ...]]:
        """The algorithms that play with each noise; without privacy it is `NO_NOISE`."""
        entries = self.entries
        if make_members(entries[0][1])[0].algorithm.model == "none":
            return {NO_NOISE: tuple(entry for _, entry in entries)}
        noises = dict.fromkeys(noise for own, _ in entries for noise in own)
        return {it: tuple(entry for own, entry in entries if it in own) for it in noises}

    @property
    def modules(self) -> tuple[str, ...]:
        """The modules of the algorithms and noises, each once."""
        played = self.by_noise
        code = [*chain(*map(modules_of, chain(*played.values()))), *map(module_of_noise, played)]
        return tuple(dict.fromkeys(code))


Suites = Annotated[
    dict[Label, Suite],
    BeforeValidator(by_label, json_schema_input_type=list[str] | dict[Label, Suite | None]),
]
"""Suites by label, those of dpol written out."""


class Shown(Settings):
    """What the results depend on of the block `report`."""

    algorithms: Annotated[
        list[Label],
        BeforeValidator(lambda value: [] if value is None else value),
        AfterValidator(all_different),
    ] = []
    """Labels of the algorithms to show, in this order; default: those that the suites show.

    The best of the linear models (`ridge`) is shown beside them, so the default leaves them out if
    other algorithms play. Behind the first paper's algorithms, its Table 2 and Figure 2 show what
    this key names and the paper lacks; by default, what suites of your own play."""
    replay: bool = False
    """Replay a run with every true count although `dataset.public` is false.

    Public and simulated data are always replayed."""
    confidence: Annotated[float, Field(gt=0.5, lt=1)] = 0.95
    """Joint confidence of all intervals of the table (Bonferroni)."""

    def resolved(self, suites: Mapping[str, Suite]) -> Self:
        """Return the report with its algorithms, by default from those that the suites show."""
        if self.algorithms:
            return self
        played = [
            member
            for suite in suites.values()
            for member in suite.members
            if member.label in suite.shown or not suite.shown
        ]
        single = [member.label for member in played if member.family != LINEAR]
        named = [*dict.fromkeys(single or [member.label for member in played])]
        return self.model_copy(update={"algorithms": named})


class Report(Shown):
    """What the tables and figures show; default: everything that the suites play."""

    width: Annotated[float, Field(ge=2.5)] = 12.0
    """Largest width of a figure in inches, such as 3.3 for one column of a paper; panels that do
    not fit stand below each other."""
    titles: bool = True
    """Whether each figure begins with its finding; false for a paper, whose captions tell it."""


class GamesSettings(Settings):
    """The keys of a config that the main experiment depends on."""

    suites: Suites = {}
    """The suites by label."""
    keep_rounds: bool = False
    """Whether every round of every run is kept."""
    replicates: int = 1
    """Repetitions of every randomised run."""
    report: Shown
    plays_table_2: bool = False
    """Whether the suites play all of the first paper's Table 2."""
    beside: Different[Label] = []
    """Labels that its exhibits show beside the paper's algorithms, which may be among them."""
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


# ---- Table 2 of the first paper ------------------------------------------------------------------


def papers_members(families: Collection[str] = (*PAPERS, LINEAR)) -> list[tuple[Member, str]]:
    """Return RW-Meta, both trees, and the linear models, each with its column of Table 2.

    Those of other families are left out, and their code is not imported.
    """
    columns = {**{label: label for label in PAPERS}, LINEAR: BEST_LINEAR}
    named = [name for name in columns if name in families]
    return [(member, columns[name]) for name in named for member in make_members(name)]


def columns_in_paper(members: Sequence[Member], noise: str) -> list[tuple[str, bool]]:
    """Return the column of Table 2 of each algorithm with a noise, and whether it is a variant.

    A variant of RW-Meta or of a tree has a column of its own beside the paper's; any other
    algorithm has none.
    """
    families = {it.family for it in members} if noise == PAPER_NOISE else set()
    known, columns = papers_members(families), []
    for member in members:
        variant = member.family in PAPERS and noise == PAPER_NOISE
        papers = ((column, False) for it, column in known if it == member)
        columns.append(next(papers, (member.label * variant, variant)))
    return columns


def lacks_of_table_2(suites: Iterable[Suite]) -> str:
    """Say what of the paper's Table 2 the suites do not play; empty if they play all of it.

    >>> lacks_of_table_2([Suite(algorithms=["ridge", "rw-meta", "tree-ftpl-min-noise"])])
    'no suite plays tree-ftpl-min-regret as the paper does; a variant needs a label of its own'
    """
    entries = [entry for suite in suites for entry in suite.entries]
    with_noise = [entry for noises, entry in entries if PAPER_NOISE in noises]
    played = [*chain(*map(make_members, with_noise))]
    lacking = [member.label for member, _ in papers_members() if member not in played]
    if not lacking:
        return ""
    return f"no suite plays {listed(lacking)} as the paper does; a variant needs a label of its own"
