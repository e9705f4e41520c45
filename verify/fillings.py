"""Record how the first paper's totals, and our comparison, depend on cells that nobody measured.

    python verify/fillings.py

Plays the suites of config/config.yaml on its stream at every level, and records its local systems
and the columns of Table 2. A treatment says whether suppressed averages are told by their sums, and
what becomes of a hospital with patients and no beds; each is played with suppressed numbers read as
1, 2 and 3. Writes src/dpol/show/recorded_fillings.csv, which the page cites. Takes five minutes.
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
from made_with import asked, note, read_config, systems_of

from dpol.show.reported import FILLINGS
from dpol.studies.comparison.settings import StandingsPoint
from dpol.studies.comparison.standings import standings
from dpol.studies.games.names import LINEAR, TITLES

ROOT = Path(__file__).resolve().parents[1]
CONFIG = read_config("central-texas")
GAMES = {
    **{key: CONFIG[key] for key in ("seed", "streams", "privacy", "replicates", "suites")},
    "report": CONFIG["report"],
}
"""The keys of the config that these games need, besides the data."""
SYSTEMS = systems_of(CONFIG)
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
CELL = [
    "n_experts", "uniform_gain", "best_fixed_gain", "oracle_gain", "unmeasured_periods",
    "unmeasured_share", "algorithm", "family", "model", "noise", "mu", "mean_gain",
    "ci_half_width", "gain_share", "gain_share_half_width", "role", "strongest",
]  # fmt: skip


def main() -> None:
    """Run and record each treatment at each reading."""
    (stream,), ours = CONFIG["streams"], CONFIG["comparison"]["ours"]
    point = StandingsPoint(
        ours=(ours["algorithm"], ours["noise"]),
        questions={stream: ""},
        apart=False,
        confidence=0.95,
    )
    recorded = []
    with tempfile.TemporaryDirectory() as folder:
        for (treatment, (sums, zero)), read_as in product(TREATMENTS.items(), READ_AS):
            keys = {"suppressed_value": read_as, "suppressed_sum": read_as, "capacity_zero": zero}
            dataset = {**CONFIG["dataset"], "cleaning": CONFIG["dataset"]["cleaning"] | keys}
            dataset["source"] = {"kind": "local", "file": str(ROOT / dataset["source"]["file"])}
            named = dataset["columns"].items()
            dataset["columns"] = {
                key: name for key, name in named if not key.endswith("_days") or key in sums
            }
            path = Path(folder) / "config.yaml"
            run = f"{len(sums)}-sums-{zero}-{read_as}"
            path.write_text(yaml.safe_dump({**GAMES, "run": run, "dataset": dataset}))
            tables = [f"results/{run}/{name}.parquet" for name in ("summary", "totals")]
            command = ["snakemake", *tables, "--cores", "2", "--quiet", "all"]
            command += ["--configfile", str(path), "--directory", folder]
            command += ["--snakefile", str(ROOT / "Snakefile")]
            subprocess.run([sys.executable, "-m", *command], check=True)
            summary, totals = (pd.read_parquet(Path(folder) / table) for table in tables)
            key = ["algorithm", "noise", "mu"]
            compared = standings(summary, totals, point)[[*key, "role", "strongest"]]
            cells = summary.merge(compared, on=key, validate="one_to_one")[CELL]
            recorded.append(cells.assign(treatment=treatment, read_as=read_as))
    rows = pd.concat(recorded, ignore_index=True)
    # Of the linear models the best is kept, which Table 2 shows.
    key = ["treatment", "read_as", "family", "noise", "mu"]
    best = rows.sort_values(["mean_gain", "strongest"]).drop_duplicates(key, keep="last").index
    rows = rows[(rows["family"] != LINEAR) | rows.index.isin(best)]
    rows = rows[(rows["model"] == "local") | rows["family"].isin(TITLES)]
    first = ["treatment", "read_as"]
    rows[[*first, *CELL]].to_csv(FILLINGS, index=False, float_format="%.6g")
    note("fillings", plays())


def plays() -> dict[str, Any]:
    """Return the labels and settings that this plays."""
    labels = [member.label for _, member in SYSTEMS]
    return asked(
        labels, [GAMES, SYSTEMS, CONFIG["dataset"], CONFIG["comparison"], TREATMENTS, READ_AS]
    )


if __name__ == "__main__":
    main()
