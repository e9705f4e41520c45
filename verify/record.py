"""Record the numbers of a whole run that README.md and docs/ show.

    python verify/record.py results/simulated  (or another run, after it has ended)

Writes verify/runs/<run>/*.csv, from which `make pages` writes tables and sentences of results into
the pages; what they were made with into verify/runs/made-with.yaml; and the seconds of the run and
the memory of its largest job into verify/runs/durations.csv.
That file also has commands that are no run, by hand.
"""

from __future__ import annotations

import json
import math
import sys
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import yaml
from made_with import asked, file_of, note, systems_of
from scipy.special import ndtr

from dpol.config.experiment import load_experiment
from dpol.core.intervals import half_width
from dpol.data.synthetic import synthetic_stream
from dpol.experts.adabatch import RWAdaBatch, play_batches
from dpol.reruns.notes import read_notes
from dpol.studies.games.names import CELL, LINEAR
from dpol.studies.paper1.batching.compute import noisy_game
from dpol.studies.paper1.batching.settings import Batching
from dpol.studies.paper1.table_2 import column_pairs

RUNS = Path(__file__).parent / "runs"
PROVENANCE = "provenance/config.yaml"
DURATIONS = RUNS / "durations.csv"
RECORDED = {
    "summary": [
        *CELL, "family", "mean_gain", "ci_half_width", "gain_share", "uniform_gain",
        "oracle_gain", "best_fixed_gain", "simulated", "guaranteed_mu",
    ],
    "standings": [
        *("question", "stream", "algorithm", "family", "noise", "mu", "best", "not_told_apart"),
        *("curator", "guarantee", "model", "rank", "gain_share", "gain_share_half_width"),
        *("best_fixed_share", "unmeasured_share", "to_best", "to_best_half_width"),
    ],
    "amplification": [
        *("n", "T", "t", "mu", "alpha", "bound", "kind", "false_positive", "false_negative"),
        *("false_negative_half_width", "epsilon_at_delta", "mean_batch"),
    ],
    "audits": [
        "mechanism", "variant", "code", "method", "parameter", "claimed", "lower_bound", "verdict",
    ],
    "lazy": [
        *("adversary", "T", "d", "epsilon", "algorithm"),
        *("mean_regret", "ci_half_width", "uniform_regret"),
    ],
    "lazy_pairs": [
        *("adversary", "T", "d", "epsilon", "algorithm", "other_algorithm"),
        *("difference", "difference_half_width", "verdict"),
    ],
    "convex": [
        *("loss", "T", "d", "epsilon", "algorithm"),
        *("mean_regret", "ci_half_width", "still_regret"),
    ],
    "convex_pairs": [
        *("loss", "T", "d", "epsilon", "algorithm", "other_algorithm"),
        *("difference", "difference_half_width", "verdict"),
    ],
    "labels": [
        *("sweep", "hypotheses", "algorithm", "sensitivity_rule", "K", "M", "T", "epsilon"),
        *("mean_kl_risk", "ci_half_width", "mean_tv", "best_kl"),
    ],
    "order": ["stream", "mu", "column", "other", "difference", "lower", "upper", "verdict"],
    "claims": [
        *("paper", "statement", "claim", "computed", "ground", "claimed", "relation", "measured"),
        *("lower", "upper", "verdict", "settings", "tried", "kind", "root", "mend"),
        *("counterexample", "note", "on_data"),
    ],
}  # fmt: skip

EVERY = "index == index"
KEPT = {
    "summary": EVERY,
    "standings": EVERY,
    "lazy": EVERY,
    "lazy_pairs": EVERY,
    "convex": EVERY,
    "convex_pairs": EVERY,
    "labels": EVERY,
    "audits": EVERY,
}
"""Queries for the rows to keep."""
_MEANS = "stream == ''"
OF_RUN = {
    "flu": {"standings": EVERY},
    "intensive-care": {"standings": EVERY},
    "states": {
        "standings": _MEANS,
        "summary": "algorithm == 'rw-meta' and stream.str.endswith('-share')",
    },
    "central-texas": {
        "standings": EVERY,
        "summary": KEPT["summary"],
        "amplification": EVERY,
        "labels": "sweep == 'hospitals'",
        "order": EVERY,
    },
    "ledger": {"claims": EVERY},
    "held-out": {"standings": _MEANS},
}
"""Tables to record for a run instead of all, with their queries."""


def summary(base: Path) -> pd.DataFrame:
    """Return the summary; of the single regressions, only the best of each setting."""
    rows = pd.read_parquet(base / "summary.parquet")
    linear = rows[rows["family"] == LINEAR].sort_values(
        ["mean_gain", "algorithm"], ascending=[False, True]
    )
    best = linear.drop_duplicates(["stream", "noise", "mu"]).index
    return rows[(rows["family"] != LINEAR) | rows.index.isin(best)]


def order(base: Path) -> pd.DataFrame:
    """Return the differences of the columns of Table 2, paired by replicate."""
    return column_pairs(
        *(pd.read_parquet(base / f"{name}.parquet") for name in ("summary", "totals"))
    )


def amplification(base: Path) -> pd.DataFrame:
    """Return the errors where both rates are equal; of the Monte Carlo estimate with an interval.

    Its runs are played again, as only their mean is in the result. One estimate is the mean over
    runs of the error in a batch of the size played, so that its interval is that of a mean. The
    intervals hold jointly.
    """
    frame = pd.read_parquet(base / "amplification.parquet").query("threshold == 0")
    config = yaml.safe_load((base / PROVENANCE).read_text(encoding="utf-8"))
    replicates = Batching(**config["batching"]).replicates
    sampled = frame[frame["kind"] == "monte-carlo"]
    for row in sampled.itertuples():
        stream = synthetic_stream("all-zero", np.zeros((row.T, row.n)))
        game = noisy_game(stream, row.mu, config["seed"], range(replicates))
        _, sizes = play_batches(RWAdaBatch(row.alpha, row.bound), *game)
        errors = ndtr(-row.mu / (2 * np.sqrt(sizes[:, row.t - 1])))
        assert math.isclose(errors.mean(), row.false_negative, rel_tol=1e-6), "other games"
        half = half_width(errors, 0.95, len(sampled))
        frame.loc[row.Index, "false_negative_half_width"] = float(half)
    return frame


def record_size(base: Path) -> None:
    """Record how long a run took, from its first job to its last, and the MB of its largest job."""
    crate = json.loads((base / "ro-crate-metadata.json").read_text(encoding="utf-8"))
    (run,) = (each for each in crate["@graph"] if each["@id"] == "#run")
    began, ended = (datetime.fromisoformat(run[name]) for name in ("startTime", "endTime"))
    durations = pd.read_csv(DURATIONS, index_col="command")
    durations.loc[base.name] = {
        "seconds": round((ended - began).total_seconds()),
        "mb": math.ceil(max(note.peak_mb for note in read_notes(base).values())),
    }
    durations.astype("Int64").to_csv(DURATIONS)


MADE = {
    "summary": summary,
    "order": order,
    "amplification": amplification,
}
"""Tables that are made for the record."""


def plays(config: dict[str, Any]) -> dict[str, Any]:
    """Return the labels and settings that a run of a config plays."""
    dataset = {key: said for key, said in config["dataset"].items() if key != "caveat"}
    labels = [member.label for _, member in systems_of(config)]
    return asked(labels, {**config, "dataset": dataset})  # a caveat moves no number


def main(base: Path) -> None:
    """Write the recorded columns of a run's results, what made them, and how long it took."""
    made, now = (load_experiment(it) for it in (base / PROVENANCE, file_of(base.name)))
    assert made == now, "another config"
    note(base.name, plays(now.whole()))
    record_size(base)
    folder = RUNS / base.name
    folder.mkdir(parents=True, exist_ok=True)
    for name, rows in OF_RUN.get(base.name, KEPT).items():
        path = base / f"{name}.parquet"
        made = MADE.get(name)
        if made or path.exists():
            every = made(base) if made else pd.read_parquet(path)
            frame = every.query(rows)[RECORDED.get(name, [*every])]
            frame.to_csv(folder / f"{name}.csv", index=False, float_format="%.7g")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
