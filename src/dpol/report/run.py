"""A finished run in Python: its config, streams and tables, read on demand."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import pandas as pd

from dpol.config.experiment import parse_experiment
from dpol.core.errors import DataError
from dpol.core.schemas import readable
from dpol.core.words import counted, listed, nearest, short_repr
from dpol.core.yaml_files import read_yaml
from dpol.data.stream import COMPUTED, PUBLIC, GainStream, read_stream, warning_of
from dpol.report.door import CONFIG, RunFiles, disagreements, read_crate
from dpol.show.panels import write_below
from dpol.studies.showing import frames_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_Found = TypeVar("_Found")


@dataclass(frozen=True)
class Run:
    """A finished run; open it with `open_run`. Only files as its RO-Crate lists them are read.

    Args:
        folder: results/<run>.
        crate: the files that its RO-Crate lists.
    """

    folder: Path
    crate: RunFiles

    def __repr__(self) -> str:
        return short_repr(self, repr(str(self.folder)), counted(len(self.crate.files), "file"))

    @cached_property
    def config(self) -> dict[str, Any]:
        """Config of the run. Raises ConfigError if it cannot be read."""
        raw: Any = read_yaml(self.folder / CONFIG)
        return dict(raw)

    def stream(self, label: str) -> GainStream:
        """Read a gain stream. Raises DataError if the run has none with this label."""
        there = self._files("streams", ".parquet")
        stream = read_stream(self.crate.file(self._one_of("stream", label, there)))
        public = self.config["dataset"].get("public", False)
        return replace(stream, provenance={**stream.provenance, PUBLIC: public})

    @property
    def tables(self) -> dict[str, Path]:
        """Files of the tables, by the names that `table` takes."""
        return {name: self.folder / file for name, file in self._tables.items()}

    def table(self, name: str) -> pd.DataFrame:
        """Read a result table such as `cumulative`, or a report table such as `answer`.

        Raises:
            DataError: the run has no such table, or it has changed since or cannot be read.
        """
        file = self._one_of("table", name, self._tables)
        with readable(path := self.crate.file(file)):
            return pd.read_csv(path) if path.suffix == ".csv" else pd.read_parquet(path)

    def plot(
        self,
        name: str = "privacy-utility",
        *,
        width: float | None = None,
        titles: bool | None = None,
    ) -> Figure:
        """Draw a figure of the page from the result tables of the run.

        A figure of a table that is not public says so below.

        Args:
            name: name of the figure, as of its files in figures/.
            width: its largest width in inches; by default `report.width` of the config.
            titles: whether it begins with its finding; by default `report.titles`.

        Raises:
            ConfigError: the config of the run is not one of this release.
            DataError: the run has no such figure, or a table has changed since or cannot be read.
        """
        config = parse_experiment(self.config, str(self.folder / CONFIG))
        style, facts = config.report, config.facts
        titled = style.titles if titles is None else titles
        figures = {
            figure.name: (study, section, figure)
            for study, block in config.studies()
            for section in study.sections_of(block, facts)
            for figure in section.figures
        }
        study, section, figure = self._one_of("figure", name, figures)
        files = {it: self.crate.file(f"{it}.parquet") for it in section.results}
        facts = replace(facts, form=(width or style.width, titled))
        drawn: Figure = figure.function(frames_of(study.package, files), facts)
        return write_below(drawn, warning_of(config.dataset.private, COMPUTED))

    @property
    def _tables(self) -> dict[str, str]:
        return self._files("tables", ".csv") | self._files(".", ".parquet")

    def _files(self, below: str, suffix: str) -> dict[str, str]:
        """Return the files of the run that are directly in a folder, by their name."""
        files = map(Path, sorted(self.crate.files))
        return {
            file.stem: file.as_posix()
            for file in files
            if file.parent == Path(below) and file.suffix == suffix
        }

    def _one_of(self, what: str, name: str, there: Mapping[str, _Found]) -> _Found:
        """Return what has a name, or raise DataError if nothing there has."""
        if name not in there:
            raise DataError(f"{self.folder}: no {what} {name}{nearest(name, there)}")
        return there[name]


def open_run(folder: Path | str) -> Run:
    """Open a finished run; warn of files that are changed, missing or new, as `dpol verify` does.

    Args:
        folder: results/<run>.

    Raises:
        DataError: the run is not finished.
    """
    folder = Path(folder)
    run = Run(folder, read_crate(folder))
    if found := disagreements(folder):
        told = listed([f"{name} ({how})" for how, name in found], 10)
        warnings.warn(
            f"{folder} was changed after the run: {told}; see dpol verify {folder}", stacklevel=2
        )
    return run
