"""Two Mondays of `dpol release` and `dpol choose`: from a decision to choices, each count once."""

from __future__ import annotations

import datetime
import math
import os
import signal
import sys
from collections import deque
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dpol
from dpol.config.models import WHOLE, Config
from dpol.core.errors import DataError
from dpol.core.randomness import replicate_generators
from dpol.experts.choose import Choice, choose
from dpol.experts.games import members_of
from dpol.experts.learners.fixed_share import SETTINGS
from dpol.experts.play import rounds
from dpol.noise.keyed import key_of
from dpol.noise.noisy_gains import NoisyGains, noise_scale
from dpol.noise.release import RELEASED_NOISES, Release
from dpol.noise.released import read_released
from dpol.privacy.guarantee import NO_PRIVACY
from dpol.report.decision import read_own_release, read_own_secret, release_ended

BEDS = {"North": 12, "South": 20, "West": 30, "Late": 15}
MONDAYS = pd.date_range("2024-01-01", periods=12, freq="7D")
FIRST, SECOND = (MONDAYS[k].date() for k in (10, 11))
"""The Mondays of the commands: ten weeks have ended, then eleven."""


def table(weeks: int, *, gaps: bool = True) -> pd.DataFrame:
    """Return the owner's table: one place starts late, another has a gap."""
    rng, rows = np.random.default_rng(4), []
    for week, monday in enumerate(MONDAYS[:weeks]):
        for place, beds in BEDS.items():
            patients = rng.binomial(beds, 0.5 + 0.3 * np.sin(week / 3 + beds))
            if not gaps or (week >= 6 if place == "Late" else (place, week) != ("South", 4)):
                rows.append((place, f"{monday:%Y-%m-%d}", patients, beds))
    return pd.DataFrame(rows, columns=["ward", "week", "patients", "beds"])


def config(**changes: Any) -> Config:
    return WHOLE.model_validate(
        {
            "run": "own",
            "seed": 1,
            "dataset": {
                "source": {"kind": "local", "file": "own.csv"},
                "columns": {
                    "entity": "ward", "period": "week", "count": "patients", "capacity": "beds"
                },
                "periods": {"days": 7},
                "cleaning": {"entities": "all", "max_zeroed": 1.0},
            },
            "streams": {"wards": {"groups": ["all"]}},
            "privacy": {"levels": [2.0], "count_sensitivity": 2},
            "suites": {"local": {"algorithms": ["window-mean"]}},
        }
        | changes
    )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Own:
    """What a decision says to the commands."""

    rule: Any = "window-mean"
    learner: str | None = None
    noise: str = "capacity"
    released: Path = Path("own-released.csv")
    secret: Path = Path("own.secret")

    def release(self, today: datetime.date, *, again: bool = False) -> Release:
        return release_ended("own.yaml", config(), self.noise, 2.0, today=today, again=again)[1]

    def table(self) -> pd.DataFrame:
        return read_own_release("own.yaml")[1].drop(columns="noise")

    @property
    def name(self) -> str:
        return key_of(read_own_secret("own.yaml"), "choose").hex()


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Own:
    monkeypatch.chdir(tmp_path)
    return Own()


def monday(own: Own, today: datetime.date, data: pd.DataFrame, *, again: bool = False) -> Release:
    data.to_csv("own.csv", index=False)
    return own.release(today, again=again)


def chosen(own: Own, **more: Any) -> Choice:
    return choose(own.rule, own.table(), learner=own.learner, name=own.name, gain_range=1.0, **more)


def by_the_game(own: Own, *, drawn: Any = 0.0) -> tuple[str, str]:
    """Return the choice of the game on what was released, and its week, from the table alone."""
    rows = pd.read_csv(own.released, parse_dates=["period"])
    places, days = (
        [*dict.fromkeys(rows["place"])],
        pd.date_range(rows["period"].min(), rows["period"].max() + pd.Timedelta(days=7), freq="7D"),
    )

    def grid(column: pd.Series) -> np.ndarray:
        return (
            column.set_axis(pd.MultiIndex.from_frame(rows[["period", "place"]]))
            .unstack()
            .reindex(index=days, columns=places)
            .to_numpy()
        )

    def lasting(grid: np.ndarray) -> np.ndarray:
        return pd.DataFrame(grid).ffill().bfill().to_numpy()

    gains, scale = (grid(rows[it] / rows["capacity"]) for it in ("count", "deviation"))
    known = ~np.isnan(gains)
    noisy = NoisyGains(
        initial=lasting(scale)[:1] * drawn,
        gains=np.nan_to_num(gains)[None],
        noise_scale=lasting(scale),
        gain_range=1.0,
        guarantee=NO_PRIVACY,
        capacity=lasting(grid(rows["capacity"])),
        reported=None if known[:-1].all() else known.astype(float),
    )
    member = next(it for it in members_of(own.rule) if own.learner in (None, it.label))
    none = replicate_generators(0, ("none",), [0], "choice")
    ((_, actions),) = deque(rounds(member.algorithm, noisy, none), maxlen=1)
    return places[actions[0]], f"{days[-1]:%Y-%m-%d}"


RULES = [
    ("persistence", None, False),
    ("window-mean", None, True),
    ("cautious-mean", None, True),
    ("random-effects", None, True),
    *(("fixed-share", f"fixed-share-{name}", False) for name in SETTINGS),
    *(("ridge", f"ridge-w{w}-{how}", False) for w in (8, 64) for how in ("weak", "strong")),
]


@pytest.mark.parametrize("noise", RELEASED_NOISES)
@pytest.mark.parametrize(("rule", "learner", "gaps"), RULES)
def test_choices_are_those_of_the_game_on_what_was_released(
    own: Own, noise: str, rule: str, learner: str | None, gaps: bool
) -> None:
    """On both Mondays; for rules that skip gaps, a place is new and another has a gap."""
    own = replace(own, noise=noise, rule=rule, learner=learner)
    for weeks, today in ((10, FIRST), (11, SECOND)):
        monday(own, today, table(weeks, gaps=gaps))
        made = chosen(own)
        assert (made.place, made.period) == by_the_game(own)
        assert made.period == f"{today}"
        assert made.periods == weeks
    assert made.mu is not None
    assert made.mu <= 2.0
    assert made.change == 2.0


def test_rw_ftpl_has_its_first_draw_from_the_secret(own: Own) -> None:
    """As in the game with that draw, which is another one for each place and secret."""
    own = replace(own, rule="rw-ftpl")
    for _ in range(3):
        monday(own, FIRST, table(10, gaps=False))
        first = [replicate_generators(0, (own.name, it), [0], "initial") for it in sorted(BEDS)]
        drawn = np.concatenate([it.standard_normal(1) for it in first], axis=1)
        assert np.unique(drawn).size == len(BEDS)
        made = chosen(own).place
        assert made == by_the_game(own, drawn=drawn)[0]
        own.released.unlink()
        own.secret.unlink()


def test_each_count_goes_out_once(own: Own) -> None:
    data = table(10)
    made = monday(own, FIRST, data)
    assert len(made.new) == len(data)
    first, secret = own.released.read_bytes(), own.secret.read_bytes()
    assert own.secret.stat().st_mode & 0o777 == 0o600
    rows = pd.read_csv(own.released)
    both = rows.merge(data, left_on=["place", "period"], right_on=["ward", "week"])
    noise = both["count"] - both["patients"]
    assert noise.nunique() == len(noise) == len(data)
    assert noise.all(), "one number equals its count with probability 1e-5"
    assert monday(own, FIRST, data).new == ()
    assert own.released.read_bytes() == first
    more = pd.concat([data, table(11)[-4:]])
    assert len(monday(own, FIRST, more).new) == 0, "the eleventh week has not ended"
    assert len(monday(own, SECOND, more).new) == 4
    assert own.released.read_bytes().startswith(first)
    own.released.unlink()
    monday(own, FIRST, data)
    assert own.released.read_bytes() == first, "a lost table is the same table"
    assert own.secret.read_bytes() == secret
    own.secret.unlink()
    with pytest.raises(DataError, match="the secret cannot be read .* put it back"):
        monday(own, FIRST, data)


def test_a_late_correction_stays_as_released_until_it_is_asked_for(own: Own) -> None:
    data = table(10)
    monday(own, FIRST, data)
    first = own.released.read_bytes()
    data.loc[data.index[3], "patients"] += 1
    key = (data["ward"].iloc[3], data["week"].iloc[3])
    made = monday(own, FIRST, data)
    assert (made.changed, made.times) == ((key,), 1)
    assert own.released.read_bytes() == first
    made = monday(own, FIRST, data, again=True)
    assert made.changed == (key,)
    rows = pd.read_csv(own.released)
    assert len(rows) == len(data)
    assert rows.loc[rows["version"] == 2, ["place", "period"]].to_numpy().tolist() == [[*key]]
    own_mu = read_released(own.table()).mu
    assert math.isclose(own_mu, 2.0 * math.sqrt((2 + 1) / 2), rel_tol=1e-4), "one of two counts"
    assert monday(own, FIRST, data, again=True).changed == ()


@pytest.mark.parametrize("noise", RELEASED_NOISES)
def test_the_noise_hides_what_the_level_says(own: Own, noise: str) -> None:
    """Its scale is at least that of the experiment, by less than a part in a million."""
    own = replace(own, noise=noise)
    monday(own, FIRST, table(10, gaps=False))
    stream = dpol.read_table(
        "own.csv", entity="ward", period="week", count="patients", capacity="beds",
        cleaning={"entities": "all"}, count_sensitivity=2,
    )  # fmt: skip
    asked = noise_scale(stream, noise, 2.0) * stream.capacity
    rows = pd.read_csv(own.released).pivot(index="period", columns="place", values="deviation")
    ratio = rows[[*stream.entities]].to_numpy() / asked
    assert ratio.min() > 1
    assert ratio.max() < 1 + 3e-6


def test_a_kill_at_any_moment_loses_nothing(own: Own) -> None:
    """The first kills are before there is a secret, the others after.

    A moment is a call of a function, so it does not depend on how fast the machine is.
    """
    monday(own, FIRST, table(10))
    own.released.unlink()
    own.secret.unlink()
    calls = 0

    def counted(*_: object) -> None:
        nonlocal calls
        calls += 1
        if calls == last:
            os.kill(os.getpid(), signal.SIGKILL)

    last = 0  # never
    sys.setprofile(counted)
    own.release(FIRST)
    sys.setprofile(None)
    moments, ended = np.random.default_rng(3).uniform(0, 1.2 * calls, 20).astype(int), 0
    own.secret.unlink()
    for kill, moment in enumerate(moments.tolist()):
        own.released.unlink(missing_ok=True)
        if kill == 5:
            own.release(FIRST)
            secret, whole = own.secret.read_bytes(), own.released.read_bytes()
            own.released.unlink()
        if (child := os.fork()) == 0:
            calls, last = 0, 1 + moment
            sys.setprofile(counted)
            own.release(FIRST)
            os._exit(0)
        os.waitpid(child, 0)
        ended += own.released.exists()
        assert own.released.exists() is False or len(own.table()) == len(table(10))
        if kill >= 5:
            own.release(FIRST)
            assert (own.secret.read_bytes(), own.released.read_bytes()) == (secret, whole)
    assert 0 < ended < 20, "some before the table was written, and some after"
    names = {it.name for it in Path().iterdir()}
    assert names == {"own.csv", "own-released.csv", "own.secret", ".own-released.csv.lock"}
