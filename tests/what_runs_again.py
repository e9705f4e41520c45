"""Measure the table of docs/explanation/what-runs-again.md, and write it.

    python tests/what_runs_again.py

The table compares the files of the jobs that Snakemake would run, after a finished run of
config/config.yaml and a change of its config. Of config/states.yaml it compares the plans.
"""

from __future__ import annotations

import copy
import math
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from dpol.experts.registry import make_members
from dpol.experts.suites import by_label
from dpol.plan import make_plan
from dpol.privacy.settings import label_of_level

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs/explanation/what-runs-again.md"
MARKED = re.compile(
    r"(<!-- dry runs: made by tests/what_runs_again.py -->\n).*?(<!-- /dry runs -->)", re.DOTALL
)
COMMAND = [sys.executable, "-m", "snakemake", "--snakefile", str(ROOT / "Snakefile")]
DEFAULT_RUN = [*COMMAND, "--configfile", str(ROOT / "config/config.yaml"), "--cores", "2"]
Config = dict[str, Any]

MINE: Config = {"mine": {"algorithms": [{"algorithm": "rw-ftpl", "label": "mine"}]}}
"""A suite that no shipped config has."""


@dataclass(frozen=True, kw_only=True)
class Change:
    """A change of a config.

    Args:
        words: what changes.
        change: takes a config, which it may change, and returns the other one.
        is_new: takes the stream, level, suite and block of a place, and whether its suite is the
            first; returns whether the place holds games that were not played.
    """

    words: str
    change: Callable[[Config], Config]
    is_new: Callable[..., bool] = lambda place, first: False


def with_levels(config: Config, change: Callable[[list[float]], list[float]]) -> Config:
    levels = change(config["privacy"]["levels"])
    return config | {"privacy": config["privacy"] | {"levels": levels}}


def with_suites(config: Config, change: Callable[[Config], Config]) -> Config:
    return config | {"suites": change(config["suites"])}


def turned(block: Config) -> Config:
    return dict(reversed(block.items()))


def longer(suites: Config) -> Config:
    first, *_ = suites.values()
    first["algorithms"] = [*first["algorithms"], *MINE["mine"]["algorithms"]]
    return suites


def titled(config: Config) -> Config:
    first, *_ = config["streams"].values()
    first["title"] = "Another title"
    return config


CHANGES = (
    Change(
        words="a privacy level more, at the end",
        change=lambda config: with_levels(config, lambda levels: [*levels, 2]),
        is_new=lambda place, first: place[1] == "mu-2",
    ),
    Change(
        words="a privacy level more, at the beginning",
        change=lambda config: with_levels(config, lambda levels: [2, *levels]),
        is_new=lambda place, first: place[1] == "mu-2",
    ),
    Change(
        words="the last level less",
        change=lambda config: with_levels(config, lambda levels: levels[:-1]),
    ),
    Change(
        words="the levels in another order",
        change=lambda config: with_levels(config, lambda levels: levels[::-1]),
    ),
    Change(
        words="a suite more, at the end",
        change=lambda config: with_suites(config, lambda suites: suites | MINE),
        is_new=lambda place, first: place[2] == "mine",
    ),
    Change(
        words="a suite more, at the beginning",
        change=lambda config: with_suites(config, lambda suites: MINE | suites),
        is_new=lambda place, first: place[2] == "mine",
    ),
    Change(
        words="the suite `central` less",
        change=lambda config: with_suites(
            config, lambda suites: {it: own for it, own in suites.items() if it != "central"}
        ),
    ),
    Change(
        words="the suites in another order",
        change=lambda config: with_suites(config, turned),
    ),
    Change(
        words="an algorithm more in the first suite",
        change=lambda config: with_suites(config, longer),
        is_new=lambda place, first: place[2] == first,
    ),
    Change(
        words="200 replicates for 100",
        change=lambda config: config | {"replicates": 200},
        is_new=lambda place, first: place[3] == "100-199",
    ),
    Change(words="another title of a stream", change=titled),
    Change(
        words="another `privacy.delta`",
        change=lambda config: config | {"privacy": config["privacy"] | {"delta": 1e-5}},
    ),
)


def labels_in(config: Config) -> set[str]:
    """Return the labels of the entries of the suites."""
    entries = [entry for suite in config["suites"].values() for entry in suite["algorithms"]]
    return {member.label for entry in entries for member in make_members(entry)}


def changed(config: Config, change: Change) -> Config:
    """Return a changed config; its report names no algorithm that is gone."""
    after = change.change(copy.deepcopy(config))
    gone = labels_in(config) - labels_in(after)
    if gone and "algorithms" in config.get("report", {}):
        named = [it for it in config["report"]["algorithms"] if it not in gone]
        after |= {"report": config["report"] | {"algorithms": named}}
    return after


def grid(config: Config) -> list[tuple[str, str, str, str]]:
    """Return stream, level, suite and block of each place of games, by the words of a config."""
    questions = [f"-{it}" for it in config.get("questions", ())] or [""]
    blocks = {100: ["0-99"], 200: ["0-99", "100-199"]}[config["replicates"]]
    return [
        (f"{stream}{question}", label_of_level(mu), suite, block)
        for stream in config["streams"]
        for question in questions
        for mu in config["privacy"]["levels"]
        for suite in config["suites"]
        for block in blocks
        if suite != "non-private" or mu == math.inf
    ]


def new_games(config: Config, change: Change) -> set[str]:
    """Return the places of games, STREAM/LEVEL/SUITE/BLOCK, that hold games not yet played."""
    after = changed(config, change)
    first = next(iter(config["suites"]))
    return {"/".join(place) for place in grid(after) if change.is_new(place, first)}


def differing_games(config: Config, change: Change) -> set[str]:
    """Return the places of games whose jobs differ by the plans."""
    plans = [make_plan(it, [], "before and after") for it in (config, changed(config, change))]
    before, after = (plan.jobs["games"] for plan in plans)
    return {place for place in after if before.get(place) != after[place]}


def pending(folder: Path, config: Config) -> list[str]:
    """Return the files of jobs that Snakemake would run, below results/RUN, for a config.

    Args:
        folder: has a finished run.
        config: the config of the run, changed.
    """
    file = folder / "changed.yaml"
    file.write_text(yaml.safe_dump(config, sort_keys=False))
    said = subprocess.run(
        [*COMMAND, "--directory", str(folder), "--configfile", str(file), "--summary"],
        capture_output=True,
        text=True,
        check=True,
    )
    rows = [line.split("\t") for line in said.stdout.splitlines()[1:]]
    run = f"results/{config['run']}/"
    return [file.removeprefix(run) for file, *_, plan in rows if plan != "no update"]


def games_in(files: list[str]) -> set[str]:
    """Return the places of games among files."""
    return {it[len("games/") :].rpartition("/")[0] for it in files if it.startswith("games/")}


def tables_in(files: list[str]) -> list[str]:
    """Return the names of result tables among files."""
    return sorted(it.removesuffix(".parquet") for it in files if "/" not in it and "parquet" in it)


def exhibits_in(files: list[str]) -> set[str]:
    """Return the names of figures and tables among files."""
    return {it.partition(".")[0] for it in files if it.startswith(("figures/", "tables/"))}


def row(change: Change, files: list[str], config: Config, states: Config) -> str:
    """Return the line of a change: what Snakemake would make again."""
    count = len(grid(changed(config, change)))
    by_plan = f"{len(differing_games(states, change)):,} of {len(grid(changed(states, change))):,}"
    tables = ", ".join(f"`{it}`" for it in tables_in(files)) or "none"
    played = f"{len(games_in(files))} of {count}"
    return f"| {change.words} | {played} | {tables} | {len(exhibits_in(files))} | {by_plan} |"


def table(rows: Mapping[str, list[str]], config: Config, states: Config) -> str:
    """Return the table of the page.

    Args:
        rows: what `pending` returns for each change, by its words.
        config: config/config.yaml.
        states: config/states.yaml.
    """
    header = (
        "| What changes | Jobs of games that run, `config.yaml`"
        " | Result tables that are made again | Exhibits drawn again"
        " | Jobs of games, `states.yaml` |\n|---|---:|---|---:|---:|"
    )
    lines = (row(it, rows[it.words], config, states) for it in CHANGES)
    read = sum("@" in place for place in make_plan(states, [], "states").jobs["comparison"])
    after = f"Whenever `standings` is made again, so are the {read} readings of `states.yaml`."
    return "\n".join([header, *lines, "", after]) + "\n"


def shipped(name: str) -> Config:
    """Return a config that comes with dpol, its suites written out."""
    config: Config = yaml.safe_load((ROOT / f"config/{name}.yaml").read_text())
    return copy.deepcopy(config | {"suites": by_label(config["suites"])})


def main() -> None:
    config, states = shipped("config"), shipped("states")
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([*DEFAULT_RUN, "--directory", folder], check=True)
        rows = {it.words: pending(Path(folder), changed(config, it)) for it in CHANGES}
    page = PAGE.read_text()
    PAGE.write_text(
        MARKED.sub(lambda mark: f"{mark[1]}{table(rows, config, states)}{mark[2]}", page)
    )


if __name__ == "__main__":
    main()
