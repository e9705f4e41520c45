"""Check that an RO-Crate describes the files of a run truly, by what the profiles require."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

MADE_OF = {
    "ro-crate-metadata.json": {"about", "conformsTo"},
    "./": {"name", "description", "datePublished", "license", "mainEntity", "hasPart", "mentions"},
    "provenance/Snakefile": {"name", "programmingLanguage", "version"},
    "#run": {"name", "instrument", "object", "result", "startTime", "endTime"},
}
TYPES = ["File", "SoftwareSourceCode", "ComputationalWorkflow"]


def references(value: Any) -> Iterator[str]:
    """Ids that the value of a property refers to."""
    for it in value if isinstance(value, list) else [value]:
        if isinstance(it, dict):
            yield it["@id"]


def faults(folder: Path, crate: dict[str, Any]) -> Iterator[str]:
    """Faults in the crate of a run."""
    entities = {it["@id"]: it for it in crate["@graph"]}
    if len(entities) < len(crate["@graph"]):
        yield "an id occurs twice"
    for name, properties in MADE_OF.items():
        if lacking := properties - entities.get(name, {}).keys():
            yield f"{name} lacks {sorted(lacking)}"
    named = {
        it for entity in entities.values() for value in entity.values() for it in references(value)
    }
    if unknown := named - entities.keys() - {"https://w3id.org/ro/crate/1.1"}:
        yield f"nothing says what these are: {sorted(unknown)}"
    files = {name for name, it in entities.items() if "File" in it["@type"]}
    if files != set(references(entities["./"]["hasPart"])):
        yield "parts are not the files"
    if not set(references(entities["#run"]["result"])) < files:
        yield "a result is not a file"
    for name in files:
        path = folder / unquote(name)
        if (
            not path.is_file()
            or hashlib.sha256(path.read_bytes()).hexdigest() != entities[name]["sha256"]
        ):
            yield f"{name} is another file"
    if entities["#run"]["instrument"] != entities["./"]["mainEntity"]:
        yield "another workflow was run"
    if entities["provenance/Snakefile"]["@type"] != TYPES:
        yield "the workflow is none"


def checked_crate(folder: Path) -> list[dict[str, Any]]:
    """The entities of the crate of a run, if nothing is wrong with it."""
    crate = json.loads((folder / "ro-crate-metadata.json").read_text())
    assert list(faults(folder, crate)) == []
    return list(crate["@graph"])
