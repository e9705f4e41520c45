"""Noise with memory compared with independent noise, and how well people who stay are protected."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from dpol.core.intervals import standard_error, student_factor
from dpol.data.stream import GainStream
from dpol.noise import CAPACITY, MEMORY, find_noise
from dpol.noise.noises import memory_of
from dpol.privacy.chains import Chains
from dpol.studies.games.runs import Played, stream_of_stays
from dpol.studies.games.settings import Games, NoiseMemories
from dpol.studies.games.verdicts import verdict_of_aim, verdict_on

INDEPENDENT, REMEMBERED = CAPACITY.name, MEMORY.name
"""The two noises that are compared; the memory is the designed one."""
MU_OF_STAYS = ("mu_1_week", "mu_2_weeks", "mu_4_weeks", "mu_8_weeks")
"""Columns with the mu of a person who is counted in so many weeks: `STAYS`."""
_ERRORS = {"standard_error": "ci_half_width", "difference_error": "difference_half_width"}


def compare_memories(
    cells: Sequence[Played],
    streams: Mapping[str, GainStream],
    asked: NoiseMemories,
    main: Games,
) -> pd.DataFrame:
    """Three rows for each stream, unit of privacy and mu, with intervals that hold together.

    Args:
        cells: all runs, those on streams with other units of privacy too.
        streams: the gain streams by label.
        asked: the units and levels.
        main: delta, and the confidence of all intervals together.
    """
    rows = []
    for label, stream in streams.items():
        for weeks in asked.weeks:
            staying = stream_of_stays(stream, weeks)
            own = [cell for cell in cells if cell.stream == staying.label]
            about = {
                "stream": label,
                "n_experts": stream.n_experts,
                "n_rounds": stream.n_rounds,
                "weeks": weeks,
                "replicates": main.replicates,
                "delta": main.delta,
            }
            for row in _rows(own, staying, asked, main.delta):
                rows.append(about | row)
    return _with_verdicts(pd.DataFrame(rows), main)


def _rows(
    cells: Sequence[Played], stream: GainStream, asked: NoiseMemories, delta: float
) -> Iterator[dict[str, Any]]:
    """Rows with memory, then independent at the same mu and at `times` that mu; no half-widths."""
    played = {(cell.noise, cell.mu): cell for cell in cells}
    for mu in asked.mus:
        remembered = played[REMEMBERED, mu]
        yield {"level": mu, "times": 1.0, **_side(remembered, stream, delta)}
        for times in (1.0, asked.times):
            independent = played[INDEPENDENT, times * mu]
            ahead = remembered.totals - independent.totals
            yield {
                "level": mu,
                "times": times,
                **_side(independent, stream, delta),
                "difference": float(ahead.mean()),
                "difference_error": float(standard_error(ahead)),
            }


def _side(cell: Played, stream: GainStream, delta: float) -> dict[str, Any]:
    """The gain, the guarantee and the memory of a noise."""
    memory = memory_of(find_noise(cell.noise), stream, cell.mu, "designed")
    b = memory.b if isinstance(memory, Chains) else np.zeros(1)
    return {
        "algorithm": cell.label,
        "noise": cell.noise,
        "mu": cell.mu,
        "mean_gain": float(cell.totals.mean()),
        "standard_error": float(standard_error(cell.totals)),
        "smallest_b": float(b.min()),
        "largest_b": float(b.max()),
        **cell.guarantee.as_columns(),
        **cell.guarantee.stay_columns(),
        "epsilon": cell.guarantee.epsilon(delta),
    }


def _with_verdicts(frame: pd.DataFrame, main: Games) -> pd.DataFrame:
    """Add half-widths that hold together, and the verdicts on differences and aims."""
    count = int(frame[list(_ERRORS)].count().sum())
    factor = student_factor(main.report.confidence, count, main.replicates)
    frame = frame.assign(
        **{half: factor * frame[error] for error, half in _ERRORS.items()},
        confidence=main.report.confidence,
        ci_comparisons=count,
    )
    pairs = frame[["difference", "difference_half_width"]].to_numpy()
    verdicts = pd.Series([verdict_on(*pair) for pair in pairs], frame.index)
    frame["verdict"] = verdicts.where(frame["difference"].notna(), "")
    # Not worse in any unit, or as good as `times` mu in this one.
    of_aim = frame["weeks"].where(frame["times"] > 1, 0)
    key = [frame["stream"], frame["noise"], frame["level"], frame["times"], of_aim]
    aims = frame.groupby(key)["verdict"].transform(lambda own: verdict_of_aim(own.tolist()))
    return frame.assign(aim_verdict=aims.where(frame["verdict"] != "", ""))
