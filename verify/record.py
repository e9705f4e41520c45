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
from dpol.data.stream import read_stream
from dpol.data.synthetic import synthetic_stream
from dpol.experts.adabatch import RWAdaBatch, play_batches
from dpol.reruns.notes import read_notes
from dpol.show.reported import FILLINGS
from dpol.studies.bounds import BLOCK, over_units, shares_of_units
from dpol.studies.games.compute import play_suite
from dpol.studies.games.names import CELL, LINEAR
from dpol.studies.paper1.batching.compute import noisy_game
from dpol.studies.paper1.batching.settings import Batching
from dpol.studies.paper1.table_2 import column_pairs

RUNS = Path(__file__).parent / "runs"
PROVENANCE = "provenance/config.yaml"
DURATIONS = RUNS / "durations.csv"
DESIGN, WEEKS = ("NM", "PA", "CA"), 20
"""States on whose first weeks designs were chosen."""
RECORDED = {
    "summary": [
        *CELL, "family", "mean_gain", "ci_half_width", "gain_share", "uniform_gain",
        "oracle_gain", "best_fixed_gain", "simulated", "guaranteed_mu",
    ],
    "standings": [
        *("question", "stream", "algorithm", "family", "noise", "mu", "role", "strongest"),
        *("guarantee", "model", "rank", "gain_share", "gain_share_half_width", "gain_per_round"),
        *("best_fixed_share", "unmeasured_share"),
        *("to_strongest", "to_strongest_half_width", "to_strongest_verdict"),
        *("to_baseline", "to_baseline_half_width", "to_baseline_verdict"),
        *("to_ours", "to_ours_half_width", "to_ours_verdict"),
    ],
    "spread": ["mu", "algorithm", "noise", "units", "n", "difference", "half_width"],
    "later_weeks": ["mu", "system", "algorithm", "noise", "later_share", "gain_share"],
    "readings": [
        *("stream", "reading", "mu", "n_experts", "other_algorithm", "other_noise"),
        *("difference", "difference_half_width", "verdict"),
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
    "fillings": [
        *("treatment", "read_as", "n_experts", "uniform_gain", "best_fixed_gain", "oracle_gain"),
        *("unmeasured_periods", "unmeasured_share", "algorithm", "family", "model", "noise", "mu"),
        *("mean_gain", "ci_half_width", "gain_share", "gain_share_half_width"),
        *("role", "strongest"),
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
_NAMED = "role != '' or strongest or strongest_in_mean"
_OF_STREAMS = f"question == 'share' and ({_NAMED} or best_curator or algorithm == 'rw-meta')"
OF_RUN = {
    "flu": {"standings": EVERY, "spread": EVERY},
    "intensive-care": {"standings": EVERY, "spread": EVERY},
    "states": {
        "spread": EVERY,
        "later_weeks": EVERY,
        "standings": f"{_MEANS} or {_OF_STREAMS}",
        "summary": "algorithm == 'rw-meta' and stream.str.endswith('-share')",
        "readings": "stream.str.endswith('-share')",
    },
    "central-texas": {
        "standings": EVERY,
        "spread": EVERY,
        "summary": KEPT["summary"],
        "amplification": EVERY,
        "labels": "sweep == 'hospitals'",
        "order": EVERY,
    },
    "robustness": dict.fromkeys(("worlds", "fillings", "zeros"), EVERY),
    "ledger": {"claims": EVERY},
    "held-out": {
        "spread": EVERY,
        "standings": f"{_MEANS} or {_NAMED}",
        "readings": EVERY,
    },
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


def standings(base: Path) -> pd.DataFrame:
    """Return the standings, with the rows of each stream that `spread` is computed from marked.

    Column `strongest_in_mean`: the system is the strongest rival in the mean over streams. Column
    `best_curator`: the best algorithm of its family that sees raw gains, at levels with noise.
    """
    rows = pd.read_parquet(base / "standings.parquet")
    key = ["question", "mu", "algorithm", "noise"]
    named = pd.MultiIndex.from_frame(rows[rows["strongest"] & (rows["stream"] == "")][key])
    central = rows[(rows["model"] == "central") & np.isfinite(rows["mu"])]
    best = central.groupby(["question", "stream", "family", "noise", "mu"])[
        "gain_per_round"
    ].idxmax()
    return rows.assign(
        strongest_in_mean=pd.MultiIndex.from_frame(rows[key]).isin(named),
        best_curator=rows.index.isin(best),
    )


def order(base: Path) -> pd.DataFrame:
    """Return the differences of the columns of Table 2, paired by replicate."""
    return column_pairs(
        *(pd.read_parquet(base / f"{name}.parquet") for name in ("summary", "totals"))
    )


def spread(base: Path) -> pd.DataFrame:
    """Return our method's lead on the strongest rival, with its interval over states or weeks."""
    every = pd.read_parquet(base / "standings.parquet")
    every = every[every["question"] == every["question"].iloc[0]]
    means, curves = every[every["stream"] == ""], base / "cumulative.parquet"
    told = means if len(means) else every
    units = "states" if len(means) else f"blocks of {BLOCK} weeks"
    shares = shares_of_units(every, None if len(means) else pd.read_parquet(curves))
    rows = []
    for mu, at in told.groupby("mu", sort=False):
        rival = at[at["strongest"]].iloc[0]
        ours = shares[at.index[at["role"] == "our method"][0]]
        lead = over_units(ours, shares[rival.name])
        rows.append([mu, *rival[["algorithm", "noise"]], units, len(ours), *lead])
    return pd.DataFrame(rows, columns=RECORDED["spread"])


def later_weeks(base: Path) -> pd.DataFrame:
    """Return what our method and the strongest rival keep after the weeks of design.

    Designs were chosen on the first 20 weeks of three states. A row is a level and a system: the
    mean over these states of its share of what is possible in the later weeks, played again, and
    its mean share over all states.
    """
    config = load_experiment(base / PROVENANCE)
    members = {member.label: member for _, member in systems_of(config.whole())}
    every = pd.read_parquet(base / "standings.parquet")
    means = every[(every["stream"] == "") & (every["question"] == every["question"].iloc[0])]
    streams, rows = [read_stream(base / f"streams/{it}-share.parquet") for it in DESIGN], []
    for row in means[means["strongest"] | means["role"].eq("our method")].itertuples():
        shares = []
        for stream in streams:
            (played,) = play_suite(
                stream,
                [members[row.algorithm]],
                noise=row.noise,
                mu=row.mu,
                seed=config.seed,
                replicates=range(config.replicates),
            )
            later = stream.gains[WEEKS:]
            uniform, best = later.mean(axis=1).sum(), later.max(axis=1).sum()
            gained = played.gains[:, WEEKS:].sum(axis=1).mean()
            shares.append((gained - uniform) / (best - uniform))
        system = "strongest" if row.strongest else "ours"
        rows.append([row.mu, system, row.algorithm, row.noise, np.mean(shares), row.gain_share])
    return pd.DataFrame(rows, columns=RECORDED["later_weeks"])


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
    "standings": standings,
    "order": order,
    "spread": spread,
    "later_weeks": later_weeks,
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
            file = FILLINGS if name == "fillings" else folder / f"{name}.csv"
            frame.to_csv(file, index=False, float_format="%.7g")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
