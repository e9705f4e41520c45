"""Play both noises, and say who is protected how well."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from dpol.core.intervals import standard_error, student_factor
from dpol.core.randomness import Floats
from dpol.data.stream import GainStream
from dpol.noise import NOISES
from dpol.noise.noises import memory_of
from dpol.privacy.chains import Chains
from dpol.studies.hospitals.runs import play_suite
from dpol.studies.hospitals.verdicts import verdict_of_aim, verdict_on
from dpol.studies.memory.settings import INDEPENDENT, REMEMBERED, NoiseMemories, member_of
from dpol.studies.study import Facts, Frames, Inputs, Point

MU_OF_STAYS = ("mu_1_week", "mu_2_weeks", "mu_4_weeks", "mu_8_weeks")
"""Columns with the mu of a person who is counted in so many weeks: `STAYS`."""
_MEMORY_MB = 1000
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
    facts: Any = {"noise": noise, "mu": mu, "seed": inputs.seed, "memory_mb": _MEMORY_MB}
    members, replicates = [member_of(settings.algorithm)], range(settings.replicates)
    (played,) = play_suite(stream, members, replicates=replicates, **facts).played
    memory = memory_of(NOISES[noise], stream, mu, "designed")
    b = memory.b if isinstance(memory, Chains) else np.zeros(1)
    return played.totals, {
        "algorithm": played.label,
        "noise": noise,
        "mu": mu,
        "mean_gain": float(played.totals.mean()),
        "standard_error": float(standard_error(played.totals)),
        "smallest_b": float(b.min()),
        "largest_b": float(b.max()),
        **played.guarantee.as_columns(),
        **played.guarantee.stay_columns(),
        "epsilon": played.guarantee.epsilon(inputs.delta),
    }


def collect(frames: Frames, settings: NoiseMemories, facts: Facts) -> dict[str, pd.DataFrame]:
    """The table with intervals that hold together, and its verdicts."""
    frame = frames["memory"]
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
