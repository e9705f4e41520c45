"""Record the numbers of a whole run that README.md and docs/ show.

    python verify/record.py results/simulated  (or another run, after it has ended)

Writes verify/runs/<run>/*.csv, from which tools/recorded_numbers.py makes the tables of the pages.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pandas as pd

from dpol.report.recorded import mean_shares
from dpol.studies.answer.promises import shares_kept

RUNS = Path(__file__).parent / "runs"
CELL = ["stream", "algorithm", "noise", "mu"]
RECORDED = {
    "summary": [
        *CELL, "family", "mean_gain", "ci_half_width", "gain_share", "uniform_gain",
        "oracle_gain", "best_fixed_gain", "noise_cost_share", "simulated",
    ],
    "shares": ["algorithm", "noise", "mu", "streams", "gain_share", "gain_share_half_width"],
    "ranking": [*CELL, "source", "rival", "verdict", "ratio", "ratio_lower", "ratio_upper"],
    "comparison": [
        *(*CELL, "kind", "rival", "mean_gain", "other_algorithm", "other_noise", "other_mu"),
        *("other_mean_gain", "other_ci_half_width", "difference", "difference_half_width"),
        "verdict",
    ],
    "readings": [
        *("stream", "reading", "mu", "n_experts", "other_algorithm", "other_noise"),
        *("difference", "difference_half_width", "verdict"),
    ],
    "questions": [
        *("question", "stream", "role", "algorithm", "noise", "mu", "best_fixed_share"),
        *("gain_share", "gain_share_half_width"),
    ],
    "memory": [
        "stream", "weeks", "level", "times", "same", "noise", "algorithm", "best_guess",
        "mean_gain", "ci_half_width", "difference", "difference_half_width", "verdict",
        "mu_1_week", "mu_2_weeks", "mu_4_weeks", "mu_8_weeks",
    ],
    "promises": [
        *("level", "same", "weeks", "noise", "algorithm", "share", "half", "streams"),
    ],
    "amplification": [
        *("n", "T", "t", "mu", "alpha", "bound", "kind", "false_positive", "false_negative"),
        *("epsilon_at_delta", "mean_batch"),
    ],
    "lazy": [
        *("adversary", "T", "d", "epsilon", "algorithm"),
        *("mean_regret", "ci_half_width", "uniform_regret"),
    ],
    "claims": [
        *("paper", "statement", "claim", "ground", "claimed", "measured", "lower", "upper"),
        *("verdict", "settings", "kind", "root", "mend", "note", "ours", "on_data"),
    ],
}  # fmt: skip

EVERY = "index == index"
KEPT = {
    "summary": "best_of_family or family != 'ridge'",
    "ranking": EVERY,
    "comparison": "other_algorithm == 'random-effects' and other_noise == 'capacity-memory'",
    "questions": EVERY,
    "memory": EVERY,
    "lazy": EVERY,
    "claims": EVERY,
}
"""Queries for the rows to keep: the best of the single learners, and ours with correlated noise."""
_NAMED = "['random-effects', 'rw-meta', 'mf-ftpl', 'persistence']"
OF_RUN = {
    "flu": {"shares": EVERY, "promises": EVERY},
    "intensive-care": {"shares": EVERY},
    "states": {
        "shares": EVERY,
        "summary": "algorithm == 'random-effects' and stream.str.endswith('-share')",
        "comparison": "stream.str.endswith('-share') and"
        f" (kind != 'other' or other_algorithm in {_NAMED})",
        "ranking": "stream.str.endswith('-share') and source == 'run' and 0.25 <= mu",
        "questions": "stream == ''",
        "readings": "stream.str.endswith('-share')",
    },
    "central-texas": {
        "shares": EVERY,
        "summary": KEPT["summary"],
        "amplification": "threshold == 0",
    },
    "promises": {"promises": EVERY},
    "held-out": {
        "shares": EVERY,
        "summary": KEPT["summary"],
        "comparison": "kind != 'other'",
        "readings": EVERY,
    },
}
"""Tables to record for a run instead of all, with their queries."""


def shares(base: Path) -> pd.DataFrame:
    """Return the share of the possible gain of each algorithm, as its mean over the streams."""
    return mean_shares(pd.read_parquet(base / "summary.parquet"))


def promises(base: Path) -> pd.DataFrame:
    """Return the share of the possible gain of each noise for each promise."""
    return shares_kept(
        *(pd.read_parquet(base / f"{name}.parquet") for name in ("memory", "summary"))
    )


def main(base: Path) -> None:
    """Write the recorded columns of a run's results."""
    folder = RUNS / base.name
    folder.mkdir(parents=True, exist_ok=True)
    for name, rows in OF_RUN.get(base.name, KEPT).items():
        path = base / f"{name}.parquet"
        made = {"shares": shares, "promises": promises}.get(name)
        if made or path.exists():
            every = made(base) if made else pd.read_parquet(path)
            frame = every.query(rows)[RECORDED[name]]
            frame.to_csv(folder / f"{name}.csv", index=False, float_format="%.7g")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
