"""The whole configuration as models; anything not described here is refused.

Every field carries its description: the JSON schema and the commented default
config are generated from these models (`dpol config schema`, `dpol config
default`), and a test catches drift. Which algorithms exist is not known here;
`dpol.experiment` checks their names and parameters against the registry.
"""

from __future__ import annotations

import datetime
import math
from pathlib import PurePosixPath
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    HttpUrl,
    PositiveFloat,
    PositiveInt,
    WithJsonSchema,
    model_validator,
)

Label = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=64)]
CalibrationName = Literal["isotropic", "isotropic-constant", "isotropic-worst-case", "capacity"]


def _relative(path: str) -> str:
    parts = PurePosixPath(path).parts
    if not parts or parts[0] == "/" or ".." in parts:
        raise ValueError("must be a path below the working folder, like data/raw/table.csv.gz")
    return path


def _table_file(path: str) -> str:
    if not path.endswith((".csv", ".csv.gz", ".parquet")):
        raise ValueError("must end in .csv, .csv.gz or .parquet")
    return path


def _not_nan(value: float) -> float:
    if math.isnan(value) or value <= 0:
        raise ValueError("must be above 0; .inf means no privacy noise")
    return value


def _sensitivity(value: object) -> object:
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not (isinstance(value, str) and value) and not (number and 0 < float(str(value)) < math.inf):
        raise ValueError("must be a number above 0, or the name of a column")
    return value


def _all_different(names: list[str]) -> list[str]:
    if len(set(names)) < len(names):
        raise ValueError("must not name anything twice")
    return names


# What an algorithm is, is checked against the registry; one message is enough.
AlgorithmSpec = Annotated[Any, WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "object"}]})]
TableFile = Annotated[str, AfterValidator(_table_file)]
Mu = Annotated[float, AfterValidator(_not_nan)]


class Model(BaseModel):
    """Base of all config models: frozen, unknown keys refused, defaults checked too."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, allow_inf_nan=True, use_attribute_docstrings=True
    )


class Endpoint(Model):
    """One place on the web that serves the table."""

    kind: Literal["socrata", "file"]
    """`socrata`: a resource URL of a Socrata server, ending in `.csv`; only the needed rows and
    columns are asked for, page by page. `file`: the whole table as one CSV file."""
    url: HttpUrl
    """Its address."""


class WebSource(Model):
    """A table that is fetched once and kept."""

    kind: Literal["web"]
    """This kind of source."""
    endpoints: Annotated[list[Endpoint], Field(min_length=1)]
    """Tried in this order until one delivers."""
    file: Annotated[TableFile, AfterValidator(_relative)]
    """Where the fetched table is kept (`.csv.gz`). A file already there is used as it is."""
    page_size: Annotated[int, Field(ge=1, le=50_000)] = 20_000
    """Rows in one page of a Socrata server."""
    attempts: Annotated[int, Field(ge=1, le=20)] = 6
    """Tries of one request before the next endpoint is taken."""
    timeout_seconds: PositiveFloat = 60.0
    """Longest silence of a server before a try counts as failed."""


class LocalSource(Model):
    """A table on this machine."""

    kind: Literal["local"]
    """This kind of source."""
    file: TableFile
    """The table: `.csv`, `.csv.gz` or `.parquet`."""
    simulated: bool = False
    """Whether the table is made up; tables and figures then say so."""


class GainsSource(Model):
    """A table of gains on this machine: a row per round, a column per expert, no capacities."""

    kind: Literal["gains"]
    """This kind of source."""
    file: TableFile
    """The table: `.csv`, `.csv.gz` or `.parquet`, rows in the order of the rounds."""
    sensitivity: Annotated[float | str, BeforeValidator(_sensitivity)]
    """How far a round's gains can move, as an L2 norm: a number, or the column that holds one for
    each round. What moves less is protected; sqrt(n) times `gain_range` protects any change."""
    gain_range: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 1.0
    """Gains lie between 0 and this."""
    period: str | None = None
    """Column with the date of the round, such as 2021-01-31; without it rounds have numbers."""
    experts: Annotated[list[str], Field(min_length=2), AfterValidator(_all_different)] | None = None
    """Columns with the gains of the experts; without it all columns but those named above."""
    simulated: bool = False
    """Whether the table is made up; tables and figures then say so."""

    @property
    def others(self) -> list[str]:
        """The columns that hold no gains."""
        named = (self.period, self.sensitivity)
        return [name for name in named if isinstance(name, str)]

    @model_validator(mode="after")
    def _apart(self) -> GainsSource:
        columns = [*self.others, *(self.experts or ())]
        if twice := {name for name in columns if columns.count(name) > 1}:
            raise ValueError(
                f"column {', '.join(sorted(twice))} is named twice among period, sensitivity and"
                " experts"
            )
        return self


class SimulatedSource(Model):
    """A simulated table in the schema of the HHS dataset."""

    kind: Literal["simulated"]
    """This kind of source."""
    hospitals: Annotated[dict[Label, Annotated[int, Field(ge=2)]], Field(min_length=1)]
    """Hospitals in each group (state) that cleaning keeps; two that it drops come on top."""
    weeks: Annotated[int, Field(ge=2, le=2_000)]
    """Number of weeks."""
    first_week: datetime.date = datetime.date(2020, 8, 7)
    """Start of the first week."""


Source = Annotated[
    WebSource | LocalSource | SimulatedSource | GainsSource, Field(discriminator="kind")
]


class Columns(Model):
    """The names the table uses for what dpol needs."""

    entity: str
    """Identifies an entity (a hospital); each becomes an expert."""
    period: str
    """Start of the period (week), an ISO date such as 2021-01-31."""
    count: str
    """Number of persons counted in the period (COVID patients)."""
    capacity: str
    """Capacity of the entity in the period (beds)."""
    group: str | None = None
    """Groups the entities (state); without it all entities form one group named `all`."""
    name: str | None = None
    """A name to show for an entity; without it the identifier is shown."""
    cases: list[str] | None = None
    """Columns added up over the whole period for `cleaning.min_total_cases`; without it `count`."""

    def needed(self) -> list[str]:
        """All columns that are read from the table, each once."""
        named = [self.entity, self.period, self.group, self.name]
        numbers = [self.count, self.capacity, *(self.cases or ())]
        return list(dict.fromkeys(name for name in [*named, *numbers] if name))


class Periods(Model):
    """Which periods are used."""

    first: datetime.date | None = None
    """First period, included; without it the first in the table."""
    last: datetime.date | None = None
    """Last period, included; without it the last in the table."""
    days: PositiveInt = 7
    """Length of a period in days."""

    @model_validator(mode="after")
    def _ordered(self) -> Periods:
        if self.first and self.last and self.first > self.last:
            raise ValueError(f"first ({self.first}) must not be after last ({self.last})")
        return self


class Cleaning(Model):
    """How the holes of the table are filled; every rule is counted in the cleaning report."""

    suppressed_markers: list[str] = ["-999999"]
    """Values that stand for a count too small to publish."""
    missing_markers: list[str] = ["", "NA", "NaN", "null"]
    """Values that stand for a missing number."""
    suppressed_value: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 2.0
    """What a suppressed count becomes."""
    max_carry: Annotated[int, Field(ge=0)] = 4
    """Periods a missing count is carried forward; after that it becomes 0."""
    min_total_cases: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 100.0
    """Entities with fewer cases over the whole period are dropped."""
    case_factor: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 1.0
    """What the case columns are multiplied by; 7 turns daily averages into weekly totals."""


class Dataset(Model):
    """Where the table comes from and how it is read."""

    source: Source
    """`web`, `local`, `simulated` or `gains`; with `gains`, no other block of the dataset."""
    columns: Columns | None = None
    """The names the table uses for what dpol needs; required, but not with `gains`."""
    periods: Periods = Periods()
    cleaning: Cleaning = Cleaning()

    @property
    def needed_columns(self) -> Columns:
        """The columns of a table of counts. Raises ValueError for a table of gains."""
        if self.columns is None:
            raise ValueError("a table of gains has no dataset.columns")
        return self.columns

    @property
    def simulated(self) -> bool:
        """Whether the table is made up, by dpol or by somebody else."""
        source = self.source
        named = isinstance(source, (LocalSource, GainsSource)) and source.simulated
        return named or source.kind == "simulated"


class Stream(Model):
    """A gain stream: the entities of some groups, played as one game."""

    groups: Annotated[list[str], Field(min_length=1)]
    """Values of the group column that belong to it (`all` where there is no group column)."""
    title: str | None = None
    """Shown in tables and figures; without it the label of the stream."""
    reported_as: Label | None = None
    """Label under which the paper reports this stream; its numbers are shown beside ours when
    the stream also has the paper's periods."""


class Privacy(Model):
    """Privacy levels and the unit they hold for: one person in one period, of gains one round."""

    levels: Annotated[dict[Label, Mu], Field(min_length=1)]
    """Label of each level (used in file names) and its Gaussian-DP parameter mu; `.inf` = none."""
    delta: Annotated[float, Field(gt=0, lt=1)] = 1e-6
    """The delta at which epsilon is reported beside mu."""
    count_sensitivity: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 1.0
    """How far one person can move one count; above 1: the conservative reading of cleaned data."""


class Suite(Model):
    """Algorithms that run together, on the same noisy gains, in one job."""

    calibrations: Annotated[
        list[CalibrationName], Field(min_length=1), AfterValidator(_all_different)
    ] = ["isotropic"]
    """How the noise is scaled, one run each; ignored by algorithms without privacy."""
    algorithms: Annotated[list[AlgorithmSpec], Field(min_length=1)]
    """A registered name, or a block with the key `algorithm`, optionally `label`, and parameters.
    All algorithms of a suite see the same data: noisy gains, raw gains, or raw without privacy."""


class Amplification(Model):
    """How much RW-AdaBatch amplifies privacy, on gains that are all zero (the worst case)."""

    n_experts: Annotated[list[Annotated[int, Field(ge=2)]], Field(min_length=1)]
    """Numbers of experts n."""
    mus: Annotated[list[Annotated[float, Field(gt=0, allow_inf_nan=False)]], Field(min_length=1)]
    """Gaussian-DP parameters mu of one round, for a change of its whole gain vector."""
    n_rounds: Annotated[int, Field(ge=1, le=20_000)] = 1000
    """Number of rounds T."""
    rounds: Annotated[list[PositiveInt], Field(min_length=1)] = [500]
    """Rounds t whose protection is computed; the figure shows the first."""
    alpha: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 0.1
    """Tolerance of RW-AdaBatch for batching."""
    bounds: Annotated[list[Literal["borell-tis", "reflection"]], Field(min_length=1)] = [
        "borell-tis",
        "reflection",
    ]
    """Switching bounds."""
    replicates: Annotated[int, Field(ge=2)] = 1000
    """Runs of the Monte Carlo estimate."""

    @model_validator(mode="after")
    def _inside(self) -> Amplification:
        if max(self.rounds) > self.n_rounds:
            raise ValueError(f"rounds must be at most n_rounds ({self.n_rounds})")
        return self


class Lazy(Model):
    """Regret of L2P for experts on synthetic losses, beside its competitors."""

    n_rounds: Annotated[list[Annotated[int, Field(ge=2, le=10_000_000)]], Field(min_length=1)]
    """Numbers of rounds T."""
    n_experts: Annotated[list[Annotated[int, Field(ge=2)]], Field(min_length=1)]
    """Numbers of experts d."""
    epsilons: Annotated[list[Annotated[float, Field(gt=0)]], Field(min_length=1)]
    """Privacy of a change of one round's whole loss vector."""
    delta: Annotated[float, Field(gt=0, lt=1)] = 1e-6
    """delta of the guarantee."""
    gap: Annotated[float, Field(gt=0, le=0.5)] = 0.1
    """Advantage of the best expert in the stochastic losses."""
    accountants: Annotated[list[Literal["sound", "published"]], Field(min_length=1)] = [
        "sound",
        "published",
    ]
    """Accountants by which L2P is calibrated."""
    replicates: Annotated[int, Field(ge=2)] = 20
    """Runs of every setting."""
    largest_tree: PositiveInt = 3_000_000
    """Largest T times d at which the tree FTPL is run beside."""


class Convex(Model):
    """Regret of L2P for online convex optimisation on a ball, beside its competitors."""

    families: Annotated[list[Literal["linear", "logistic"]], Field(min_length=1)] = ["linear"]
    """Families of losses."""
    n_rounds: Annotated[list[Annotated[int, Field(ge=2, le=1_000_000)]], Field(min_length=1)]
    """Numbers of rounds T."""
    dimensions: Annotated[list[PositiveInt], Field(min_length=1)]
    """Dimensions d."""
    epsilons: Annotated[
        list[Annotated[float, Field(gt=0, allow_inf_nan=False)]], Field(min_length=1)
    ]
    """Privacy of a change of one round's loss."""
    delta: Annotated[float, Field(gt=0, lt=1)] = 1e-6
    """delta of the guarantee."""
    diameter: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 2.0
    """Diameter D of the ball."""
    lipschitz: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 1.0
    """Lipschitz constant L of the losses."""
    steps: PositiveInt = 100
    """Hit-and-run moves for one draw with logistic losses (linear losses are drawn exactly)."""
    largest_logistic: PositiveInt = 1000
    """Largest T at which logistic losses are run: the cost of a draw grows with T."""
    replicates: Annotated[int, Field(ge=2)] = 20
    """Runs of every setting."""


class Sweeps(Model):
    """Values that are tried, the other numbers being those of the base."""

    rounds: list[Annotated[int, Field(ge=2, le=10_000_000)]] = []
    """Numbers of rounds T."""
    labels: list[Annotated[int, Field(ge=2, le=100_000)]] = []
    """Numbers of labels M."""
    hypotheses: list[Annotated[int, Field(ge=2, le=1024)]] = []
    """Numbers of hypotheses K."""
    epsilons: list[Annotated[float, Field(gt=0, le=100)]] = []
    """Privacy of a message; the streams are played at each of them."""


class Distributions(Model):
    """Risk of learning a distribution from locally private labels.

    One setting is the base; each sweep changes one of its numbers. A `random` class has
    hypotheses drawn from a Dirichlet distribution; the sweep of rounds adds the `hard` class of
    the lower bound.
    """

    n_hypotheses: Annotated[int, Field(ge=2, le=1024)] = 4
    """Number of hypotheses K of the base; the hard class needs an even one."""
    n_labels: Annotated[int, Field(ge=2, le=100_000)] = 100
    """Number of labels M of the base."""
    n_rounds: Annotated[int, Field(ge=2, le=10_000_000)] = 1_000_000
    """Number of rounds T of the base."""
    epsilon: Annotated[float, Field(gt=0, le=100)] = 4.0
    """Privacy of one message of the base."""
    delta: Annotated[float, Field(gt=0, lt=1)] = 1e-6
    """delta of private WMA."""
    sweeps: Sweeps = Sweeps()
    """What is tried in place of the base, one number at a time."""
    concentration: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 1.0
    """Of the Dirichlet distribution; below 1, hypotheses put most mass on few labels."""
    patients_per_week: PositiveInt | None = None
    """Labels a week on the streams: the hospital of a random patient. Without it, no streams."""
    groups: Annotated[int, Field(ge=3, le=99)] = 5
    """Independent learners, each with T / groups rounds, behind the median selector."""
    replicates: Annotated[int, Field(ge=2)] = 8
    """Runs of every setting."""


class Audit(Model):
    """Audits of every mechanism, and the ledger of what the papers claim."""

    runs: Annotated[int, Field(ge=100, le=10_000_000)] = 30_000
    """Runs of a mechanism on each of two adjacent inputs."""
    confidence: Annotated[float, Field(gt=0.5, lt=1)] = 0.95
    """Confidence of each lower bound that is sampled."""
    mu: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 1.0
    """Gaussian-DP parameter that the audited mechanisms are calibrated to."""
    delta: Annotated[float, Field(gt=0, lt=1)] = 1e-6
    """delta of the claims of L2P and private WMA."""


class System(Model):
    """A whole private system: an algorithm, its noise, and the learners it is built from."""

    algorithm: Label
    """Label of an algorithm that a suite plays."""
    calibration: CalibrationName
    """How its noise is scaled."""
    learners: Label
    """Family of the learners that it selects from or averages. The best of them in hindsight is
    the oracle selector beside which its own selection is judged."""


class Aim(Model):
    """Ours at one privacy level beside something at another level."""

    ours: Label
    """Privacy level of ours."""
    against: Literal["paper", "best-learner"]
    """`paper`: the paper's way. `best-learner`: the best of its learners in hindsight."""
    at: Label
    """Privacy level of what ours is compared with."""


class Comparison(Model):
    """The paper's way and ours side by side, and where the losses come from."""

    paper: System
    """The paper's way."""
    ours: System
    """Ours."""
    ablations: list[System] = []
    """Systems between the two, with rows of their own in the table of ablations."""
    aims: list[Aim] = []
    """Comparisons across privacy levels, each with a verdict."""


class Report(Model):
    """What the table and the figure show."""

    algorithms: Annotated[list[Label], Field(min_length=1)]
    """Labels of the algorithms, in the order of the columns and of the legend."""
    envelope: Label = "ridge"
    """The family whose range is shaded, and whose best member has a column of its own."""
    calibration: CalibrationName = "isotropic"
    """The calibration that the figure shows."""
    confidence: Annotated[float, Field(gt=0.5, lt=1)] = 0.95
    """Confidence of the intervals, all cells of the table together (Bonferroni)."""


class Config(Model):
    """One experiment."""

    run: Label
    """Name of the run; everything it makes lies below results/<run>/."""
    seed: Annotated[int, Field(ge=0, lt=2**63)]
    """Root of all randomness."""
    dataset: Dataset
    streams: Annotated[dict[Label, Stream], Field(min_length=1)]
    """Label of each gain stream and what it is made of."""
    privacy: Privacy
    suites: Annotated[dict[Label, Suite], Field(min_length=1)]
    """Label of each suite and what it plays."""
    replicates: PositiveInt = 100
    """Independent repetitions (seeds) of every randomised run."""
    block_replicates: PositiveInt | None = None
    """Replicates in one job; without it all. Results do not depend on it."""
    job_memory_mb: Annotated[int, Field(ge=500)] = 1500
    """Memory of a job that plays a suite, in MB: it plays as many replicates at a time as fit (at
    least one). Results do not depend on it."""
    amplification: Amplification | None = None
    """Without this block the amplification of RW-AdaBatch is not studied."""
    lazy: Lazy | None = None
    """Without this block the regret of L2P is not studied."""
    convex: Convex | None = None
    """Without this block online convex optimisation is not studied."""
    distributions: Distributions | None = None
    """Study of learning distributions from locally private labels; without it, none."""
    audit: Audit | None = None
    """Without this block nothing is audited, and there is no ledger of claims."""
    comparison: Comparison | None = None
    """The paper's way beside ours; without this block, no comparison."""
    report: Report

    @property
    def raw_file(self) -> str:
        """The raw table, relative to the working folder."""
        source = self.dataset.source
        if source.kind == "simulated":
            return f"results/{self.run}/data/simulated.csv.gz"
        return source.file

    def problems(self) -> list[tuple[tuple[str, ...], object, str]]:
        """Rules across keys: (location, value, what is allowed) for each one broken."""
        found: list[tuple[tuple[str, ...], object, str]] = []
        source, columns = self.dataset.source, self.dataset.columns
        if source.kind == "web" and not source.file.endswith(".csv.gz"):
            found.append((("dataset", "source", "file"), source.file, "must end in .csv.gz"))
        for label, stream in self.streams.items():
            if (columns is None or columns.group is None) and stream.groups != ["all"]:
                allowed = "must be [all] because dataset.columns.group is not given"
                found.append((("streams", label, "groups"), stream.groups, allowed))
            if source.kind == "simulated" and (
                unknown := sorted(set(stream.groups) - set(source.hospitals))
            ):
                allowed = f"must be among dataset.source.hospitals: {', '.join(source.hospitals)}"
                found.append((("streams", label, "groups"), unknown, allowed))
        by_mu: dict[float, str] = {}
        for label, mu in self.privacy.levels.items():
            if mu in by_mu:
                allowed = f"must differ from the mu of {by_mu[mu]}"
                found.append((("privacy", "levels", label), mu, allowed))
            by_mu.setdefault(mu, label)
        if self.comparison is not None:
            found += self._comparison_problems(self.comparison)
        if source.kind == "gains":
            found += self._gains_problems()
        elif columns is None:
            allowed = "is missing: what the table calls entity, period, count and capacity"
            found.append((("dataset", "columns"), None, allowed))
        return found

    def _gains_problems(self) -> list[tuple[tuple[str, ...], object, str]]:
        """What does not go with a table of gains, which has neither counts nor capacities."""
        found: list[tuple[tuple[str, ...], object, str]] = []
        because = "dataset.source.kind is gains"
        for key in sorted(self.dataset.model_fields_set - {"source"}):
            allowed = f"must not be given because {because}: there is nothing to clean"
            found.append((("dataset", key), "a block", allowed))
        if "count_sensitivity" in self.privacy.model_fields_set:
            allowed = f"must not be given because {because}: dataset.source.sensitivity holds"
            value = self.privacy.count_sensitivity
            found.append((("privacy", "count_sensitivity"), value, allowed))
        for label, suite in self.suites.items():
            if "capacity" in suite.calibrations:
                allowed = f"must not hold capacity because {because}: its gains have no capacities"
                found.append((("suites", label, "calibrations"), suite.calibrations, allowed))
        if self.distributions is not None and self.distributions.patients_per_week is not None:
            allowed = f"must not be given because {because}: its gains have no persons"
            value = self.distributions.patients_per_week
            found.append((("distributions", "patients_per_week"), value, allowed))
        return found

    def _comparison_problems(
        self, comparison: Comparison
    ) -> list[tuple[tuple[str, ...], object, str]]:
        found: list[tuple[tuple[str, ...], object, str]] = []
        levels = self.privacy.levels
        names = ", ".join(levels)
        for index, aim in enumerate(comparison.aims):
            place = ("comparison", f"aims[{index}]")
            for key, level in (("ours", aim.ours), ("at", aim.at)):
                if level not in levels:
                    found.append(((*place, key), level, f"must be a level of privacy: {names}"))
        if math.inf not in levels.values():
            allowed = "must have a level .inf: comparison splits the loss against no noise"
            found.append((("privacy", "levels"), dict(levels), allowed))
        if comparison.ours == comparison.paper:
            allowed = "must differ from comparison.paper"
            found.append((("comparison", "ours"), comparison.ours.algorithm, allowed))
        return found
