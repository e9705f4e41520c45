"""Snakefiles that import the workflow as a module, once for each of several configs."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from dpol.config.experiment import parse_experiment
from pipeline import ROOT, run, succeed

SNAKEFILE = ROOT / "workflow/Snakefile"


def import_it(folder: Path, rest: str = "", **configs: Mapping[str, Any]) -> Path:
    """A Snakefile that imports the workflow once for each config, under its name."""
    (folder / "config").mkdir(exist_ok=True)
    # The importer's: dpol may neither read it nor take keys from it.
    (folder / "config/config.yaml").write_text("replicats: 5\n")
    (folder / "importer.yaml").write_text(yaml.safe_dump(configs))
    modules = "".join(
        f'module {name}:\n    snakefile: "{SNAKEFILE}"\n    config: config["{name}"]\n'
        f"use rule * from {name} as {name}_*\n"
        for name in configs
    )
    (folder / "Snakefile").write_text(f'configfile: "importer.yaml"\n{modules}{rest}')
    return folder / "Snakefile"


def plan_pages(folder: Path, rest: str = "", **configs: Mapping[str, Any]) -> None:
    """Plan the pages of all configs, whose runs have their names, in one dry run."""
    for name, raw in configs.items():
        config = parse_experiment(raw, name)
        if config.dataset.source.kind in ("local", "gains"):
            (folder / config.raw_file).parent.mkdir(parents=True, exist_ok=True)
            (folder / config.raw_file).touch()
    snakefile = import_it(folder, rest, **configs)
    words = "--snakefile", str(snakefile), "--directory", str(folder), "--cores", "1"
    pages = (f"results/{name}/report/index.html" for name in configs)
    said = succeed(run(sys.executable, "-m", "snakemake", *words, "--dry-run", *pages))
    for name in configs:
        assert f"{name}_games_results" in said
