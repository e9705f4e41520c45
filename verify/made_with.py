"""Write what a record was made with into verify/runs/made-with.yaml: release, labels, settings.

tests/records fails where the script of a record would now play other labels or settings.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml

import dpol
from dpol.config.experiment import load_experiment
from dpol.experts.interface import Member
from dpol.experts.registry import make_members
from dpol.studies.games.settings import Suite

FOLDER = Path(__file__).parent
CONFIGS = FOLDER.parent / "config"
MADE_WITH = FOLDER / "runs" / "made-with.yaml"


def read_config(run: str) -> dict[str, Any]:
    """Return the config of a run, with all that it takes from other configs and suites."""
    return load_experiment(file_of(run)).whole()


def file_of(run: str) -> Path:
    """Return the path of a run's config; that of central-texas is the default."""
    return CONFIGS / f"{'config' if run == 'central-texas' else run}.yaml"


def systems_of(config: Mapping[str, Any]) -> list[tuple[str, Member]]:
    """Return noise and algorithm of all systems that the suites of a config play."""
    return [
        (noise, member)
        for suite in config.get("suites", {}).values()
        for noise, entries in Suite(**suite).by_noise.items()
        for entry in entries
        for member in make_members(entry)
    ]


def asked(labels: Iterable[str], settings: object) -> dict[str, Any]:
    """Return what a script plays: labels of algorithms, and a hash of all settings."""
    text = json.dumps(settings, sort_keys=True, default=repr)
    return {"labels": sorted({*labels}), "settings": hashlib.sha256(text.encode()).hexdigest()[:12]}


def note(name: str, played: Mapping[str, Any]) -> None:
    """Write what a record was made with.

    Args:
        name: name of the record.
        played: what `asked` returned.
    """
    known = yaml.safe_load(MADE_WITH.read_text(encoding="utf-8"))
    known[name] = {"dpol": dpol.__version__, **played}
    text = yaml.safe_dump(known, default_flow_style=None, width=100)
    MADE_WITH.write_text(text, encoding="utf-8")
