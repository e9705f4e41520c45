"""`dpol league`: an algorithm of yours among all others, on data that come with dpol."""

from __future__ import annotations

import argparse
import subprocess
from pathlib import Path
from typing import Any

from dpol.cli.pipeline import config_named, snakemake_words
from dpol.core.options import Commands, add_command, between, given, path
from dpol.core.safe_text import printable

_LEAGUE = """\
Play an algorithm among all those of a config, and print the league: every system at every privacy
level, with ranks among those with the same guarantee. The config is written to league-CONFIG.yaml
in this folder. If it is there, the algorithm joins it, and only what is new is played."""


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
    words = "write the choices of the algorithm to a file that others can score; no private table"
    parser.add_argument("--write", metavar="FILE", type=path, help=words)
    words = "who sends the file of --write"
    parser.add_argument("--sender", metavar="WHO", type=given, default="unnamed", help=words)
    words = "the data on which you chose the algorithm"
    parser.add_argument("--looked-at", metavar="TEXT", type=given, default="not said", help=words)
    words = "number of variants that you tried on them (default: 1)"
    whole = between(1, 10**6, whole=True)
    parser.add_argument("--tried", metavar="N", type=whole, default=1, help=words)
    words = "rank the rows of files that others sent beside yours: choices as sent, scored here"
    parser.add_argument("--with", dest="rows", metavar="FILE", nargs="+", type=path, help=words)
    parser.set_defaults(run=_league)


def _league(options: argparse.Namespace) -> int:
    from dpol.config.experiment import load_experiment
    from dpol.config.league import write_league
    from dpol.core.schemas import write_frame
    from dpol.core.yaml_files import parse_yaml
    from dpol.experts.registry import make_members
    from dpol.report.door import read_crate
    from dpol.report.league import league_of_run
    from dpol.report.rows import refuse_to_send, write_rows
    from dpol.report.run import Run

    entry: Any = parse_yaml(options.name, "NAME")
    runs = []
    configs = [config_named(name, "--on CONFIG,...") for name in options.on.split(",")]
    for config in configs if options.write else ():  # before it plays
        refuse_to_send(load_experiment(config).config.dataset.private, str(config))
    for config in configs:
        league = Path(f"league-{config.stem}.yaml")
        run = write_league(config, entry, league)
        words = snakemake_words(league, ["--cores", options.cores])
        if code := subprocess.run(words, check=False).returncode:
            return code
        results = Path("results", run)
        mine = {member.label for member in make_members(entry)}
        runs.append(Run(results, read_crate(results)))
        ranked = league_of_run(runs[-1], options.rows or ())
        if options.rows:
            write_frame(ranked.standings.assign(run=run), f"league-{config.stem}/standings.parquet")
        for line in ranked.in_text(mine):
            print(printable(line))
        print(f"For a paper: {results}/tables/league.tex, league.csv and figures/league.pdf.")
        print(f"{league} is its config.")
    if options.write:
        about = {it: printable(getattr(options, it))[:200] for it in ("sender", "looked_at")}
        count = write_rows(runs, options.write, entry, {**about, "tried": options.tried})
        print(f"{options.write}: {count} rows, one for each stream, noise and level, with")
        print(
            "every choice in every replicate, the seed, a hash of the stream and the guarantee; no"
        )
        print("count, and no name of a place. Who has the table scores them with dpol league NAME")
        print(f"--on {options.on} --with {options.write}")
    return 0
