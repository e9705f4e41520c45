"""Read an RO-Crate of a run, and compare it with the files that it names."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from rocrate.rocrate import ROCrate


def changed_files(folder: Path) -> list[str]:
    """Files of the crate of a run that are missing, or have another checksum."""
    files = {unquote(it.id): it["sha256"] for it in ROCrate(folder).get_by_type("File")}
    paths = {name: folder / name for name in files}
    return [
        name
        for name, path in paths.items()
        if not path.is_file() or hashlib.sha256(path.read_bytes()).hexdigest() != files[name]
    ]


def checked_crate(folder: Path) -> list[dict[str, Any]]:
    """The entities of the crate of a run, whose files are all as it says."""
    assert changed_files(folder) == []
    crate = ROCrate(folder)
    run = crate.get("#run")
    assert run["instrument"] is crate.mainEntity
    assert {it.id for it in run["result"]} < {it.id for it in crate.root_dataset["hasPart"]}
    entities: list[dict[str, Any]] = json.loads(
        (folder / "ro-crate-metadata.json").read_text(encoding="utf-8")
    )["@graph"]
    ids = [it["@id"] for it in entities]
    assert len(ids) == len(set(ids))
    return entities
