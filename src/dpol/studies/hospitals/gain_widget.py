"""The interactive figure of cumulative gains, which the script `gain.js` of the page draws."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from dpol.noise.noises import NOISES
from dpol.show.looks import ENVELOPE
from dpol.show.names import name_of
from dpol.show.words import privacy_title
from dpol.studies.hospitals import bounds
from dpol.studies.hospitals.cumulative_gain import noisy_without_privacy, shown_lines
from dpol.studies.hospitals.settings import Report
from dpol.studies.study import Frames

_MOST_POINTS = 100  # of a curve: its panel has about 250 pixels
_MOST_NUMBERS = 36_000  # of all curves: about 130 KB
_KEYS = ["stream", "algorithm", "noise", "mu"]


def gain_widget(data: Mapping[str, Any]) -> str:
    """The interactive figure as HTML: what `gain_data` made, for a script to draw."""
    # A title of somebody's stream must not end the element.
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    return (
        '<figure class="gain" hidden><figcaption><b>Cumulative gain.</b> Mean gain added up from'
        " the first round. Point at a round, or focus the panels and press the arrow keys: the"
        " table shows the gain up to that round and half the width of its"
        f" {data['confidence']} interval, the band of a line. In each round the intervals hold for"
        " all cells of the table of total gains together. They cover the noise on this one data"
        " set, not other places or years. —: not played, or with noise of its own though none is"
        f' asked for.</figcaption><script type="application/json">{text}</script></figure>'
    )


def gain_data(
    frames: Frames, report: Report, titles: Mapping[str, str], levels: Sequence[float]
) -> dict[str, Any]:
    """Numbers and looks of the interactive figure, as JSON has them.

    A curve is a list of whole numbers: its first value and the steps that follow, in `unit`. With
    a half width that is 0 for exact numbers, and None where a single run has no interval.

    Args:
        frames: the summary; and `cumulative`, as `cumulative_curves` makes it.
        report: the algorithms, the shaded family, the noise that is shown first, the confidence.
        titles: of the streams, by label.
        levels: privacy levels, in the order of the panels.
    """
    rows = _shown(frames, report, titles, levels)
    played = set(rows.loc[rows["algorithm"].isin(report.algorithms), "noise"]) - {"none"}
    noises = [*filter(played.__contains__, NOISES), *sorted(played - set(NOISES))] or [report.noise]
    unit = _unit(rows["mean_cumulative_gain"])
    family = rows["family"] == report.envelope
    members = rows.loc[family, "algorithm"].nunique()
    # The members of the family are one curve together, from the least to the most.
    curves = rows.assign(algorithm=rows["algorithm"].mask(family, "range"))[_KEYS].drop_duplicates()
    most = min(_MOST_POINTS, max(_MOST_NUMBERS // (2 * len(curves)), 2))
    return {
        "unit": unit,
        "confidence": f"{100 * report.confidence:g}%",
        "levels": [privacy_title(mu).replace(" = ", "\xa0=\xa0") for mu in levels],
        "noises": [name_of(it).marked for it in noises],
        "noise": noises.index(report.noise) if report.noise in noises else 0,
        "lines": _lines(frames["cumulative"], report, noises) + _range(members, report, noises),
        "streams": [
            _stream(own, report, levels, unit, most)
            | {"title": f"{titles[label]} (n = {_size(frames['summary'], label)})"}
            for label in titles
            if not (own := rows[rows["stream"] == label]).empty
        ],
    }


def _shown(
    frames: Frames, report: Report, titles: Mapping[str, str], levels: Sequence[float]
) -> pd.DataFrame:
    """The rows of what is drawn; without privacy, none with noise of its own."""
    rows, bound = frames["cumulative"], frames["cumulative"]["algorithm"].isin(bounds.LOOKS)
    wanted = rows["algorithm"].isin(report.algorithms) | (rows["family"] == report.envelope)
    rows = rows[rows["stream"].isin(titles) & (bound | (wanted & rows["mu"].isin(levels)))]
    noisy = [(*it, math.inf) for it in noisy_without_privacy(frames["summary"])]
    return rows[~rows.set_index(["algorithm", "noise", "mu"]).index.isin(noisy)]


def _size(summary: pd.DataFrame, stream: str) -> int:
    return int(summary.loc[summary["stream"] == stream, "n_experts"].iloc[0])


def _unit(gains: pd.Series) -> float:
    """The power of ten that leaves four digits of the largest gain."""
    largest = float(gains.abs().max())
    return float(10.0 ** (math.ceil(math.log10(largest)) - 4)) if largest > 0 else 1.0


def _lines(cumulative: pd.DataFrame, report: Report, noises: Sequence[str]) -> list[dict[str, Any]]:
    """Looks of all lines; of an algorithm also its name and its own noise, at each noise."""
    choices = [shown_lines(cumulative, report, noise) for noise in noises]
    lines = [
        {"label": same[0].label}
        | {"names": [it.name for it in same], "noises": [it.noise for it in same]}
        | {"colour": same[0].look.colour, "dashes": same[0].look.dashes}
        | {"width": round(same[0].look.width, 2)}
        for same in zip(*choices, strict=True)
    ]
    for label, look in bounds.LOOKS.items():
        line = {"label": label, "names": [bounds.NAMES[label]] * len(noises), "bound": True}
        lines.append(line | {"colour": look.colour, "dashes": look.dashes, "width": look.width})
    return lines


def _range(members: int, report: Report, noises: Sequence[str]) -> list[dict[str, Any]]:
    """The look of the shade of a family; none without members."""
    if not members:
        return []
    name = f"range of the {members} {report.envelope} learners" if members > 1 else report.envelope
    line = {"label": "range", "names": [name] * len(noises), "noises": noises, "range": True}
    return [line | {"colour": ENVELOPE}]


def _stream(
    rows: pd.DataFrame, report: Report, levels: Sequence[float], unit: float, most: int
) -> dict[str, Any]:
    """Rounds, dates, bounds and curves of a stream, thinned; the last round is always there."""
    last = int(rows["round"].max())
    rounds = range(last, 0, -math.ceil(last / most))[::-1]
    rows = rows[rows["round"].isin(rounds)].sort_values("round", kind="stable")
    dates = rows.drop_duplicates("round")["period"].dropna()
    found: dict[str, Any] = {"rounds": list(rounds), "dates": [f"{it:%Y-%m-%d}" for it in dates]}
    names = {label: rows[rows["algorithm"] == label] for label in bounds.LOOKS}
    found["bounds"] = {
        label: _steps(own["mean_cumulative_gain"], unit) for label, own in names.items()
    }
    curves: dict[str, Any] = {}
    lines = rows[rows["algorithm"].isin(report.algorithms)]
    for (label, noise, mu), own in lines.groupby(["algorithm", "noise", "mu"], sort=False):
        key = f"{label}, {noise}, {levels.index(mu)}"
        curves[key] = [_steps(own["mean_cumulative_gain"], unit), _half(own["ci_half_width"], unit)]
    members = rows[rows["family"] == report.envelope]
    for (noise, mu), own in members.groupby(["noise", "mu"], sort=False):
        values = own.groupby("round")["mean_cumulative_gain"]
        pair = [_steps(it, unit) for it in (values.min(), values.max())]
        curves[f"range, {noise}, {levels.index(mu)}"] = pair
    return found | {"curves": curves}


def _half(half: pd.Series, unit: float) -> list[int] | int | None:
    """Half widths; 0 if all are, and None if there are none."""
    if not half.max() < math.inf:
        return None
    # An interval that is not exact is not shown as such.
    return _steps(half.where(half >= unit, unit * (half > 0)), unit) if half.max() > 0 else 0


def _steps(values: pd.Series, unit: float) -> list[int]:
    whole = np.rint(values.to_numpy() / unit).astype(int)
    return [int(it) for it in np.diff(whole, prepend=0)]
