"""The whole configuration as models; anything not described here is refused.

Every field carries its description: the JSON schema, the commented reference config and the
manual are generated from these models (`dpol config write`), and a test catches drift. Which
algorithms exist is not known here; `dpol.config.experiment` checks their names and parameters
against the registry.
"""

from __future__ import annotations

import math
from typing import Annotated, Any

from pydantic import Field, PositiveInt, create_model

from dpol.core.settings import Label, Mu, Settings
from dpol.data.settings import Dataset, Stream
from dpol.noise import NOISES
from dpol.studies.hospitals.settings import Comparison, Report, Suite
from dpol.studies.registry import load_studies


class Privacy(Settings):
    """Privacy levels and the unit they hold for: one person in one period, of gains one round."""

    levels: Annotated[dict[Label, Mu], Field(min_length=1)]
    """Label of each level (used in file names) and its Gaussian-DP parameter mu; `.inf` = none."""
    delta: Annotated[float, Field(gt=0, lt=1)] = 1e-6
    """The delta at which epsilon is reported beside mu."""
    count_sensitivity: Annotated[float, Field(ge=1e-3, le=1e3)] = 1.0
    """How far one person can move one count; above 1: the conservative reading of cleaned data."""


class Config(Settings):
    """One experiment; `WHOLE` adds a block for each study."""

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
    replicates: Annotated[int, Field(ge=1, le=1_000_000)] = 100
    """Independent repetitions (seeds) of every randomised run."""
    block_replicates: PositiveInt | None = None
    """Replicates in one job; without it all. Results do not depend on it."""
    job_memory_mb: Annotated[int, Field(ge=500, le=1_000_000)] = 1500
    """Memory of a job that plays a suite, in MB: it plays as many replicates at a time as fit (at
    least one). Results do not depend on it."""
    comparison: Comparison | None = None
    """The paper's way beside ours; without this block, no comparison."""
    report: Report

    def block(self, study: str) -> Any:
        """The settings of a study, None if the config does not ask for it."""
        return getattr(self, study, None)

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
        found += self.dataset.problems()
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
            for noise in (name for name in suite.noises if NOISES[name].needs_capacities):
                allowed = f"must not hold {noise} because {because}: its gains have no capacities"
                found.append((("suites", label, "noises"), suite.noises, allowed))
        labels = self.block("labels")
        if labels is not None and labels.patients_per_week is not None:
            allowed = f"must not be given because {because}: its gains have no persons"
            value = labels.patients_per_week
            found.append((("labels", "patients_per_week"), value, allowed))
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


_BLOCKS: dict[str, Any] = {
    name: (study.settings | None, Field(None, description=f"{study.title}; without it, none."))
    for name, study in load_studies().items()
}
WHOLE = create_model("Config", __base__=Config, __doc__="One experiment.", **_BLOCKS)
"""A config with the blocks of all studies."""
