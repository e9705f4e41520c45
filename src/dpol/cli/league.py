"""`dpol league`: an algorithm of yours among all others, on data that come with dpol."""

from __future__ import annotations

import argparse
import itertools
import subprocess
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from dpol.cli.pipeline import config_named, snakemake_words
from dpol.core.options import Commands, add_command
from dpol.core.rounding import percent
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
    parser.set_defaults(run=_league)


def _league(options: argparse.Namespace) -> int:
    from dpol.config.league import write_league
    from dpol.core.yaml_files import parse_yaml
    from dpol.experts.registry import make_members
    from dpol.report.record import read_record

    entry: Any = parse_yaml(options.name, "NAME")
    configs = [config_named(name, "--on CONFIG,...") for name in options.on.split(",")]
    for config in configs:
        league = Path(f"league-{config.stem}.yaml")
        run = write_league(config, entry, league)
        words = snakemake_words(league, ["--cores", options.cores])
        if code := subprocess.run(words, check=False).returncode:
            return code
        results = Path("results", run)
        mine = {member.label for member in make_members(entry)}
        for line in _in_text(read_record(results).file("standings.parquet"), mine):
            print(printable(line))
        print(f"For a paper: {results}/tables/league.tex, league.csv and figures/league.pdf.")
        print(f"{league} is its config.")
    return 0


def _in_text(standings: Path, mine: Collection[str]) -> Iterator[str]:
    """Yield the lines of a league: a block for each question or stream and promise.

    `mine` are the labels of the reader's algorithms.
    """
    import pandas as pd

    from dpol.show.words import mu_title
    from dpol.studies.answer.league import PROMISES
    from dpol.studies.answer.systems import system_title

    rows = pd.read_parquet(standings).dropna(subset="gain_share")
    rows = rows.sort_values(["mu", "gain_share"], ascending=[True, False], kind="stable")
    rows["data"] = rows["stream"].mask(rows["stream"] == "", rows["question"])
    yield "What each system keeps of the possible gain, and its rank among those with the same"
    yield "promise. A star marks each row of your algorithm."
    for data, promise in itertools.product(rows["data"].unique(), PROMISES):
        cells = dict[str, dict[str, str]]()
        own = rows[(rows["data"] == data) & (rows["promise"] == promise)]
        for row in own.to_dict("records"):
            name = "* " * (row["algorithm"] in mine) + system_title(row["algorithm"], row["noise"])
            kept = f"{percent(row['gain_share'], 1)} ({row['rank']})"
            cells.setdefault(mu_title(row["mu"]), {})[name] = kept
        if cells:
            yield from ("", f"{data or 'all streams'}: {PROMISES[promise]}")
            yield from pd.DataFrame(cells).iloc[:, ::-1].fillna("").to_string().splitlines()
