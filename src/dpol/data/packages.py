"""Fetching the package that holds a table: pip downloads it, and no code of it runs."""

from __future__ import annotations

import datetime
import importlib.metadata
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from dpol.core.errors import FetchError
from dpol.core.files import atomic_path, locked, write_json
from dpol.core.words import printable
from dpol.data.settings import PackageSource


def fetch_package(source: PackageSource, log: Callable[[str], None]) -> None:
    """Download a wheel to `source.file` from the index that pip is configured for.

    pip checks the hash, and takes only wheels, so no code of a package runs.
    `<file>.provenance.json`, written before the wheel, records the package.

    Raises:
        FetchError: pip fails.
        OutputError: the wheel cannot be written.
    """
    wanted, destination = f"{source.name}=={source.version}", Path(source.file)
    log(f"fetching {wanted} with pip")
    with (
        locked(destination),
        atomic_path(destination) as kept,
        tempfile.TemporaryDirectory() as folder,
    ):
        requirements = Path(folder, "requirements.txt")
        requirements.write_text(f"{wanted} --hash=sha256:{source.sha256}\n", encoding="utf-8")
        pip = [sys.executable, "-m", "pip", "--no-input", "--disable-pip-version-check", "download"]
        rules = ["--no-deps", "--only-binary=:all:", "--require-hashes", "--dest", folder]
        done = subprocess.run(
            [*pip, *rules, "--requirement", str(requirements)],
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )
        wheels = list(Path(folder).glob("*.whl"))
        if done.returncode or len(wheels) != 1:
            raise FetchError(
                f"cannot fetch the wheel of {wanted}: {_reason(done.stderr)}; or place the wheel"
                f" at {destination} yourself"
            )
        kept.write_bytes(wheels[0].read_bytes())
        provenance = {
            "url": f"pkg:pypi/{source.name.lower()}@{source.version}",
            "kind": source.kind,
            "version": source.version,
            "query": None,
            "retrieved": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
            "sha256": source.sha256,
            "dpol": importlib.metadata.version("dpol"),
        }
        write_json(f"{destination}.provenance.json", provenance)


def _reason(errors: str) -> str:
    """Return the cause of pip's failure and the remedy, without the address of an index."""
    if "No module named pip" in errors:
        return f"this Python has no pip; install it with {sys.executable} -m ensurepip"
    if other := re.search(r"Got\s+([0-9a-f]{64})", errors):
        return f"the index has one with SHA-256 {other[1]}; correct dataset.source.sha256"
    if "WARNING: Retrying" in errors:
        return "pip cannot reach an index; run again when there is a connection"
    if versions := re.search(r"\(from versions: (.*)\)", errors):
        if versions[1] == "none":
            return (
                "pip finds no wheel of that name for this Python; correct dataset.source.name, or"
                " configure an index that has it"
            )
        return f"the index has only {versions[1][-200:]}; correct dataset.source.version"
    said = [line for line in errors.splitlines() if line.startswith("ERROR:")] or ["nothing"]
    return f"pip says {printable(re.sub(r'[a-z]+://[^ ]*', 'URL', said[-1]))[:200]}"
