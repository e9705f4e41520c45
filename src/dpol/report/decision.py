"""The decision of a run, a file: what it answers at each level, and what carries it out."""

from __future__ import annotations

import datetime
import math
from pathlib import Path
from typing import Any

import pandas as pd

from dpol.config.experiment import Experiment, load_experiment
from dpol.config.models import Config
from dpol.core.errors import DataError
from dpol.core.files import locked, write_text
from dpol.core.shipped import is_shipped
from dpol.core.yaml_files import read_yaml
from dpol.data.cleaning import clean_table
from dpol.data.question import apply_question
from dpol.data.stream import MEASURED, ZERO_OR_HIDDEN, build_stream
from dpol.experts.interface import AnyAlgorithm
from dpol.noise.keyed import make_secret, read_secret
from dpol.noise.noisy_gains import noise_scale
from dpol.noise.release import RELEASED_COLUMNS, RELEASED_NOISES, Release, release
from dpol.noise.released import read_texts
from dpol.privacy.settings import ordered_levels
from dpol.report.door import CONFIG, read_crate
from dpol.report.lead import leads_of
from dpol.studies.answer.systems import (
    chosen_rules,
    first_group,
    first_level,
    played_rule,
    why_first,
)

DECISION = "decision.yaml"
"""Name of the file in the folder of a run."""
_KEPT = (
    *("algorithm", "noise", "gain_share", "gain_share_half_width", "best_fixed"),
    *("best_fixed_share", "mu_1_week", "mu_4_weeks", "mu_8_weeks"),
)
_LOST = (
    "move the released table away too: whoever has the old secret can remove the noise of that"
    " table, and what is released again costs those people a second time"
)


def decision_of(standings: pd.DataFrame, experiment: Experiment, file: str) -> dict[str, Any]:
    """Return what the file holds: plain values.

    Args:
        standings: the standings of the run.
        experiment: its config, with its algorithms.
        file: the config. Its owner decides by it in every period, if it is there and its table is
            no simulated one, nor one that comes with dpol. The config of a league has another one
            beside it, which releases the table.
    """
    config, algorithms = experiment.config, _algorithms_of(experiment)
    facts, dataset = config.facts, config.dataset
    own = dataset.source.kind == "local" and not dataset.simulated and Path(file).is_file()
    own &= not is_shipped(config.raw_file) and not config.run.startswith("league-")
    owner = file if own else ""
    rules, rows = chosen_rules(standings, facts), first_group(standings, facts)[1]
    played = {
        mu: played_rule(it, rows, RELEASED_NOISES)
        for mu, it in rules.items()
        if mu < math.inf and not getattr(algorithms[it["algorithm"]], "needs_rounds", False)
    }

    def plain(row: Any) -> dict[str, Any]:
        if row is None:
            return {}
        kept = {it: None if pd.isna(row[it]) else row[it] for it in _KEPT}
        return kept | {"rule": repr(algorithms[row["algorithm"]])}

    leads = leads_of(standings, facts, config, played, owner)
    return {
        "run": config.run,
        "table": config.raw_file,
        "released": str(_beside(owner, "-released.csv")) if owner else "",
        "change": config.privacy.count_sensitivity,
        "weeks": config.privacy.unit.weeks,
        "why": why_first(standings, facts),
        "shown": first_level(standings, facts),
        "levels": [
            {
                **lead,
                "mu": mu,
                "decision": plain(rules.get(mu)),
                "played": plain(played.get(mu)),
            }
            for mu, lead in zip(ordered_levels(facts.levels), leads, strict=True)
        ],
    }


def _algorithms_of(experiment: Experiment) -> dict[str, AnyAlgorithm]:
    return {it.label: it.algorithm for suite in experiment.members.values() for it in suite}


def read_decision(file: str) -> tuple[Config, AnyAlgorithm, str, float]:
    """Return a config with the algorithm, noise and level that its commands play.

    Raises:
        DataError: the run is not finished, is of another config, or names no rule that commands
            play.
    """
    experiment = load_experiment(file)
    crate = read_crate(Path("results", experiment.config.run))
    told: Any = read_yaml(crate.file(DECISION))
    if load_experiment(crate.file(CONFIG)).config != experiment.config:
        remedy = f"run dpol run {file}, which decides anew"
        raise DataError(f"{crate.folder}: {file} has changed since this run; {remedy}")
    level = told["levels"][told["shown"]]
    if not level["command"]:
        why = "its table is simulated, comes with dpol, or is no table of counts"
        why = level["next"] or (level["answer"] if told["released"] else why)
        raise DataError(f"{crate.folder}: no command carries its decision out: {why}")
    played, algorithms = level["played"], _algorithms_of(experiment)
    return experiment.config, algorithms[played["algorithm"]], played["noise"], level["mu"]


def read_own_release(file: str) -> tuple[Path, pd.DataFrame]:
    """Return the path of the released table of a config, and the table as text.

    Raises:
        DataError: it cannot be read, or nothing is released yet.
    """
    path = _beside(file, "-released.csv")
    if not path.exists():
        raise DataError(f"{path}: nothing is released yet; run dpol release {file} first")
    return path, read_texts(path, RELEASED_COLUMNS)


def read_own_secret(file: str) -> bytes:
    """Return the secret of a config. Raises DataError as `read_secret`."""
    return read_secret(_beside(file, ".secret"), lost=_LOST)


def release_ended(
    file: str, config: Config, noise: str, mu: float, *, today: datetime.date, again: bool
) -> tuple[Path, Release]:
    """Release the counts of all periods that have ended, and write the table.

    Args:
        file: file of the config; the table and its secret are beside it.
        config: the config.
        noise: name of the noise.
        mu: privacy level.
        today: a period that ends later is not released.
        again: whether a count that has changed is released another time.

    Raises:
        DataError: a table or the secret cannot be read.
    """
    path, secret = _beside(file, "-released.csv"), _beside(file, ".secret")
    counts = _counts(config, noise, mu, today)
    with locked(path):
        before = read_own_release(file)[1] if path.exists() else pd.DataFrame()
        if before.empty and not (secret.exists() and secret.stat().st_size):
            secret.unlink(missing_ok=True)  # a killed process left it empty
            make_secret(secret)
        made = release(
            counts,
            before,
            secret=read_own_secret(file),
            purpose=["release", *config.dataset.periods.length],
            noise=noise,
            change=config.privacy.count_sensitivity,
            again=again,
            file=str(path),
        )
        if made.new or (made.changed and again):
            write_text(path, made.table.to_csv(index=False, lineterminator="\n"))
    return path, made


def _counts(config: Config, noise: str, mu: float, today: datetime.date) -> pd.DataFrame:
    """Return the counts of ended periods that somebody reported, as `release` takes them."""
    privacy, game = config.privacy, next(iter(config.played.values()))
    gains = [*config.gains.values()]
    panel = clean_table(config.raw_file, config.dataset, config.streams, gains)[0]
    stay, change = privacy.unit.weeks, privacy.count_sensitivity
    stream = build_stream(panel, game.stream, change, {}, stay=stay, gain=game.gain)
    rows = apply_question(panel[panel["stream"] == game.stream], game.stream, game.gain)[0]
    number, unit = config.dataset.periods.length
    lasts: Any = {f"{unit}s": number}
    ended = rows["period"] + pd.DateOffset(**lasts) <= pd.Timestamp(today)
    known = rows["count_source"].isin([*MEASURED, ZERO_OR_HIDDEN, "suppressed"])
    return rows.assign(
        count=rows["gain"] * rows["capacity"],
        deviation=noise_scale(stream, noise, mu).ravel() * rows["capacity"],
        period=rows["period"].dt.strftime("%Y-%m-%d"),
    )[ended & known].sort_values(["period", "entity"], kind="stable")


def _beside(file: str, ending: str) -> Path:
    return Path(file).with_name(Path(file).stem + ending)
