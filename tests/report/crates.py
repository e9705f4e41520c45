"""Read the RO-Crate of a run, and compare it with its files."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from rocrate.rocrate import ROCrate


def changed_files(folder: Path) -> list[str]:
    """Return the files of a run's crate that are missing or have another checksum."""
    files = {unquote(entity.id): entity["sha256"] for entity in ROCrate(folder).get_by_type("File")}
    paths = {name: folder / name for name in files}
    return [
        name
        for name, path in paths.items()
        if not path.is_file() or hashlib.sha256(path.read_bytes()).hexdigest() != files[name]
    ]


def checked_crate(folder: Path) -> list[dict[str, Any]]:
    """Assert that all files match the crate of a run, and return its entities."""
    assert changed_files(folder) == []
    crate = ROCrate(folder)
    run = crate.get("#run")
    assert run["instrument"] is crate.mainEntity
    assert {file.id for file in run["result"]} < {file.id for file in crate.root_dataset["hasPart"]}
    entities: list[dict[str, Any]] = json.loads(
        (folder / "ro-crate-metadata.json").read_text(encoding="utf-8")
    )["@graph"]
    ids = [entity["@id"] for entity in entities]
    assert len(ids) == len(set(ids))
    return entities
