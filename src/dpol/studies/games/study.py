"""The main study: algorithms side by side on gain streams."""

from __future__ import annotations

from itertools import product

from dpol.experts.registry import make_members, modules_of
from dpol.noise import NO_NOISE, module_of_noise
from dpol.studies.games.points import GamePoint
from dpol.studies.games.settings import GamesSettings, Suite
from dpol.studies.study import Facts, PlanFacts, Point, Study

_SECONDS_OF_REPLICATE = 0.002
"""Expected seconds of one suite entry with 50 experts and 100 rounds; algorithms take 0.1 to 4
times as long (benchmarks/README.md)."""


def points(settings: GamesSettings, facts: PlanFacts) -> dict[str, Point[GamePoint]]:
    """Return a point for each stream, suite, noise and level."""
    by_label: dict[str, Point[GamePoint]] = {}
    modules = {
        name: [module for entry in suite.algorithms for module in modules_of(entry)]
        for name, suite in settings.suites.items()
    }
    for stream, (suite, noise, level) in product(facts.streams, runs_of(settings, facts)):
        algorithms = settings.suites[suite].algorithms
        by_label[f"{stream}/{suite}/{noise}/{level}"] = Point(
            settings=GamePoint(
                suite=tuple(algorithms),
                noise=noise,
                mu=facts.levels[level],
                replicates=facts.replicates,
                memory=settings.memory,
                keep_rounds=settings.keep_rounds,
            ),
            inputs={"stream": f"streams/{stream}.parquet"},
            code=(*modules[suite], module_of_noise(noise)),
            seconds=0.3 + _SECONDS_OF_REPLICATE * len(algorithms) * facts.replicates,
        )
    return by_label


def runs_of(settings: GamesSettings, facts: Facts) -> list[tuple[str, str, str]]:
    """Return (suite, noise, level) of each run; a suite without privacy runs without noise only."""
    return [
        (name, noise, level)
        for name, suite in settings.suites.items()
        for noise in noises_of(suite)
        for level, mu in facts.levels.items()
        if noise != NO_NOISE or mu == float("inf")
    ]


def noises_of(suite: Suite) -> list[str]:
    """Return the noises of a suite; its algorithms share one privacy model."""
    first, *_ = make_members(suite.algorithms[0])
    return [NO_NOISE] if first.algorithm.model == "none" else suite.noises


def not_asked(settings: GamesSettings, facts: Facts) -> frozenset[str]:
    """Return the names of the tables and figures that the settings do not ask for."""
    paper = settings.has_table_2(facts)
    asked = {
        "rounds": settings.keep_rounds,
        "table-2": paper,
        "figure-2": paper,
        "replay": facts.replayed,
        # Too many panels for a page.
        "cumulative": not facts.asks_several,
        "switches": not facts.asks_several,
    }
    return frozenset(name for name, is_asked in asked.items() if not is_asked)


STUDY = Study(
    name="games",
    title="Games",
    settings=GamesSettings,
    package="dpol.studies.games",
    results=("summary", "totals", "cumulative", "switches", "replay"),
    optional=not_asked,
    points=points,
    written=("scores", "curves", "rounds"),
)
