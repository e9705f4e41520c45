"""Sources of a run, and its Workflow Run RO-Crate: inputs, code and outputs, with checksums.

Profiles: Process Run Crate 0.5 and Workflow Run Crate 0.5 (w3id.org/ro/wfrun). The crate omits who
ran the workflow on purpose.
"""

from __future__ import annotations

import mimetypes
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rocrate.model import ContextEntity
from rocrate.rocrate import ROCrate

from dpol.config.models import Config
from dpol.core.files import read_json, sha256
from dpol.core.schemas import readable
from dpol.data.settings import Dataset
from dpol.data.stream import HOLDS, read_stream, warning_of
from dpol.report.door import CONFIG, RunFiles
from dpol.reruns.notes import PACKAGES, Note

WORKFLOW = "provenance/Snakefile"
_PROFILES = {
    "https://w3id.org/ro/wfrun/process/0.5": "Process Run Crate",
    "https://w3id.org/ro/wfrun/workflow/0.5": "Workflow Run Crate",
    "https://w3id.org/workflowhub/workflow-ro-crate/1.0": "Workflow RO-Crate",
}
_MEDIA = mimetypes.MimeTypes()  # without types added by the machine
_MEDIA.add_type("application/vnd.apache.parquet", ".parquet")


@dataclass(frozen=True, kw_only=True)
class Provenance:
    """Sources of a page besides the files of the run.

    Args:
        config_name: names of the config files.
        config_text: the config as YAML.
        versions: versions of the packages that made the results; several where jobs differ.
        commit: commit of the checkout, in words; None if there is none.
        began: when its first job began, in nanoseconds since 1970.
        ended: when its last job ended.
    """

    config_name: str
    config_text: str
    versions: Sequence[tuple[str, str]]
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


def versions_of(jobs: Iterable[Note]) -> list[tuple[str, str]]:
    """Return names and versions of Python and its packages in the notes of jobs, in their order."""
    order = "Python", *PACKAGES
    versions = {pair for job in jobs for pair in job.versions.items()}
    return sorted(versions, key=lambda it: (order.index(it[0]), it))


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


def read_source(files: RunFiles, config: Config) -> dict[str, Any]:
    """Read the provenance of a table, as from `dpol.data.table.provenance_of_table`.

    Args:
        files: files of the run.
        config: config of the run.

    Raises:
        DataError: the file that describes it is missing or invalid.
    """
    if config.dataset.columns is None:  # a table of gains
        stream = files.file(f"streams/{next(iter(config.played))}.parquet")
        return dict(read_stream(stream).provenance)
    path = files.file("data/cleaning.json")
    with readable(path):
        return dict(read_json(path)["provenance"])


def source_facts(provenance: Mapping[str, Any], dataset: Dataset) -> tuple[tuple[str, str], ...]:
    """Turn a provenance of `dpol.data.table.provenance_of_table` into terms and texts."""
    fetched = provenance.get("fetched", {})
    every = {
        "table": provenance["file"],
        "data": "simulated, not measured" if provenance["simulated"] else "real",
        "SHA-256": provenance["sha256"],
        "retrieved": fetched.get("retrieved"),
        "address": fetched.get("url"),
        "licence": dataset.licence or fetched.get("licence"),
        "citation": dataset.citation,
        "what to know": dataset.caveat,
    }
    return tuple((term, str(text)) for term, text in every.items() if text)


# ---- the crate -----------------------------------------------------------------------------------


def build_crate(
    folder: Path,
    config: Config,
    provenance: Provenance,
    outputs: Mapping[str, str],
    answer: Sequence[str] = (),
) -> dict[str, Any]:
    """Build the crate of a run as JSON-LD.

    All ids and times are given, so equal files, config and provenance give an equal crate.

    Args:
        folder: results/<run>, the root of the crate, with the Snakefile and the config.
        config: config of the run.
        provenance: sources of the run.
        outputs: SHA-256 of each file of the run, by its path below the folder.
        answer: the lines with which the run ends, the abstract of the crate.

    Raises:
        DataError: the file on the origin of the data cannot be read.
    """
    crate = ROCrate(version="1.1")
    crate.metadata.extra_contexts.append("https://w3id.org/ro/terms/workflow-run/context")
    workflow = _add_workflow(crate, folder, provenance)
    source = read_source(RunFiles(folder=folder, files=outputs), config)
    facts = dict(source_facts(source, config.dataset))
    data = _add(  # the raw table, which is not in the crate, with its checksum and terms
        crate,
        "#data-0",
        "CreativeWork",
        name=facts["table"],
        description=facts["data"],
        sha256=facts["SHA-256"],
        url=facts.get("address"),
        dateModified=facts.get("retrieved"),
        license=facts.get("licence"),
        citation=facts.get("citation"),
    )
    values = [
        _add(crate, f"#{name}", "PropertyValue", name=name, value=value)
        for name, value in (("seed", config.seed), ("commit", provenance.commit))
        if value is not None
    ]
    inputs = [_add_file(crate, folder, CONFIG, sha256(folder / CONFIG)), data, *values]
    results = [_add_file(crate, folder, name, value) for name, value in outputs.items()]
    ended = _time(provenance.ended)
    run = crate.add_action(
        workflow,
        identifier="#run",
        object=inputs,
        result=results,
        properties={
            "name": f"Run {config.run}",
            "description": "From the start of the first job to the end of the last job before the"
            " report. Jobs that were already done did not run again.",
            "actionStatus": "http://schema.org/CompletedActionStatus",
            "startTime": _time(provenance.began),
            "endTime": ended,
        },
    )
    origin = "simulated" if config.dataset.simulated else "real"
    warning = warning_of(config.dataset.private, HOLDS)
    crate.name = f"dpol: run {config.run}"
    crate.description = (
        f"Differentially private online learning: results of one run, on {origin} data. {warning}"
    ).rstrip()
    crate.root_dataset["abstract"] = "\n".join(answer)
    crate.datePublished = ended
    crate.license = _add(
        crate,
        "#licence",
        "CreativeWork",
        name="Licence",
        description="dpol is under the MIT licence; the data are under the terms of their source.",
    )
    crate.root_dataset["mentions"] = run
    crate.root_dataset["conformsTo"] = [
        _add(crate, address, "CreativeWork", name=name, version=address.rpartition("/")[2])
        for address, name in _PROFILES.items()
    ]
    graph: dict[str, Any] = crate.metadata.generate()
    return graph


def _add_workflow(crate: ROCrate, folder: Path, provenance: Provenance) -> Any:
    """Add the Snakefile with the software that ran it."""
    software = [
        _add(
            crate,
            f"pkg:{'generic' if name == 'Python' else 'pypi'}/{name.lower()}@{version}",
            "SoftwareApplication",
            name=name,
            softwareVersion=version,
        )
        for name, version in provenance.versions
    ]
    return crate.add_workflow(
        folder / WORKFLOW,
        WORKFLOW,
        main=True,
        lang="snakemake",
        lang_version=provenance.by_package.get("snakemake"),
        properties=_described(folder, WORKFLOW, sha256(folder / WORKFLOW))
        | {
            "name": "dpol",
            "description": "Main file of the workflow; rules and scripts are in this version of"
            " dpol.",
            "version": provenance.by_package.get("dpol", ""),
            "softwareRequirements": software,
        },
    )


def _add(crate: ROCrate, identifier: str, kind: str, **properties: Any) -> ContextEntity:
    """Add an entity that is no file, without the properties that are None."""
    present = {key: value for key, value in properties.items() if value is not None}
    return crate.add(ContextEntity(crate, identifier, properties={"@type": kind, **present}))


def _add_file(crate: ROCrate, folder: Path, name: str, checksum: str) -> Any:
    return crate.add_file(folder / name, name, properties=_described(folder, name, checksum))


def _described(folder: Path, name: str, checksum: str) -> dict[str, str]:
    return {
        "name": name,
        "encodingFormat": _MEDIA.guess_type(name)[0] or "text/plain",
        "contentSize": str((folder / name).stat().st_size),
        "sha256": checksum,
    }


def _time(moment: int) -> str:
    return datetime.fromtimestamp(moment / 1e9, UTC).isoformat(timespec="seconds")
