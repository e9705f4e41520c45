"""`dpol league`: an algorithm of yours among all others, on data that come with dpol."""

from __future__ import annotations

import argparse
import math
import subprocess
from pathlib import Path
from typing import Any

from dpol.cli.pipeline import config_named, snakemake_words
from dpol.core.options import Commands, add_command, between, given, path
from dpol.core.safe_text import printable

_LEAGUE = """\
Play an algorithm among all those of a config, and print the league: every system at every privacy
level, with ranks among those that promise the same. The config is written to league-CONFIG.yaml in
this folder. If it is there, the algorithm joins it, and only what is new is played."""


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
    words = "write the choices of the algorithm to a file that others can score and check"
    parser.add_argument("--record", metavar="FILE", type=path, help=words)
    words = "who sends the file of --record"
    parser.add_argument("--sender", metavar="WHO", type=given, default="unnamed", help=words)
    words = "the data on which you chose the algorithm"
    parser.add_argument("--looked-at", metavar="TEXT", type=given, default="not said", help=words)
    words = "number of variants that you tried on them (default: 1)"
    whole = between(1, 10**6, whole=True)
    parser.add_argument("--tried", metavar="N", type=whole, default=1, help=words)
    words = "rank the rows of files that others recorded beside yours"
    parser.add_argument("--with", dest="rows", metavar="FILE", nargs="+", type=path, help=words)
    words = "replicates of each such row to play again if its code is here, or all (default: 3)"
    parser.add_argument("--replay", metavar="K", type=_count, default=3, help=words)
    parser.set_defaults(run=_league)


def _count(text: str) -> float:
    return math.inf if text == "all" else between(0, 10**6, whole=True)(text)


def _league(options: argparse.Namespace) -> int:
    from dpol.config.league import write_league
    from dpol.core.schemas import write_frame
    from dpol.core.yaml_files import parse_yaml
    from dpol.experts.registry import make_members
    from dpol.report.league import league_of_run
    from dpol.report.record import read_record
    from dpol.report.rows import write_rows
    from dpol.report.run import Run

    entry: Any = parse_yaml(options.name, "NAME")
    runs = []
    configs = [config_named(name, "--on CONFIG,...") for name in options.on.split(",")]
    for config in configs:
        league = Path(f"league-{config.stem}.yaml")
        run = write_league(config, entry, league)
        words = snakemake_words(league, ["--cores", options.cores])
        if code := subprocess.run(words, check=False).returncode:
            return code
        results = Path("results", run)
        mine = {member.label for member in make_members(entry)}
        runs.append(Run(results, read_record(results)))
        ranked = league_of_run(runs[-1], options.rows, options.replay)
        if options.rows:
            write_frame(ranked.standings.assign(run=run), f"league-{config.stem}/standings.parquet")
        for line in ranked.in_text(mine):
            print(printable(line))
        print(f"For a paper: {results}/tables/league.tex, league.csv and figures/league.pdf.")
        print(f"{league} is its config.")
    if options.record:
        about = {it: printable(getattr(options, it))[:200] for it in ("sender", "looked_at")}
        write_rows(runs, options.record, entry, {**about, "tried": options.tried})
    return 0
