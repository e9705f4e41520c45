"""The commands decide on the real hospitals as the pipeline does."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from dpol.core.randomness import replicate_generators
from dpol.experts.play import play_rounds
from dpol.experts.registry import make_members
from dpol.noise import NoisyGains
from dpol.privacy.guarantee import NO_PRIVACY
from dpol_weekly.coordinator.decide import check, decide
from dpol_weekly.noise import CountNoise
from weekly import MU, agreed, date, released

ROOT = Path(__file__).parents[3]
TABLE = ROOT / "data/hospitals/hospitals-15-states-2021-01-01--2022-07-29.parquet"
COUNT = "total_adult_patients_hospitalized_confirmed_covid_7_day_avg"
BEDS = "all_adult_hospital_inpatient_beds_7_day_avg"


def noisy_gains(noisy, capacity):
    """The noisy numbers as the pipeline has them."""
    scale = CountNoise(MU).standard_deviation / capacity
    n = capacity.shape[1]
    z = replicate_generators(0, ("test",), [0], "initial noise").standard_normal(n)
    return NoisyGains(
        initial=z * scale[0],
        gains=(noisy / capacity)[None],
        noise_scale=scale,
        gain_range=1.0,
        guarantee=NO_PRIVACY,
        capacity=capacity,
    )


NAMES = [f"H{k:03}" for k in range(400)]


def collected(folder, counts, capacity, **options):
    """The noisy counts that a coordinator has collected in a folder."""
    names = NAMES[: capacity.shape[1]]
    return released(folder, agreed(folder, names), counts, capacity, names, **options)


def compared(folder, noisy, capacity, weeks):
    """Decisions of the commands and of the pipeline, for some weeks from the second on."""
    names, state = NAMES[: capacity.shape[1]], folder / "coordinator"
    (member,) = make_members("random-effects")
    generators = replicate_generators(1, ("unused",), [0], "unused")
    played = play_rounds(member.algorithm, noisy_gains(noisy, capacity), generators)[0]
    named = [names.index(decide(state, date(week)).named[0]) for week in weeks]
    assert len(set(named)) > 1, "a test that any constant passes"
    return named, [played[week] for week in weeks]


def real_panel(state):
    """(T, n) counts and beds of a state, holes repeated; suppressed counts are taken as 2."""
    table = pd.read_parquet(TABLE).query("state == @state")
    found = [
        table.pivot_table(
            index="collection_week", columns="hospital_pk", values=column, dropna=False
        )
        for column in (COUNT, BEDS)
    ]
    counts, beds = (it.ffill().bfill() for it in (found[0].replace(-999999, 2), found[1]))
    there = (beds > 1).all() & counts.notna().all()
    return counts.loc[:, there].to_numpy(), beds.loc[:, there].to_numpy()


@pytest.mark.parametrize(
    ("state", "size", "step", "weeks"),
    [("NM", (67, 39), 1, range(2, 67, 6)), ("CA", (67, 343), 67, (1, 20, 40, 66))],
)
def test_decisions_on_the_real_panel_are_the_pipelines(tmp_path, state, size, step, weeks):
    counts, beds = real_panel(state)
    assert counts.shape == size
    named, played = compared(tmp_path, collected(tmp_path, counts, beds, step=step), beds, weeks)
    assert named == played
    check(tmp_path / "coordinator", date(weeks[-1]))
