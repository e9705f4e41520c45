"""The whole configuration as models; anything not described here is refused.

Every field carries its description: the JSON schema and the manual are generated from these models
(`dpol config write`), and a test catches drift. Rules across keys are in `dpol.config.rules`; names
and parameters of algorithms are checked against the registry by `dpol.config.experiment`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import PurePosixPath
from typing import Annotated, Any

from pydantic import Field, PositiveInt, create_model

from dpol.core.settings import Label, Settings
from dpol.core.shipped import place_of
from dpol.data.question import THE_PAPERS, Gain
from dpol.data.settings import Dataset, Stream
from dpol.privacy.settings import Mu
from dpol.studies.games.settings import Games, MemoryName, Report, Suite
from dpol.studies.registry import find_study, load_studies
from dpol.studies.study import Facts, Study


class Unit(Settings):
    """The unit of privacy: one person in so many weeks in a row."""

    weeks: Annotated[int, Field(ge=1, le=520)] = 1
    """The longest stay, in periods of the table; 1 is the papers' unit. Who stays longer has a
    larger mu."""


class Privacy(Settings):
    """Privacy levels and the unit they hold for: one person in one period, of gains one round."""

    levels: Annotated[dict[Label, Mu], Field(min_length=1)]
    """Label of each level (used in file names) and its Gaussian-DP parameter mu; `.inf` = none."""
    delta: Annotated[float, Field(gt=0, lt=1)] = 1e-6
    """The delta at which epsilon is reported next to mu."""
    count_sensitivity: Annotated[float, Field(ge=1e-3, le=1e3)] = 1.0
    """Largest change of one count by one person; above 1 for a cautious reading of cleaned data."""
    unit: Unit = Unit()
    """Unit of privacy that the levels protect."""
    memory: MemoryName = "designed"
    """Memory of the noise `capacity-memory`: for each entity what public numbers suggest
    (`designed`), none (`none`), or the same [a, b] for all. Other noises ignore it."""


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A stream of the panel under a question.

    Args:
        stream: label of the stream in the panel.
        question: label of the question; empty if the run asks but one.
        gain: the question.
        title: of both.
        reported_as: label of the stream in the paper's table, if its numbers compare.
    """

    stream: str
    question: str
    gain: Gain
    title: str
    reported_as: str | None


class Config(Settings):
    """One experiment; `WHOLE` adds a block for each study."""

    run: Label
    """Name of the run; all its results are in results/<run>/."""
    seed: Annotated[int, Field(ge=0, lt=2**63)]
    """Root of all randomness."""
    dataset: Dataset
    streams: Annotated[dict[Label, Stream], Field(min_length=1)]
    """Label of each gain stream and what it is made of."""
    gain: Gain = THE_PAPERS
    """The question: what the gain of an entity is, and which entities may be named."""
    questions: dict[Label, Gain] | None = None
    """Several questions in place of `gain`, by label. Each stream is played under each of them, and
    is called STREAM-QUESTION."""
    privacy: Privacy
    suites: Annotated[dict[Label, Suite], Field(min_length=1)]
    """Label of each suite and what it plays."""
    replicates: Annotated[int, Field(ge=1, le=1_000_000)] = 100
    """Independent repetitions (seeds) of every randomised run."""
    block_replicates: PositiveInt | None = None
    """Replicates in one job; without it all. Results do not depend on it, but for the last digits
    of the curves of cumulative gain."""
    points_per_job: PositiveInt = 1
    """Points that one job computes at most: where a game takes less time than the start of a job,
    several together are faster. The points of a job read the same stream, and it is full when it is
    expected to take 20 s. Results do not depend on it."""
    keep_rounds: bool = False
    """True keeps every round of every run, `points/games/**/rounds.parquet`, for
    `dpol.open_run(...).games()`. No table or figure needs them."""
    job_memory_mb: Annotated[int, Field(ge=500, le=1_000_000)] = 1500
    """Memory of a job that plays a suite, in MB: it plays as many replicates at a time as fit (at
    least one). Results do not depend on it."""
    report: Report = Report()
    _others: tuple[Study, ...] = ()

    def studies(self) -> list[tuple[Study, Any]]:
        """The studies that it asks for, each with its block; those of other packages come last."""
        every = (*load_studies().values(), *self._others)
        found = ((study, self.block(study.name)) for study in every)
        return [(study, block) for study, block in found if block is not None]

    def block(self, study: str) -> Any:
        """The settings of a study, None if the config does not ask for it."""
        return getattr(self, study, None)

    @property
    def asks(self) -> dict[str, Gain]:
        """The questions by label, which is empty where the run asks only one."""
        return {"": self.gain} if self.questions is None else self.questions

    @property
    def at_most(self) -> float:
        """The largest count per capacity that is asked for."""
        return max((it.largest for it in self.asks.values() if it.of == "share"), default=1.0)

    @property
    def played(self) -> dict[str, Asked]:
        """The games by label: each stream under each question."""
        games = {}
        for (label, stream), (question, gain) in product(self.streams.items(), self.asks.items()):
            title = stream.title or label
            games[f"{label}-{question}" if question else label] = Asked(
                stream=label,
                question=question,
                gain=gain,
                title=f"{title}, {gain.title or question}" if question else title,
                # The paper's table answers the paper's question only.
                reported_as=stream.reported_as if gain.untitled == THE_PAPERS else None,
            )
        return games

    @property
    def raw_file(self) -> str:
        """The raw table: below the working folder, or one that comes with dpol."""
        source = self.dataset.source
        if source.kind == "simulated":
            return f"results/{self.run}/data/simulated.csv.gz"
        if source.member:  # a table of an archive
            return f"results/{self.run}/data/member/{PurePosixPath(source.member).name}"
        return place_of(source.file)

    @property
    def replayed(self) -> bool:
        """True if a run is replayed, which shows the true counts."""
        return self.report.replay or not self.dataset.private

    @property
    def facts(self) -> Facts:
        """The facts that studies know of the run before any of its jobs."""
        return Facts(
            streams={label: asked.title for label, asked in self.played.items()},
            simulated=self.dataset.simulated,
            confidence=self.report.confidence,
            levels=self.privacy.levels,
            delta=self.privacy.delta,
            seed=self.seed,
            replicates=self.replicates,
            memory=self.privacy.memory,
            replayed=self.replayed,
            reported={label: asked.reported_as for label, asked in self.played.items()},
            questions={label: gain.title or label for label, gain in self.asks.items()},
            asked={label: asked.question for label, asked in self.played.items()},
        )

    @property
    def games(self) -> Games:
        """The settings of the main experiment, which are keys of the whole config."""
        compared = self.block("comparison")
        return Games(
            suites=self.suites,
            block_replicates=self.block_replicates,
            keep_rounds=self.keep_rounds,
            report=self.report,
            roles={
                role: [(system.algorithm, system.noise) for system in systems]
                for role, systems in (compared.roles if compared else {}).items()
            },
        )


def with_blocks(studies: Iterable[Study]) -> type[Config]:
    """The model of a config with a block for each study."""
    blocks: dict[str, Any] = {
        study.name: (
            study.settings | None,
            Field(None, description=f"{study.title}; without it, none."),
        )
        for study in studies
        if not hasattr(Config, study.name)
    }
    return create_model("Config", __base__=Config, __doc__="One experiment.", **blocks)


WHOLE = with_blocks(load_studies().values())
"""A config with the blocks of all studies of dpol."""


@dataclass(frozen=True)
class Form:
    """The model of one config: with the blocks of the studies that it asks for.

    Args:
        model: of the config.
        keys: the keys under which the config has studies of other packages, by their names.
        others: those studies.
    """

    model: type[Config]
    keys: Mapping[str, str]
    others: tuple[Study, ...]

    def parse(self, raw: Mapping[str, Any]) -> Config:
        """The config. Raises ValidationError if a key breaks its rule."""
        names = {key: name for name, key in self.keys.items()}
        config = self.model.model_validate({names.get(key, key): raw[key] for key in raw})
        config._others = self.others
        return config


def form_of(raw: Mapping[str, Any]) -> Form:
    """The form of a config. Raises ValueError if a study of another package cannot be had."""
    others = {key: study for key in raw if (study := _outside(str(key)))}
    keys = {study.name: key for key, study in others.items()}
    studies = tuple(others.values())
    model = with_blocks([*load_studies().values(), *studies]) if studies else WHOLE
    return Form(model, keys, studies)


def _outside(key: str) -> Study | None:
    """The study of another package that a key names. Raises ValueError if its name is taken."""
    study = None if key in WHOLE.model_fields else find_study(key)
    if study is not None and (study.name in WHOLE.model_fields or hasattr(Config, study.name)):
        raise ValueError(f"{key}: a study cannot be named {study.name}, which is a key of dpol")
    return study
