"""Record how far the first paper's totals depend on what a suppressed cell is read as.

    python verify/fillings.py

Plays RW-Meta and the tree with least noise on the stream of config/config.yaml at mu = inf, with
suppressed counts read as 1, 2 and 3, and with suppressed beds read as 3 too. Writes
src/dpol/show/recorded_fillings.csv, which the page cites. Takes about a minute.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from dpol.show.reported import FILLINGS

ROOT = Path(__file__).resolve().parents[1]
CONFIG = ROOT / "config" / "config.yaml"
CASES = [(1, None), (2, None), (3, None), (3, 3)]
"""What suppressed counts and suppressed beds are read as; None: missing."""
SUPPRESSED = -999999
CELL = ["stream", "n_experts", "algorithm", "mu", "mean_gain", "ci_half_width"]


def main() -> None:
    """Run and record each filling."""
    config: dict[str, Any] = yaml.safe_load(CONFIG.read_text(encoding="utf-8"))
    published = pd.read_parquet(ROOT / config["dataset"]["source"]["file"])
    titles = {label: stream["title"] for label, stream in config["streams"].items()}
    # Nothing else of the config changes these games.
    base = {key: config[key] for key in ("seed", "dataset", "streams", "replicates")}
    base["privacy"] = {"levels": {"mu-inf": float("inf")}}
    base["suites"] = {
        "local": {"noises": ["isotropic"], "algorithms": ["rw-meta"]},
        "central": {"noises": ["isotropic"], "algorithms": ["tree-ftpl-min-noise"]},
    }
    recorded = []
    with tempfile.TemporaryDirectory() as folder:
        for counts, beds in CASES:
            table = Path(folder) / f"{counts}-{beds}.parquet"
            read = published if beds is None else published.replace(SUPPRESSED, beds)
            read.to_parquet(table)
            cleaning = config["dataset"]["cleaning"] | {"suppressed_value": counts}
            source = {"kind": "local", "file": str(table)}
            dataset = config["dataset"] | {"source": source, "cleaning": cleaning}
            run = f"counts-{counts}-beds-{beds}".lower()
            path = Path(folder) / f"{run}.yaml"
            path.write_text(yaml.safe_dump(base | {"run": run, "dataset": dataset}))
            summary = f"results/{run}/summary.parquet"
            command = ["snakemake", summary, "--cores", "2", "--quiet", "all"]
            command += ["--configfile", str(path), "--directory", folder]
            command += ["--snakefile", str(ROOT / "Snakefile")]
            subprocess.run([sys.executable, "-m", *command], check=True)
            cells = pd.read_parquet(Path(folder) / summary)[CELL]
            cells["stream"] = cells["stream"].map(titles)
            cells.insert(0, "suppressed_beds", "missing" if beds is None else str(beds))
            cells.insert(0, "suppressed_counts", counts)
            recorded.append(cells)
    pd.concat(recorded).to_csv(FILLINGS, index=False, float_format="%.6g")


if __name__ == "__main__":
    main()
