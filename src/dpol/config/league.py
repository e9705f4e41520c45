"""Configs of leagues: the games of a config, with further algorithms among its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from dpol.config.experiment import load_experiment, parse_experiment
from dpol.config.models import Config
from dpol.config.rules import unfit_noises
from dpol.core.errors import UsageError
from dpol.core.files import write_text
from dpol.core.yaml_files import read_yaml
from dpol.experts.interface import Member
from dpol.experts.registry import make_members
from dpol.noise import CAPACITY, ISOTROPIC, NOISES

_GAMES = {*Config.model_fields} - {"run", "report", "comparison", "keep_rounds"}
"""Keys of a config that its games depend on."""


def write_league(config: Path, entry: Any, league: Path) -> str:
    """Write the config of a league, or add an algorithm to one that exists.

    Algorithms that play already are not played again, since their suites stay as they are.

    Args:
        config: the config whose games the algorithm joins.
        entry: the algorithm, as a suite names it.
        league: file of the league.

    Returns:
        Name of its run.

    Raises:
        ConfigError: one of the files is no config, or the algorithm does not fit.
        UsageError: the entry is no algorithm, stands for several or is labelled as a suite, or the
            file is the league of another run.
    """
    try:
        member, *others = make_members(entry)
    except ValueError as error:
        raise UsageError(str(error)) from None
    if others:
        several = f"{member.family} stands for {1 + len(others)} algorithms"
        raise UsageError(f"{several}; write a block whose parameters leave one of them")
    asked = _checked(config)
    if member.label in asked["suites"]:
        raise UsageError(f"{config} has a suite {member.label}; give the algorithm another label")
    games = {key: value for key, value in asked.items() if key in _GAMES}
    if isinstance(games["suites"], list):
        games["suites"] = dict.fromkeys(games["suites"])
    if ours := (asked.get("comparison") or {}).get("ours"):
        # Further readings of its table need a method to compare.
        games["comparison"] = {"ours": ours}
    games = {"run": f"league-{asked['run']}", **games}
    if league.exists():
        run, games = games["run"], _checked(league)
        if games["run"] != run:
            raise UsageError(f"{league} is of another run, {games['run']}; move it away")
    noises = noises_to_play(member)
    games["suites"][member.label] = {"noises": noises, "algorithms": [entry]}
    if member.algorithm.model != "none":
        games["comparison"] = {"ours": {"algorithm": member.label, "noise": noises[-1]}}
    parse_experiment(games, str(league))
    text = yaml.safe_dump(games, sort_keys=False, allow_unicode=True)
    write_text(league, f"# The games of {config.stem}, with algorithms of yours.\n{text}")
    return str(games["run"])


def noises_to_play(member: Member) -> list[str]:
    """Return the paper's noise and ours, or the first noise that the algorithm can read."""
    fit = [it for it in NOISES if not [*unfit_noises([member], [it])]]
    return [it for it in (ISOTROPIC.name, CAPACITY.name) if it in fit] or fit[:1]


def _checked(config: Path) -> dict[str, Any]:
    load_experiment(config)
    raw: Any = read_yaml(config)
    return dict(raw)
