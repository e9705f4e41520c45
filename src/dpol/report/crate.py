"""A run as a Workflow Run RO-Crate: what was run on what, and what came out, with checksums.

The profiles are Process Run Crate 0.5 and Workflow Run Crate 0.5 (w3id.org/ro/wfrun). Who ran the
workflow is left out on purpose.
"""

from __future__ import annotations

import mimetypes
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

from dpol.config.models import Config
from dpol.core.files import sha256, write_json, write_text
from dpol.core.words import HOLDS_RAW_COUNTS
from dpol.report.data import read_source
from dpol.report.provenance import Provenance

CRATE = "ro-crate-metadata.json"
WORKFLOW = "provenance/Snakefile"
CONFIG = "provenance/config.yaml"
_CRATE_PROFILE = "https://w3id.org/workflowhub/workflow-ro-crate/1.0"
_PROFILES = {
    "https://w3id.org/ro/wfrun/process/0.5": "Process Run Crate",
    "https://w3id.org/ro/wfrun/workflow/0.5": "Workflow Run Crate",
    _CRATE_PROFILE: "Workflow RO-Crate",
}
_FORMATS = {".parquet": "application/vnd.apache.parquet", ".yaml": "application/yaml"}

_SPAN = (
    "From the start of its first job to the end of the last one before the report; jobs that were"
    " done earlier are not done again."
)

Entity = dict[str, Any]


def write_crate(
    folder: Path, config: Config, provenance: Provenance, snakefile: str, files: Iterable[Path]
) -> None:
    """Write the crate of a run, with the config and the Snakefile that it names.

    Args:
        folder: results/<run>, the root of the crate.
        config: of the run.
        provenance: from what the run was made.
        snakefile: text of the main file of the workflow.
        files: outputs of the run; those that are not in `folder` are left out.

    Raises:
        DataError: a file that tells where the data came from cannot be read.
    """
    write_text(folder / WORKFLOW, snakefile)
    write_text(folder / CONFIG, provenance.config_text)
    outputs = [it for it in dict.fromkeys(files) if folder in it.parents]
    write_json(folder / CRATE, build_crate(folder, config, provenance, outputs))


def build_crate(
    folder: Path, config: Config, provenance: Provenance, outputs: Iterable[Path]
) -> Entity:
    """The crate as JSON-LD; equal files, config and provenance give an equal crate."""
    results = [_file(folder, path) for path in outputs]
    inputs = [_table(folder, config), *_properties(config, provenance)]
    used = _file(folder, folder / CONFIG) | {
        "name": f"Config: {provenance.config_name}",
        "exampleOfWork": _ids("#config"),
    }
    packages = [_package(*it) for it in provenance.versions]
    started, ended = _span(folder, provenance)
    action = {
        "@id": "#run",
        "@type": "CreateAction",
        "name": f"Run {config.run}",
        "description": _SPAN,
        "instrument": _ids(WORKFLOW),
        "object": _ids(used, *inputs),
        "result": _ids(*results),
        "actionStatus": "http://schema.org/CompletedActionStatus",
        "startTime": started,
        "endTime": ended,
    }
    root = {
        "@id": "./",
        "@type": "Dataset",
        "name": f"dpol: run {config.run}",
        "description": _description(config),
        "datePublished": ended,
        "license": _ids("#licence"),
        "conformsTo": _ids(*_PROFILES),
        "mainEntity": _ids(WORKFLOW),
        "mentions": _ids(action),
        "hasPart": _ids(WORKFLOW, used, *results),
    }
    described = [*_workflow(folder, provenance, packages), used, *inputs, *packages, *results]
    return {
        "@context": [
            "https://w3id.org/ro/crate/1.1/context",
            "https://w3id.org/ro/terms/workflow-run/context",
        ],
        "@graph": [*_frame(), root, action, *described],
    }


def _description(config: Config) -> str:
    data = "simulated" if config.dataset.simulated else "real"
    warning = f" {HOLDS_RAW_COUNTS}" if config.dataset.private else ""
    return f"Differentially private online learning: results of one run, on {data} data.{warning}"


def _ids(*entities: Entity | str) -> Any:
    """References to entities, given themselves or by their id; one alone is not a list."""
    found = [{"@id": it if isinstance(it, str) else it["@id"]} for it in entities]
    return found[0] if len(found) == 1 else found


def _file(folder: Path, path: Path) -> Entity:
    name = path.relative_to(folder).as_posix()
    media = _FORMATS.get(path.suffix) or mimetypes.guess_type(name)[0] or "text/plain"
    return {
        "@id": quote(name),
        "@type": "File",
        "name": name,
        "encodingFormat": media,
        "contentSize": str(path.stat().st_size),
        "sha256": sha256(path),
    }


def _table(folder: Path, config: Config) -> Entity:
    """The data that went in: not a part of the crate, but named by its checksum."""
    facts = read_source(folder, config)
    fetched: Mapping[str, Any] = facts.get("fetched", {})
    known = {"url": fetched.get("url"), "dateModified": fetched.get("retrieved")}
    return {
        "@id": "#data-0",
        "@type": "CreativeWork",
        "name": facts["file"],
        "description": "simulated, not measured" if facts["simulated"] else "real",
        "sha256": facts["sha256"],
        **{key: value for key, value in known.items() if value},
    }


def _properties(config: Config, provenance: Provenance) -> Iterator[Entity]:
    named: dict[str, int | str] = {"seed": config.seed}
    named |= {f"hash of the code of {part}": value for part, value in provenance.codes}
    for name, value in named.items():
        key = quote(name.replace(" ", "-"))
        yield {"@id": f"#{key}", "@type": "PropertyValue", "name": name, "value": value}


def _package(name: str, version: str) -> Entity:
    kind = "generic" if name == "Python" else "pypi"
    return {
        "@id": f"pkg:{kind}/{name.lower()}@{version}",
        "@type": "SoftwareApplication",
        "name": name,
        "softwareVersion": version,
    }


def _workflow(folder: Path, provenance: Provenance, packages: list[Entity]) -> Iterator[Entity]:
    commit = f" Commit {provenance.commit}." if provenance.commit else ""
    yield _file(folder, folder / WORKFLOW) | {
        "@type": ["File", "SoftwareSourceCode", "ComputationalWorkflow"],
        "name": "dpol",
        "description": "Main file of the workflow; its rules and scripts are those of this version"
        f" of dpol.{commit}",
        "version": provenance.of_package("dpol"),
        "programmingLanguage": _ids("#snakemake"),
        "softwareRequirements": _ids(*packages),
        "input": _ids("#config"),
    }
    yield {
        "@id": "#snakemake",
        "@type": "ComputerLanguage",
        "name": "Snakemake",
        "url": "https://snakemake.github.io",
        "version": provenance.of_package("snakemake"),
    }
    yield {
        "@id": "#config",
        "@type": "FormalParameter",
        "name": "config",
        "additionalType": "File",
        "workExample": _ids(CONFIG),
    }


def _frame() -> Iterator[Entity]:
    """Entities that every crate has."""
    yield {
        "@id": CRATE,
        "@type": "CreativeWork",
        "about": _ids("./"),
        "conformsTo": _ids("https://w3id.org/ro/crate/1.1", _CRATE_PROFILE),
    }
    for address, name in _PROFILES.items():
        version = address.rpartition("/")[2]
        yield {"@id": address, "@type": "CreativeWork", "name": name, "version": version}
    yield {
        "@id": "#licence",
        "@type": "CreativeWork",
        "name": "Licence",
        "description": "dpol is under the MIT licence; for the data, the terms of their source"
        " hold.",
    }


def _span(folder: Path, provenance: Provenance) -> tuple[str, str]:
    """Times at which the jobs began and ended; that of the page if none was measured."""
    stages = provenance.stages
    moment = (folder / "report/index.html").stat().st_mtime
    span = (moment, moment)
    if not stages.empty:
        span = float(stages["started"].min()), float(stages["ended"].max())
    first, last = (datetime.fromtimestamp(it, UTC).isoformat(timespec="seconds") for it in span)
    return first, last
