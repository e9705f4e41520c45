"""Models of a whole config, which refuse every unknown key.

`tools/manual.py` makes the JSON schema and the manual from the descriptions of the fields: the
schema takes whole descriptions, the manual first paragraphs. Rules across keys are in
`dpol.config.rules`; `dpol.config.experiment` checks algorithms against the registry.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, product
from typing import Annotated, Any

from pydantic import Field, create_model

from dpol.core.settings import Label, Settings, Several
from dpol.core.shipped import place_of
from dpol.data.question import THE_PAPERS, Gain
from dpol.data.settings import Dataset, Streams
from dpol.experts.suites import SUITES
from dpol.privacy.settings import DELTA, Mu
from dpol.studies.games.settings import (
    GamesSettings,
    MemoryName,
    Report,
    Suites,
    lacks_of_table_2,
)
from dpol.studies.league.settings import LeagueSettings
from dpol.studies.registry import load_studies
from dpol.studies.study import Facts, Study


class Unit(Settings):
    """Unit of privacy: one person's presence in several consecutive periods."""

    weeks: Annotated[int, Field(ge=1, le=520)] = 1
    """Longest protected stay, in periods; 1 as in the papers. Longer stays get a weaker guarantee
    (a larger mu)."""


class Privacy(Settings):
    """Privacy levels, and what they protect: one person in one period, or one round of gains."""

    levels: Several[Mu]
    """Gaussian-DP parameter mu of each level; `.inf` means no privacy. In names of files, 0.5 is
    `mu-0.5`."""
    delta: Annotated[float, Field(gt=0, lt=1)] = DELTA
    """Delta at which epsilon is reported next to mu."""
    count_sensitivity: Annotated[float, Field(ge=1e-3, le=1e3)] = 1.0
    """Largest change that one person can make to one count.

    Above 1 if a person is counted several times, or for a cautious reading of cleaned data.
    Required where counts are added: `dataset.periods.of` or `dataset.cleaning.several_rows` is
    `sum`."""
    unit: Unit = Unit()
    """Unit of privacy of the levels."""
    memory: MemoryName = "designed"
    """Memory of the noise `capacity-memory`: `designed` for each entity from public numbers,
    `none`, or one [a, b] for all. Other noises ignore it."""


@dataclass(frozen=True, kw_only=True)
class Game:
    """A stream of the panel played under one question.

    Args:
        stream: label of the stream in the panel.
        question: label of the question; empty if the run asks only one.
        gain: the question.
        title: title of the stream and the question.
    """

    stream: str
    question: str
    gain: Gain
    title: str


class Config(Settings):
    """One experiment; `WHOLE` adds a block for each study."""

    run: Label
    """Name of the run; its results are in `results/<run>/`."""
    seed: Annotated[int, Field(ge=0, lt=2**63)]
    """Seed of all random numbers."""
    dataset: Dataset
    streams: Streams
    """The gain streams; `like: states` adds those of another config of dpol."""
    gain: Gain = THE_PAPERS
    """The question to ask."""
    questions: dict[Label, Gain] | None = None
    """Several questions instead of `gain`; each stream is played under each, as
    STREAM-QUESTION."""
    privacy: Privacy
    suites: Annotated[Suites, Field(min_length=1)]
    """Suites of algorithms: labels of suites of dpol (`local`, `central`, `non-private`), such as
    `[local, central]`, or a mapping from labels to suites, empty behind a label of dpol."""
    replicates: Annotated[int, Field(ge=1, le=1_000_000)] = 100
    """Independent repetitions of every randomised run."""
    keep_rounds: bool = False
    """Keep every round of every run in `games/**/rounds.parquet`.

    No table or figure needs these files."""
    report: Report = Report()

    def whole(self) -> dict[str, Any]:
        """Return what the config sets, with all that it takes from other configs and suites."""
        return self.model_dump(mode="json", exclude_unset=True)

    def studies(self) -> list[tuple[Study, Any]]:
        """Return the requested studies, each with its block."""
        blocks = ((study, self.block(study.name)) for study in load_studies().values())
        return [(study, block) for study, block in blocks if block is not None]

    def block(self, study: str) -> Any:
        """Return the settings of a study, or None if the config has no block for it."""
        return getattr(self, study, None)

    @property
    def gains(self) -> dict[str, Gain]:
        """The questions by label; the label of a single question is empty."""
        return {"": self.gain} if self.questions is None else self.questions

    @property
    def asks_the_papers(self) -> bool:
        """Whether gains, data columns and privacy are defined as in the first paper."""
        (*others, gain) = self.gains.values()
        once = self.privacy.count_sensitivity == 1 == self.privacy.unit.weeks
        return not others and gain.is_papers and once and self.dataset.is_papers

    @property
    def left_out(self) -> list[str]:
        """Exhibits of the first paper that a run of its question lacks, with the reason."""
        lacks = lacks_of_table_2(self.suites.values()) if self.asks_the_papers else ""
        return [f"no Table 2 and no Figure 2: {lacks}"] if lacks else []

    @property
    def played(self) -> dict[str, Game]:
        """The games by label: each stream under each question."""
        games = {}
        for (label, stream), (question, gain) in product(self.streams.items(), self.gains.items()):
            title = stream.title or label
            games[f"{label}-{question}" if question else label] = Game(
                stream=label,
                question=question,
                gain=gain,
                title=f"{title}, {gain.title or question}" if question else title,
            )
        return games

    @property
    def raw_file(self) -> str:
        """Path of the raw table: below the working folder, or shipped with dpol."""
        source = self.dataset.source
        if source.kind == "simulated":
            return f"results/{self.run}/data/simulated.csv.gz"
        return place_of(source.file)

    @property
    def facts(self) -> Facts:
        """What studies and their jobs know about the run."""
        return Facts(
            streams={label: game.title for label, game in self.played.items()},
            simulated=self.dataset.simulated,
            confidence=self.report.confidence,
            levels=tuple(self.privacy.levels),
            delta=self.privacy.delta,
            replayed=self.report.replay or not self.dataset.private,
            asks_the_papers=self.asks_the_papers,
            reported={label: stream.reported_as for label, stream in self.streams.items()},
            questions={label: gain.title or label for label, gain in self.gains.items()},
        )

    @property
    def games(self) -> GamesSettings:
        """Settings of the main experiment, taken from the top level of the config."""
        return GamesSettings(
            suites=self.suites,
            keep_rounds=self.keep_rounds,
            replicates=self.replicates,
            report=self.report,
            memory=self.privacy.memory,
            seed=self.seed,
            plays_table_2=not lacks_of_table_2(self.suites.values()),
            beside=self._beside_the_papers,
        )

    @property
    def _beside_the_papers(self) -> list[str]:
        """What the report names; unless it is written out, only of suites that are not dpol's."""
        own = {
            member.label
            for label, suite in self.suites.items()
            if label not in SUITES or suite.algorithms != SUITES[label]["algorithms"]
            for member in suite.members
        }
        usual = self.report.algorithms == Report().resolved(self.suites).algorithms
        return [it for it in self.report.algorithms if it in own or not usual]

    @property
    def league(self) -> LeagueSettings:
        """Settings of the league, taken from other keys of the config."""
        pairs = combinations(self.streams.values(), 2)
        return LeagueSettings(
            questions={label: game.question for label, game in self.played.items()},
            apart=all({*one.groups}.isdisjoint(other.groups) for one, other in pairs),
        )


_BLOCKS: dict[str, Any] = {
    study.name: (study.settings | None, None)
    for study in load_studies().values()
    if study.name not in Config.model_fields and not hasattr(Config, study.name)
}
WHOLE = create_model("Config", __base__=Config, __doc__="One experiment.", **_BLOCKS)
"""The model of a config with the blocks of all studies."""
