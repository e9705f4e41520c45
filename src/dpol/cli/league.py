"""`dpol league`: an algorithm of yours among all others, on data that come with dpol."""

from __future__ import annotations

import argparse
import subprocess
from pathlib import Path
from typing import Any

from dpol.cli import Commands, add_command
from dpol.cli.pipeline import config_named, snakemake_words
from dpol.core.words import printable

_LEAGUE = """\
Play an algorithm among all those of a config, and print the league: every system at every privacy
level, with ranks among those with the same guarantee. It prints the best systems, your algorithm
and its neighbours. The config is written to league-CONFIG.yaml in this folder. If it is there, the
algorithm joins it, and only what is new is played."""


def add(commands: Commands) -> None:
    """Add the command."""
    words = "rank an algorithm of yours among all others"
    example = "dpol league forgetful-leader --on central-texas,states"
    parser = add_command(commands, "league", words=words, example=example, description=_LEAGUE)
    words = "as in a config: a registered name, package.module:Class, or a block in braces"
    parser.add_argument("name", metavar="NAME", help=words)
    words = """files, or configs that come with dpol, with commas (default: central-texas; states
        takes a quarter of an hour on two cores)"""
    parser.add_argument("--on", default="central-texas", metavar="CONFIG,...", help=words)
    words = "number of cores (default: all)"
    parser.add_argument("--cores", default="all", metavar="N", help=words)
    parser.set_defaults(run=_league)


def _league(options: argparse.Namespace) -> int:
    from dpol.core.yaml_files import parse_yaml
    from dpol.experts.registry import make_members
    from dpol.report.door import read_crate
    from dpol.report.league import league_of_run, write_league
    from dpol.report.run import Run

    entry: Any = parse_yaml(options.name, "NAME")
    for name in options.on.split(","):
        config = config_named(name, "--on CONFIG,...")
        league = Path(f"league-{config.stem}.yaml")
        results = Path("results", write_league(config, entry, league))
        words = snakemake_words(league, ["--cores", options.cores])
        if code := subprocess.run(words, check=False).returncode:
            return code
        mine = {member.label for member in make_members(entry)}
        for line in league_of_run(Run(results, read_crate(results))).in_text(mine):
            print(printable(line))
        print(f"All systems: league.csv, league.md and league.tex in {results}/tables.")
        print(f"{league} is its config.")
    return 0
