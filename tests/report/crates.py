"""Read the RO-Crate of a run, and compare it with its files."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from rocrate.rocrate import ROCrate


def checked_crate(folder: Path) -> list[dict[str, Any]]:
    """Assert that all files match the crate of a run, and return its entities."""
    crate = ROCrate(folder)
    for file in crate.get_by_type("File"):
        found = hashlib.sha256((folder / unquote(file.id)).read_bytes()).hexdigest()
        assert found == file["sha256"], file.id
    run = crate.get("#run")
    assert run["instrument"] is crate.mainEntity
    assert {file.id for file in run["result"]} < {file.id for file in crate.root_dataset["hasPart"]}
    entities: list[dict[str, Any]] = json.loads(
        (folder / "ro-crate-metadata.json").read_text(encoding="utf-8")
    )["@graph"]
    ids = [entity["@id"] for entity in entities]
    assert len(ids) == len(set(ids))
    return entities
