"""Record how the first paper's totals, and our comparison, depend on cells that nobody measured.

    python verify/fillings.py

Plays the columns of Table 2 and the systems of the lead on the stream of config/config.yaml at
every level. A treatment says whether suppressed averages are told by their sums, and what becomes
of a hospital with patients and no beds; each is played with suppressed numbers read as 1, 2 and 3.
Writes src/dpol/show/recorded_fillings.csv, which the page cites. Takes about five minutes.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from dpol.show.reported import FILLINGS

ROOT = Path(__file__).resolve().parents[1]
CONFIG = ROOT / "config" / "config.yaml"
TREATMENTS = {
    "hidden averages, beds carried": ((), "carry"),
    "measured counts, beds carried": (("count_days",), "carry"),
    "measured counts and beds, no patients where no beds": (
        ("count_days", "capacity_days"),
        "absent",
    ),
    "measured counts and beds": (("count_days", "capacity_days"), "drop"),
}
"""The keys that name sums, and `capacity_zero`."""
READ_AS = (1, 2, 3)
TABLE_2 = ["tree-ftpl-min-noise", "tree-ftpl-min-regret"]
CELL = [
    "n_experts", "uniform_gain", "best_fixed_gain", "oracle_gain", "unmeasured_periods",
    "unmeasured_share", "algorithm", "family", "model", "noise", "mu", "mean_gain",
    "ci_half_width", "gain_share", "gain_share_half_width",
]  # fmt: skip


def main() -> None:
    """Run and record each treatment at each reading."""
    config: dict[str, Any] = yaml.safe_load(CONFIG.read_text(encoding="utf-8"))
    # Nothing else of the config changes these games.
    base = {key: config[key] for key in ("seed", "streams", "privacy", "replicates", "comparison")}
    local = ["ridge", *config["suites"]["local"]["algorithms"][:-1]]
    base["suites"] = {
        "local": {"noises": ["isotropic", "capacity"], "algorithms": local},
        "central": {"noises": ["isotropic"], "algorithms": TABLE_2},
        "ours": config["suites"]["ours"],
    }
    recorded = []
    with tempfile.TemporaryDirectory() as folder:
        for (treatment, (sums, zero)), read_as in product(TREATMENTS.items(), READ_AS):
            keys = {"suppressed_value": read_as, "suppressed_sum": read_as, "capacity_zero": zero}
            dataset = {**config["dataset"], "cleaning": config["dataset"]["cleaning"] | keys}
            dataset["source"] = {"kind": "local", "file": str(ROOT / dataset["source"]["file"])}
            named = dataset["columns"].items()
            dataset["columns"] = {
                key: name for key, name in named if not key.endswith("_days") or key in sums
            }
            path = Path(folder) / "config.yaml"
            run = f"{len(sums)}-sums-{zero}-{read_as}"
            path.write_text(yaml.safe_dump({**base, "run": run, "dataset": dataset}))
            summary = f"results/{run}/summary.parquet"
            command = ["snakemake", summary, "--cores", "2", "--quiet", "all"]
            command += ["--configfile", str(path), "--directory", folder]
            command += ["--snakefile", str(ROOT / "Snakefile")]
            subprocess.run([sys.executable, "-m", *command], check=True)
            cells = pd.read_parquet(Path(folder) / summary)[CELL]
            recorded.append(cells.assign(treatment=treatment, read_as=read_as))
    rows = pd.concat(recorded, ignore_index=True)
    # Of the linear models the best is kept, which Table 2 shows.
    key = ["treatment", "read_as", "family", "noise", "mu"]
    best = rows.sort_values("mean_gain", kind="stable").drop_duplicates(key, keep="last").index
    rows = rows[(rows["family"] != "ridge") | rows.index.isin(best)]
    first = ["treatment", "read_as"]
    rows[[*first, *CELL]].to_csv(FILLINGS, index=False, float_format="%.6g")


if __name__ == "__main__":
    main()
