"""Follow one cell of Table 2 from the raw table: the files of dpol that run, by stage.

    python tools/way_of_a_number.py results/central-texas

In a clone with a finished default run. Takes RW-Meta with isotropic noise at mu = 0.25 through
cleaning, stream and game, then makes the result tables and Table 2 of the run. Prints the number of
files in which a function was called, and how often the way went from one file to another.
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pandas as pd
import yaml

import dpol.plan
from dpol.data.cleaning import clean_table
from dpol.data.panel import provenance_of_stream
from dpol.data.stream import build_stream, write_stream
from dpol.show.rendering import write_table
from dpol.studies.games.collect import collect
from dpol.studies.games.settings import GamePoint
from dpol.studies.jobs import write_points
from dpol.studies.paper1.table_2 import table_2
from dpol.studies.study import Inputs, Job

CONFIG = Path("config/config.yaml")
SOURCE = str(Path(dpol.plan.__file__).parent)
STREAM = "CTX"
CELL = GamePoint(
    suite="local",
    algorithms=("rw-meta",),
    noise="isotropic",
    mu=0.25,
    block=(0, 2),
    memory="designed",
    keep_rounds=False,
)


class Way:
    """Counts of calls by stage and file, and of moves from file to file by stage."""

    def __init__(self) -> None:
        self.calls: dict[str, Counter[str]] = defaultdict(Counter)
        self.moves: Counter[str] = Counter()

    def follow(self, stage: str, step: Callable[..., Any], *arguments: Any) -> Any:
        """Run a step, and count its calls."""
        last = ""

        def profile(frame: Any, event: str, _: object) -> None:
            nonlocal last
            code = frame.f_code
            if (
                event == "call"
                and code.co_filename.startswith(SOURCE)
                and code.co_name != "<module>"
            ):
                self.calls[stage][code.co_filename] += 1
                self.moves[stage] += code.co_filename != last
                last = code.co_filename

        sys.setprofile(profile)
        try:
            return step(*arguments)
        finally:
            sys.setprofile(None)


def main(run: Path) -> None:
    """Follow the cell, and print the files of each stage."""
    way, raw = Way(), yaml.safe_load(CONFIG.read_text(encoding="utf-8"))
    plan = way.follow("plan", dpol.plan.make_plan, raw, [CONFIG])
    config, games = plan.config, plan.studies[0][1]
    dataset = config.dataset.as_local(config.raw_file)
    table = config.raw_file, dataset, config.streams, [*config.gains.values()]
    panel, report = way.follow("clean", clean_table, *table)
    scores = sorted(map(str, run.glob("games/**/scores.parquet")))
    files = {
        "stream": [str(run / f"streams/{STREAM}.parquet")],
        "scores": scores,
        "curves": [name.replace("scores.parquet", "curves.parquet") for name in scores],
    }
    with TemporaryDirectory() as made:
        folder = Path(made)
        of_stream = panel.table, STREAM, 1.0, provenance_of_stream(report, STREAM)
        write_stream(way.follow("stream", build_stream, *of_stream), folder / "stream.parquet")
        inputs = Inputs(
            seed=config.seed, memory_mb=1500, files={"stream": folder / "stream.parquet"}
        )
        written = {name: folder / f"{name}.parquet" for name in ("scores", "curves")}
        game = "dpol.studies.games", Job(points=(CELL,)).plain, inputs, written
        way.follow("game", write_points, *game)
        frames = way.follow("results", collect, files, games, config.facts)
        frames["standings"] = pd.read_parquet(run / "standings.parquet")  # for columns beside
        made_table = way.follow("table", table_2, frames, config.facts)
        way.follow("table", write_table, made_table, folder / "t.md", folder / "t.csv")
    for stage, calls in way.calls.items():
        print(f"{stage:8} {len(calls):3} files, {way.moves[stage]:6,} moves from file to file")
    whole = {file for stage, calls in way.calls.items() if stage != "plan" for file in calls}
    print(f"together {len(whole)} files; with the plan {len(whole | {*way.calls['plan']})}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
