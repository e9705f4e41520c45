"""Play released numbers, and say what can be said without the truth."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from typing import Any, cast

import numpy as np
import pandas as pd

from dpol.core.errors import ConfigError, DataError
from dpol.core.intervals import NORMAL_90, effective_trials, share_interval
from dpol.experts.interface import LocalAlgorithm, Member
from dpol.experts.registry import make_members
from dpol.live.decide import spent_of
from dpol.live.deployment import algorithm_of
from dpol.live.game import Choice, unfit
from dpol.live.panel import Panel
from dpol.live.released import Releases, read_released
from dpol.live.replay import games_before
from dpol.release.deployment import Deployment
from dpol.studies.released.settings import ReleasedGames
from dpol.studies.study import Facts, Frames, Inputs, Point


def run(settings: ReleasedGames, point: Point, inputs: Inputs) -> dict[str, pd.DataFrame]:
    """The reports, or the decisions of an algorithm and what becomes of its predictions.

    Raises:
        ConfigError: the algorithm cannot read the noise, or has the label of another one.
        DataError: as `read_released`, or there is nothing to decide.
    """
    if inputs.released is None:
        raise ValueError("the study of released numbers needs a log, or its export")
    releases = read_released(*inputs.released)
    names = "released_reports", "released_decisions", "released_algorithms"
    empty = {name: pd.DataFrame() for name in names}
    if "algorithm" not in point:
        return empty | {"released_reports": _reports(releases)}
    if not (numbers := _decidable(releases)):
        raise DataError(
            f"{inputs.released[0]}: fewer than two entities have reported, so there is nothing to"
            " decide; collect more reports"
        )
    if (member := _member(releases.deployment, point["algorithm"])) is None:
        return empty
    decisions, row = _played(releases, member, numbers)
    own = {"of_deployment": point["algorithm"] is None}
    return empty | {
        "released_decisions": pd.DataFrame(decisions),
        "released_algorithms": pd.DataFrame([{"algorithm": member.label, **own, **row}]),
    }


def _reports(releases: Releases) -> pd.DataFrame:
    """Reports of each period, the noise on them, and the cost of all of it to a person."""
    deployment, panel = releases.deployment, releases.panel
    spent, rows = spent_of(deployment, panel), []
    for number, noise in enumerate(panel.noise):
        day, known = deployment.period_of(number), noise[panel.there[number]]
        rows.append(
            {
                "period": pd.Timestamp(day),
                "entities": sum(it.takes_part(day) for it in deployment.entities.values()),
                "reported": len(known),
                "noise_median": float(np.median(known)) if len(known) else np.nan,
                "noise_largest": float(known.max()) if len(known) else np.nan,
            }
        )
    constant = {
        "corrections": spent.corrections,
        "mu": spent.mu,
        "unit_weeks": spent.unit_weeks,
        "mu_of_stay": spent.mu_of_stay,
        "longest_stay": spent.longest_stay,
    }
    return pd.DataFrame(rows).assign(**constant)


def _decidable(releases: Releases) -> list[int]:
    """The periods for which there is a choice: two that may be chosen have reported before."""
    deployment, numbers = releases.deployment, []
    joined = np.logical_or.accumulate(releases.panel.there, axis=0)
    for number, known in enumerate(joined, start=1):
        day = deployment.period_of(number)
        among = np.array([it.takes_part(day) for it in deployment.entities.values()])
        if (known & among).sum() >= 2:
            numbers.append(number)
    return numbers


def _member(deployment: Deployment, spec: Any) -> Member | None:
    """The algorithm of a spec; None if it is the deployment's, which plays already."""
    algorithm_of(deployment)  # refuses what cannot play
    (own,) = make_members(deployment.algorithm)
    if spec is None:
        return own
    (member,) = make_members(spec)
    if member.label == own.label and member.algorithm == own.algorithm:
        return None
    if wrong := unfit(member.algorithm, deployment.noise.memory != "none"):
        raise ConfigError(f"released.algorithms: {wrong}")
    if member.label == own.label:
        raise ConfigError(
            f"released.algorithms: {member.label} is the label of the deployment's algorithm, and"
            " this one has other parameters; give it a label"
        )
    return member


def _played(
    releases: Releases, member: Member, numbers: list[int]
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The decisions of an algorithm, and how many shares fell where it predicted them."""
    deployment, algorithm = releases.deployment, cast("LocalAlgorithm[Any]", member.algorithm)
    identifiers = list(deployment.entities)
    rows: list[dict[str, Any]] = []
    covered, checked = [], []
    for ready in games_before(deployment, algorithm, releases.panel, numbers):
        try:
            choice = ready.choose()
        except ValueError:  # one that does not rank, and too few of its entities have reported
            continue
        for rank, place in enumerate(choice.ranked[: deployment.names], start=1):
            entity, ends = identifiers[place], choice.interval(place)
            rows.append(
                {
                    "period": pd.Timestamp(deployment.period_of(ready.number)),
                    "algorithm": member.label,
                    "rank": rank,
                    "entity": entity,
                    "title": deployment.entities[entity].title or entity,
                    **{
                        name: math.nan if end is None else end
                        for name, end in zip(("share", "low", "high"), ends, strict=True)
                    },
                }
            )
        inside = _inside(releases.panel, ready.number, choice)
        covered.append(int(inside.sum()))
        checked.append(len(inside))
    facts = {
        "periods": len({row["period"] for row in rows}),
        "checked": sum(checked),
        "covered": sum(covered),
        "effective": effective_trials(np.array(covered), np.array(checked)),
    }
    return rows, facts


def _inside(panel: Panel, number: int, choice: Choice) -> Any:
    """Flags of the shares of a period in the 90% interval of what is reported, noise included.

    Only reports whose noise does not depend on earlier noise: of other noise the algorithm knows
    a part already, and the interval would not be that of the report.
    """
    if number >= len(panel.share) or choice.share is None or choice.deviation is None:
        return np.zeros(0, dtype=bool)
    fresh = panel.there[number] & ((panel.a == panel.b) | (panel.place == 1))[number]
    deviation = np.hypot(choice.deviation, panel.noise[number])[fresh]
    return np.abs(panel.share[number] - choice.share)[fresh] <= NORMAL_90 * deviation


def collect(frames: Frames, settings: ReleasedGames, facts: Facts) -> dict[str, pd.DataFrame]:
    """The tables, with how often the algorithms agree, and intervals that hold together."""
    decisions, played = frames["released_decisions"], frames["released_algorithms"]
    first = decisions[decisions["rank"] == 1].pivot(
        index="period", columns="algorithm", values="entity"
    )
    (own,) = played.loc[played["of_deployment"], "algorithm"]
    comparisons = int((played["checked"] > 0).sum())
    each = 1 - (1 - facts.confidence) / max(comparisons, 1)
    rows: list[dict[Hashable, Any]] = []
    for row in played.to_dict("records"):
        both = first.reindex(columns=[own, row["algorithm"]]).dropna()
        agreement = (both.iloc[:, 0] == both.iloc[:, 1]).mean() if len(both) else math.nan
        rows.append({**row, "agreement": agreement, **_coverage(row, each)})
    shared = {"confidence": facts.confidence, "ci_comparisons": comparisons}
    return {**frames, "released_algorithms": pd.DataFrame(rows).assign(**shared)}


def _coverage(row: Mapping[Hashable, Any], confidence: float) -> dict[Hashable, Any]:
    """The share of reports where they were predicted, and its interval, rounded outwards."""
    names = "coverage", "coverage_low", "coverage_high"
    if not row["checked"]:
        return dict.fromkeys(names, math.nan)
    share, trials = row["covered"] / row["checked"], int(row["effective"])
    found = round(share * trials, 9)
    low, _ = share_interval(math.floor(found), trials, confidence)
    _, high = share_interval(math.ceil(found), trials, confidence)
    return dict(zip(names, (share, low, high), strict=True))
