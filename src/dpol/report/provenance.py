"""Provenance of a page: versions, commit, config, and when the jobs ran."""

from __future__ import annotations

import subprocess
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from dpol.config.models import Config
from dpol.report.parts import Part
from dpol.reruns.notes import PACKAGES, Note


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
    packages: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, kw_only=True)
class Provenance:
    """Sources of a page besides the files of the run.

    Args:
        params: facts from the workflow.
        versions: versions of the packages that made the results; several where jobs differ.
        commit: commit of the checkout, in words; None if there is none.
        began: when its first job began, in nanoseconds since 1970.
        ended: when its last job ended.
    """

    params: Params
    versions: tuple[tuple[str, str], ...]
    commit: str | None
    began: int
    ended: int

    @property
    def by_package(self) -> dict[str, str]:
        """The versions of each package, in words."""
        of_package: dict[str, list[str]] = {}
        for name, version in self.versions:
            of_package.setdefault(name, []).append(version)
        return {name: " and ".join(versions) for name, versions in of_package.items()}


def provenance_of(params: Params, jobs: Collection[Note], checkout: Path) -> Provenance:
    """Collect the sources of a run.

    Args:
        params: facts from the workflow.
        jobs: notes of its jobs.
        checkout: folder whose commit counts.
    """
    versions = {pair for job in jobs for pair in job.versions.items()}
    order = "Python", *PACKAGES
    return Provenance(
        params=params,
        versions=(*sorted(versions, key=lambda it: (order.index(it[0]), it)), *params.packages),
        commit=commit_of(checkout),
        began=min(job.began for job in jobs),
        ended=max(job.ended for job in jobs),
    )


def commit_of(folder: Path | str) -> str | None:
    """Return the commit of a git checkout and whether files differ; None if it is no checkout."""
    if not (Path(folder) / ".git").exists():
        return None
    asked = "describe", "--always", "--abbrev=40", "--exclude=*"
    command = ["git", "-C", str(folder), *asked, "--dirty=, with changes that are not committed"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=30)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()


def provenance_part(config: Config, provenance: Provenance) -> Part:
    """Build the part on versions and config."""
    terms = {
        "run": config.run,
        "seed": str(config.seed),
        "versions": ", ".join(map(" ".join, provenance.by_package.items())),
        "commit when this page was made": provenance.commit,
    }
    return Part(
        key="provenance",
        title="Provenance",
        intro="Everything you need to reproduce this page. The same versions, config, seed and data"
        " give the same numbers on the same kind of processor, with any number of cores.",
        facts=tuple((term, text) for term, text in terms.items() if text),
        verbatim=((f"Config: {provenance.params.config_name}", provenance.params.config_text),),
    )
