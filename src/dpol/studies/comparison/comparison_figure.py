"""Figure of the baseline and ours: total gain against privacy, one panel per stream."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dpol.privacy.account import best_guess
from dpol.show import panels
from dpol.show.looks import REFERENCES, STATIC, Look, looks_of
from dpol.studies.comparison.settings import Comparison
from dpol.studies.games import bounds
from dpol.studies.games.settings import BASELINE, OURS, ROLES, TUNED
from dpol.studies.games.systems import THIN, holds_for_stays, ordered_levels
from dpol.studies.study import Facts, Frames

NO_PRIVACY = "best of the paper's\nlearners, no privacy"
BASELINE_LEVEL = "baseline-level"


@dataclass(frozen=True)
class _Line:
    """A line of a panel, with one point and interval per level."""

    name: str
    look: Look
    points: pd.DataFrame
    """Index of the level, mean and half-width, from left to right."""


def draw_comparison(frames: Frames, settings: Comparison, facts: Facts) -> Figure:
    """Draw the total gain of the baseline, ours and the best other rows at each privacy level.

    Args:
        frames: The summary, the comparison, and the ablation, whose reference is a line.
        settings: Settings of the comparison.
        facts: Titles of the streams, the levels, and whether the streams are simulated.
    """
    summary, comparison, ablation = (frames[name] for name in ("summary", "comparison", "ablation"))
    titles, levels = bounds.sized_titles(facts.streams, summary), ordered_levels(facts.levels)
    end = len(levels) - 0.5
    streams = list(facts.streams)
    size = 3.05, 2.85
    with panels.panels(len(streams), 3, size, "total gain", sharey=True) as drawn:
        for ax, label in zip(drawn.axes, streams, strict=True):
            rows = comparison[comparison["stream"] == label]
            panels.name_panel(ax, titles[label])
            panels.set_guesses(ax, [best_guess(mu) for mu in levels])
            reference = float(ablation.loc[ablation["stream"] == label, "reference_gain"].iloc[0])
            ax.axhline(reference, color=STATIC, ls="--", lw=1.0, label=NO_PRIVACY)
            drawn.name_line(ax, (end, reference), NO_PRIVACY, STATIC)
            for line in _lines(rows, levels):
                panels.add_bars(ax, line.points, line.look, line.name)
                drawn.name_line(ax, line.points.iloc[-1, :2], line.name, line.look.colour)
            _draw_aims(ax, rows[rows["kind"] == "aim-baseline"], levels)
            stream = summary[summary["stream"] == label].iloc[0]
            for bound, look in bounds.LOOKS.items():
                gain = float(stream[bounds.TOTALS[bound]])
                ax.axhline(gain, zorder=1, label=bound, **look.line)
                drawn.name_line(ax, (end, gain), bounds.NAMES[bound], look.colour)
        drawn.axes[0].set_ylim(bottom=0)
        drawn.name_x(panels.GUESSES)
        first = comparison[comparison["kind"] == "baseline"].iloc[0]
        named = (comparison["kind"] == TUNED).any()
        best = f"best rows and {ROLES[TUNED]}" if named else "best rows"
        data, bars = panels.describe_runs(first, facts.simulated, "bars")
        drawn.title(
            data,
            f"{ROLES[BASELINE]}: {first['other_algorithm']}, {first['other_noise']} noise",
            f"ours: {first['algorithm']}, {first['noise']} noise",
            bars,
            f"{best}: chosen in hindsight at every μ",
        )
        drawn.find(_finding(comparison))
    return drawn.figure


def _finding(comparison: pd.DataFrame) -> str:
    """Say in how many cells ours gains more, and how much more at the strictest level."""
    private = comparison[comparison["mu"] < math.inf]
    more = private["difference"] > private["difference_half_width"]
    counts = []
    for role in (BASELINE, TUNED):
        cells = more[private["kind"] == role].groupby([private["stream"], private["mu"]]).all()
        if not cells.empty:
            counts.append(f"more than {ROLES[role]} in {cells.sum()} of {len(cells)}")
    baseline = private[private["kind"] == BASELINE]
    last = baseline[baseline["mu"] == baseline["mu"].min()]
    ratios = last["mean_gain"] / last["other_mean_gain"]
    return (
        f"Ours gains {' and '.join(counts)} cells with privacy. At the strictest level it gains"
        f" {ratios.min():.2f} to {ratios.max():.2f} times as much as {ROLES[BASELINE]}."
    )


def _lines(rows: pd.DataFrame, levels: Sequence[float]) -> list[_Line]:
    """Return the lines of a panel, the best other rows first so that ours lies on top."""
    baseline, tuned, other = (rows[rows["kind"] == kind] for kind in (BASELINE, TUNED, "other"))
    stays = other[holds_for_stays(other["other_noise"])]
    theirs, ours = baseline["other_algorithm"].iloc[0], baseline["algorithm"].iloc[0]
    looks = looks_of([theirs, ours, "tree-ftpl-min-noise", *tuned["other_algorithm"]])
    curator = replace(looks["tree-ftpl-min-noise"], width=1.0)
    thin = replace(looks[next(iter(tuned["other_algorithm"]), theirs)], width=THIN)
    lines = [
        _Line("best with a\ncurator", curator, _best(other, levels, "central")),
        _Line("best other\nlocal row", REFERENCES["best-other-row"], _best(stays, levels, "local")),
        _Line(_name(TUNED), thin, _best(tuned, levels)),
        _Line(_name(BASELINE), looks[theirs], _points(baseline, "other_", levels)),
        _Line(_name(OURS), looks[ours], _points(baseline, "", levels)),
    ]
    return [line for line in lines if not line.points.empty]


def _name(role: str) -> str:
    """Return the short name of a role, one word per line."""
    return "\n".join(ROLES[role].removeprefix("the ").split())


def _best(others: pd.DataFrame, levels: Sequence[float], model: str = "") -> pd.DataFrame:
    """Return the points with the largest mean at each level in hindsight, of one model if given."""
    rows = others[others["other_model"] == model] if model else others
    return _points(rows.loc[rows.groupby("mu")["other_mean_gain"].idxmax()], "other_", levels)


def _points(rows: pd.DataFrame, side: str, levels: Sequence[float]) -> pd.DataFrame:
    points = rows.assign(place=rows[f"{side}mu"].map(levels.index)).sort_values("place")
    return points[["place", f"{side}mean_gain", f"{side}ci_half_width"]]


def _draw_aims(ax: Axes, aims: pd.DataFrame, levels: Sequence[float]) -> None:
    """Draw a line from the baseline at one level to the level at which ours must reach it."""
    for aim in aims.to_dict("records"):
        label = str(aim["other_algorithm"])
        look = replace(looks_of([label])[label], dashes=(1.0, 2.0), width=1.0)
        ends = [levels.index(aim["other_mu"]), levels.index(aim["mu"])]
        ax.plot(ends, [aim["other_mean_gain"]] * 2, **look.line, zorder=2, label=BASELINE_LEVEL)
