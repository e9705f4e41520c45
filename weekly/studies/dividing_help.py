"""What noise costs a division of help, in hospitals of fifteen states over 67 weeks.

    python studies/dividing_help.py

In every week after the first, each rule of docs/dividing-help.md divides units of help before the
counts of the week are known: by the noisy counts of earlier weeks, and the beds of the last one.
Writes studies/dividing_help.csv and docs/dividing-help.png, and prints the table of the page (five
minutes). It needs the packages of requirements-dev.txt, and the tables of data/ in the checkout.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

import dpol
from dpol.core.randomness import Floats, seed_sequence
from dpol.experts.play import rounds
from dpol_weekly.divide import best_fixed, equal_chances, level_variance, proportional

ROOT = Path(__file__).parents[2]
TABLE = ROOT / "data/hospitals/hospitals-15-states-2021-01-01--2022-07-29.parquet"
STATES = ["NM", "PA", "CA", "OH", "CO", "TX", "FL", "WA", "GA", "IL", "MI", "NC", "AZ", "TN", "VA"]
RECORDED = Path(__file__).with_suffix(".csv")
PICTURE = ROOT / "weekly/docs/dividing-help.png"

SEED, REPLICATES = 20210101, 100
LEVELS = math.inf, 1.0, 0.5, 0.25, 0.15, 0.1
NEEDS = {"patients": 0.0, "surge": 0.1}
"""Share of its beds that a hospital's own staff serves; patients above it need help."""
GUARANTEE = 0.75
"""Share of the units that the rule `guarantee` divides in proportion to the forecast."""
MEAN, ANNOUNCED = "mean", "announced"
"""Needs that the units equal: of the true counts over all weeks, or as forecast."""
RULES = "last", "forecast", "guarantee", "equal-chances", "exact", "best-fixed"
Case = tuple[str, str, str]
"""Need, need that the units equal, and rule."""
BLOCK, RESAMPLES = 8, 1000
"""Length of a block of weeks, and number of resamples, of the bootstrap over weeks."""


def streams() -> Iterator[dpol.GainStream]:
    """Yield the shares of beds taken in each state, as config/states.yaml reads them."""
    for state in STATES:
        yield dpol.read_table(
            TABLE,
            entity="hospital_pk",
            period="collection_week",
            group="state",
            groups=[state],
            count="total_adult_patients_hospitalized_confirmed_covid_7_day_avg",
            capacity="all_adult_hospital_inpatient_beds_7_day_avg",
            label=f"{state}-share",
            cleaning={"min_total_cases": 100, "case_factor": 7, "capacity_zero": "drop"},
        )


def unmet_need(stream: dpol.GainStream, source: dpol.NoisyGains) -> dict[Case, Floats]:
    """Return the need (R, T - 1) that each rule leaves unmet in each week after the first.

    Args:
        stream: true shares of beds taken.
        source: the same shares with noise.
    """
    (member,) = dpol.make_members("random-effects")
    algorithm: Any = member.algorithm
    assert source.seeds is not None
    played = rounds(algorithm, source, source.seeds.algorithm(member.label))
    beds = stream.capacities_for("the division of help")
    counts = stream.gains * beds
    needs = {name: np.maximum(counts - share * beds, 0.0) for name, share in NEEDS.items()}
    means = {name: need.sum(axis=1).mean() for name, need in needs.items()}
    fixed = {name: best_fixed(needs[name][1:], means[name]) for name in NEEDS}
    totals: list[Floats] = []
    left: dict[Case, list[Floats]] = defaultdict(list)
    for t, (state, _) in enumerate(played):
        if t == 0:
            continue
        forecast, last = algorithm.forecast(state), beds[t - 1]
        mean = (forecast.level + forecast.scores) * last
        totals.append(np.maximum(mean, 0.0).sum(axis=1))
        moved = level_variance(np.stack(totals, axis=1))[:, None]
        deviation = np.sqrt(forecast.variance * last**2 + moved * mean**2)
        for name, share in NEEDS.items():
            own, need = share * last, needs[name][t]
            weights = {
                "floor": last,
                "last": np.maximum(source.gains[:, t - 1] * last - own, 0.0),
                "forecast": np.maximum(mean - own, 0.0),
                "exact": needs[name][t - 1],
                "oracle": need,
            }
            announced = weights["forecast"].sum(axis=1)
            for follow, units in {MEAN: means[name], ANNOUNCED: announced}.items():
                divisions = {rule: proportional(given, units) for rule, given in weights.items()}
                divisions |= {
                    rule: equal_chances(mean, deviation, units, own=own, guaranteed=guaranteed)
                    for rule, guaranteed in {"guarantee": GUARANTEE, "equal-chances": 0.0}.items()
                }
                if follow == MEAN:
                    divisions["best-fixed"] = fixed[name]
                for rule, division in divisions.items():
                    short = np.maximum(need - division, 0.0).sum(axis=-1)
                    left[name, follow, rule].append(np.broadcast_to(short, source.n_replicates))
    return {case: np.stack(weeks, axis=1) for case, weeks in left.items()}


# ---- scores --------------------------------------------------------------------------------------


def avoided(left: Mapping[Case, Floats], case: Case) -> tuple[float, Floats]:
    """Return the share of the avoidable unmet need that a rule avoids, and its resamples.

    0 is the floor, 1 is the oracle. The share is a ratio of sums over the weeks, mean over the
    replicates; its (RESAMPLES,) resamples draw the weeks again.
    """
    own, floor, oracle = (left[(*case[:2], rule)] for rule in (case[2], "floor", "oracle"))
    share = (floor - own).sum(axis=1) / (floor - oracle).sum(axis=1)
    gained, possible = ((floor - other).mean(axis=0) for other in (own, oracle))
    draws = resamples(own.shape[1])
    return float(share.mean()), draws @ gained / (draws @ possible)


@cache
def resamples(n_weeks: int) -> Floats:
    """Return how often each week is in each resample, (RESAMPLES, n_weeks).

    A resample has blocks of consecutive weeks; week 1 follows the last. All states get the same
    resamples, because a wave comes to all of them.
    """
    rng = np.random.default_rng(seed_sequence(SEED, ("allocation, resamples", n_weeks)))
    starts = rng.integers(n_weeks, size=(RESAMPLES, -(-n_weeks // BLOCK)))
    drawn = (starts[..., None] + np.arange(BLOCK)).reshape(RESAMPLES, -1)[:, :n_weeks] % n_weeks
    return np.array([np.bincount(row, minlength=n_weeks) for row in drawn], dtype=float)


def study(
    every: Iterable[dpol.GainStream], levels: Iterable[float], replicates: int
) -> pd.DataFrame:
    """Return a row per need, units, rule and level: the mean share over the streams.

    `half_width` is that of its 95% bootstrap interval over weeks.
    """
    levels, scores = list(levels), defaultdict(list)
    for stream in every:
        for mu in levels:
            source = dpol.privatize(stream, "capacity", mu, seed=SEED, replicates=replicates)
            left = unmet_need(stream, source)
            for case in left:
                scores[case, mu].append(avoided(left, case))
    rows = []
    for need, follow, rule in product(NEEDS, (MEAN, ANNOUNCED), RULES):
        for mu in levels:
            if of_streams := scores[(need, follow, rule), mu]:
                shares, drawn = zip(*of_streams, strict=True)
                low, high = np.quantile(np.mean(drawn, axis=0), (0.025, 0.975))
                numbers = {"avoided": np.mean(shares), "half_width": (high - low) / 2}
                rows.append({"need": need, "units": follow, "rule": rule, "mu": mu, **numbers})
    return pd.DataFrame(rows)


# ---- table and figure ----------------------------------------------------------------------------


def table(rows: pd.DataFrame) -> str:
    """Return the table of docs/dividing-help.md: shares in percent."""
    cells = rows.set_index(["need", "units", "mu", "rule"])[["avoided", "half_width"]]
    columns = [*product(NEEDS, (MEAN,), (math.inf, 0.25)), *product(NEEDS, (ANNOUNCED,), (0.25,))]
    titles = (
        f"{need}{', announced' if units == ANNOUNCED else ''}, μ = {'∞' if mu == math.inf else mu}"
        for need, units, mu in columns
    )
    lines = [f"| {' | '.join(('rule', *titles))} |", f"|---|{'---:|' * len(columns)}"]
    for rule in RULES:
        shown = (cells.loc[[(*c, rule)]] if (*c, rule) in cells.index else None for c in columns)
        numbers = (
            "—" if of is None else "{:.0f} ± {:.0f}".format(*100 * of.iloc[0]) for of in shown
        )
        lines.append(f"| {' | '.join((f'`{rule}`', *numbers))} |")
    return "".join(f"{line}\n" for line in lines)


def picture(rows: pd.DataFrame) -> Figure:
    """Draw the shares against the level: a panel per need and units, a line per rule."""
    drawn = Figure(figsize=(9, 6), layout="constrained")
    panels = drawn.subplots(2, 2, sharex=True, sharey=True).flat
    for ax, (need, units) in zip(panels, product(NEEDS, (MEAN, ANNOUNCED)), strict=True):
        of_panel = rows[(rows["need"] == need) & (rows["units"] == units)]
        for rule in RULES:
            line = of_panel[of_panel["rule"] == rule]
            if len(line):
                places = [LEVELS.index(mu) for mu in line["mu"]]
                ax.errorbar(places, 100 * line["avoided"], 100 * line["half_width"], label=rule)
        ax.axhline(0, color="black", linewidth=0.8)
        ax.set(title=f"{need}, units: the {units} need", ylim=(-60, 100))
        ax.set_xticks(range(len(LEVELS)), [f"{mu:g}".replace("inf", "∞") for mu in LEVELS])
    drawn.supxlabel("μ: smaller is more private")
    drawn.supylabel("share of the avoidable unmet need, %")
    drawn.axes[0].legend(fontsize="small")
    return drawn


def main() -> None:
    """Play, and write the numbers and the picture."""
    rows = study(streams(), LEVELS, REPLICATES)
    rows.to_csv(RECORDED, index=False, float_format="%.7g")
    picture(rows).savefig(PICTURE, dpi=110)
    print(table(rows))


if __name__ == "__main__":
    main()
