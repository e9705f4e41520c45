"""Play both noises, and say who is protected how well."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pandas as pd

from dpol.core.intervals import standard_error, student_factor
from dpol.core.randomness import Floats
from dpol.data.stream import GainStream
from dpol.experts.games import play
from dpol.noise import NoisyGains, privatize
from dpol.noise.noisy_gains import achieved_mu
from dpol.privacy.chains import Chains
from dpol.studies.hospitals.verdicts import verdict_of_aim, verdict_on
from dpol.studies.memory.settings import INDEPENDENT, REMEMBERED, NoiseMemories, member_of
from dpol.studies.study import Facts, Frames, Inputs, Point

STAYS = {1: "mu_1_week", 2: "mu_2_weeks", 4: "mu_4_weeks", 8: "mu_8_weeks"}
"""Columns with the mu of a person by the weeks of the stay."""
_ERRORS = {"standard_error": "ci_half_width", "difference_error": "difference_half_width"}


def run(settings: NoiseMemories, point: Point, inputs: Inputs) -> dict[str, pd.DataFrame]:
    """The rows of a stream and a unit of privacy: three for each mu."""
    if inputs.stream is None:
        raise ValueError("the study of memory needs a gain stream")
    # A label that no config can give: with the noise of the suites, scaled for another unit, who
    # sees both releases could take the noise off.
    label = f"{inputs.stream.label}, stays of {point['weeks']}"
    stream = replace(inputs.stream, stay=point["weeks"], label=label)
    rows = []
    for mu in settings.mus:
        totals, own = _played(settings, stream, REMEMBERED, mu, inputs)
        rows.append({"level": mu, "times": 1.0, **own})
        for times in (1.0, settings.times):
            others, other = _played(settings, stream, INDEPENDENT, times * mu, inputs)
            ahead = totals - others
            found = {
                "difference": float(ahead.mean()),
                "difference_error": float(standard_error(ahead)),
            }
            rows.append({"level": mu, "times": times, **other, **found})
    facts: dict[str, Any] = {
        "stream": inputs.stream.label,
        "n_experts": stream.n_experts,
        "n_rounds": stream.n_rounds,
        "weeks": stream.stay,
        "replicates": settings.replicates,
        "delta": inputs.delta,
    }
    return {"memory": pd.DataFrame(rows).assign(**facts)}


def _played(
    settings: NoiseMemories, stream: GainStream, noise: str, mu: float, inputs: Inputs
) -> tuple[Floats, dict[str, Any]]:
    """Total gains (R,) under a noise, and the row of its own."""
    noisy = privatize(stream, noise, mu, seed=inputs.seed, replicates=settings.replicates)
    member = member_of(settings.algorithm)
    games = play(member.algorithm, noisy, label=member.label)
    totals = games.gains(stream).sum(axis=1)
    b = noisy.memory.b if isinstance(noisy.memory, Chains) else None
    return totals, {
        "algorithm": member.label,
        "noise": noise,
        "mu": mu,
        "mean_gain": float(totals.mean()),
        "standard_error": float(standard_error(totals)),
        **{name: mu_of_stay(stream, noisy, weeks) for weeks, name in STAYS.items()},
        "smallest_b": None if b is None else b.min(),
        "largest_b": None if b is None else b.max(),
        **noisy.guarantee.as_columns(),
        "epsilon": noisy.guarantee.epsilon(inputs.delta),
    }


def mu_of_stay(stream: GainStream, noisy: NoisyGains, weeks: int) -> float:
    """The mu of a person who stays so many weeks, whatever unit the noise was made for."""
    fresh = noisy.noise_scale if noisy.fresh_scale is None else noisy.fresh_scale
    return achieved_mu(replace(stream, stay=weeks), fresh, noisy.memory)


def collect(frames: Frames, settings: NoiseMemories, facts: Facts) -> dict[str, pd.DataFrame]:
    """The table with intervals that hold together, and its verdicts."""
    frame = frames["memory"].astype({"smallest_b": float, "largest_b": float})
    count = int(frame[list(_ERRORS)].count().sum())
    factor = student_factor(facts.confidence, count, settings.replicates)
    frame = frame.assign(
        **{half: factor * frame[error] for error, half in _ERRORS.items()},
        confidence=facts.confidence,
        ci_comparisons=count,
    )
    pairs = frame[["difference", "difference_half_width"]].to_numpy()
    verdicts = pd.Series([verdict_on(*pair) for pair in pairs], frame.index)
    frame["verdict"] = verdicts.where(frame["difference"].notna(), "")
    # Not worse in any unit, or as good as `times` mu in this one.
    of_aim = frame["weeks"].where(frame["times"] > 1, 0)
    key = [frame["stream"], frame["noise"], frame["level"], frame["times"], of_aim]
    aims = frame.groupby(key)["verdict"].transform(lambda own: verdict_of_aim(own.tolist()))
    return {"memory": frame.assign(aim_verdict=aims.where(frame["verdict"] != "", ""))}
