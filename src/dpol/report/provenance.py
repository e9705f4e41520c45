"""Provenance of a page: versions, commit, config, and the time of each stage."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from dpol.core.versions import Versions, recorded_versions
from dpol.report.part import Part
from dpol.show.table import Column, Table, number, one_section, to_fragment
from dpol.studies.page import PageFacts


@dataclass(frozen=True, kw_only=True)
class Params:
    """Facts of a run from the workflow.

    Args:
        config_name: names of the config files.
        config_text: the config as YAML.
        snakefile: text of the main file of the workflow.
        code: hash of the code of dpol that computed the results.
        packages: other packages whose code played, with version and hash of their files.
    """

    config_name: str
    config_text: str
    snakefile: str
    code: str
    packages: Versions = ()


@dataclass(frozen=True, kw_only=True)
class Provenance:
    """Sources of a page besides the files of the run.

    Args:
        params: facts from the workflow.
        versions: versions of the packages that made the results; several where jobs differ.
        commit: commit of the checkout, in words; None if there is none.
        stages: table of `read_stages`.
    """

    params: Params
    versions: Versions
    commit: str | None
    stages: pd.DataFrame

    def described(self) -> str:
        """Name the versions, each package once."""
        of_package: dict[str, list[str]] = {}
        for name, version in self.versions:
            of_package.setdefault(name, []).append(version)
        parts = [f"{name} {' and '.join(versions)}" for name, versions in of_package.items()]
        return ", ".join(parts)

    def bibtex(self, facts: PageFacts, sha256: str) -> str:
        """Return an entry for BibTeX that names the run, the code and the data."""
        version = dict(self.versions).get("dpol", "unknown")
        note = f"commit {self.commit or 'unknown'}; data with SHA-256 {sha256}; seed {facts.seed}"
        return (
            f"@software{{dpol-{facts.run},\n"
            "  author = {{The dpol developers}},\n"
            f"  title = {{dpol: differentially private online learning. Run {facts.run}}},\n"
            f"  version = {{{version}}},\n"
            f"  note = {{{note}}}\n"
            "}"
        )


def provenance_of(params: Params, jobs: Iterable[str], folder: Path, checkout: Path) -> Provenance:
    """Collect the sources of a run.

    Args:
        params: facts from the workflow.
        jobs: names of its jobs: paths of their files in `logs` and `benchmarks`, without suffix.
        folder: results/<run>, with these folders.
        checkout: folder whose commit counts.
    """
    versions = recorded_versions(folder / f"logs/{job}.log" for job in jobs)
    return Provenance(
        params=params,
        versions=(*versions, *params.packages),
        commit=commit_of(checkout),
        stages=read_stages(jobs, folder / "benchmarks"),
    )


def commit_of(folder: Path | str) -> str | None:
    """Return the commit of a git checkout and whether files differ; None if it is no checkout."""
    if not (Path(folder) / ".git").exists():
        return None
    command = ["git", "-C", str(folder), "describe", "--always", "--abbrev=40", "--exclude=*"]
    command.append("--dirty=, with changes that are not committed")
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=30)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()


def read_stages(jobs: Iterable[str], folder: Path) -> pd.DataFrame:
    """Read times of jobs from their benchmark files; the first part of a name is the stage.

    Columns: `jobs`, their number; `wall` and `cpu`, total seconds; `memory`, the largest in MB;
    `started` and `ended`, seconds since 1970. Missing and unreadable files are left out.
    """
    how = {"wall": "sum", "cpu": "sum", "memory": "max", "started": "min", "ended": "max"}
    rows = [
        (job.partition("/")[0], *times) for job in jobs if (times := _times(folder / f"{job}.tsv"))
    ]
    frame = pd.DataFrame(rows, columns=["stage", *how]).assign(jobs=1)
    how |= {"jobs": "sum"}
    return frame.groupby("stage", as_index=False).agg(how)


def _times(file: Path) -> tuple[float, ...] | None:
    """Return seconds of wall and CPU time, MB of memory, start and end of a job.

    CPU time and memory are 0 for jobs that ended before a measurement. Snakemake writes the file
    when the job ends.
    """
    try:
        row = pd.read_csv(file, sep="\t", na_values=["-", "NA"]).iloc[0]
        cpu, memory = row[["cpu_time", "max_rss"]].fillna(0.0)
        wall, ended = float(row["s"]), file.stat().st_mtime
        return wall, float(cpu), float(memory), ended - wall, ended
    except (OSError, LookupError, ValueError, TypeError):
        return None


def stage_table(stages: pd.DataFrame) -> Table:
    """Build a table of the times of the stages, the longest first, and in total."""
    formats = {"jobs": ",.0f", "wall": ",.1f", "cpu": ",.1f", "memory": ",.0f"}
    lines = [
        (
            row["stage"].replace("_", " "),
            tuple(number(row[name], format(row[name], how)) for name, how in formats.items()),
        )
        for row in stages.sort_values("wall", ascending=False, kind="stable").to_dict("records")
    ]
    jobs, wall, cpu = stages[["jobs", "wall", "cpu"]].sum()
    return Table(
        caption="Time of each stage",
        name="stages",
        corner=("stage",),
        headers=(
            "jobs",
            Column("wall time", unit="s"),
            Column("CPU time", unit="s"),
            Column("peak memory", unit="MB"),
        ),
        sections=(one_section(lines),),
        footers=(
            f"Total: {jobs:,.0f} jobs, {wall:,.0f} s if run one after another, {cpu:,.0f} s of CPU"
            " time, excluding this page. Snakemake samples running jobs, so very short jobs show"
            " 0 s of CPU time.",
        ),
    )


def provenance_part(facts: PageFacts, provenance: Provenance, sha256: str) -> Part:
    """Build the part on versions, config, the time of each stage, and how to cite the run.

    Args:
        facts: facts of the run.
        provenance: sources of the run.
        sha256: checksum of its table.
    """
    terms = {
        "run": facts.run,
        "seed": str(facts.seed),
        "versions": provenance.described(),
        "commit when this page was made": provenance.commit,
    }
    timed, stages = not provenance.stages.empty, stage_table(provenance.stages)
    return Part(
        key="provenance",
        title="Provenance",
        intro="Everything you need to reproduce this page. The same versions, config, seed and data"
        " give the same numbers on the same kind of processor, with any number of cores.",
        folded=((stages.caption, to_fragment(stages)),) if timed else (),
        facts=tuple((term, text) for term, text in terms.items() if text),
        verbatim=(
            ("Cite this run", provenance.bibtex(facts, sha256)),
            (f"Config: {provenance.params.config_name}", provenance.params.config_text),
        ),
    )
