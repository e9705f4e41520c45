"""The study of robustness: games on other data than those measured, and by other readings."""

from __future__ import annotations

from itertools import chain, product
from typing import Any

from dpol.studies.robustness.settings import TREATMENTS, Robustness, RobustnessPoint
from dpol.studies.study import Facts, Job, Study


def jobs(settings: Robustness, facts: Facts) -> dict[str, Job[RobustnessPoint]]:
    """Return a job for each level, treatment and reading, or kind of data."""
    made: dict[str, Job[RobustnessPoint]] = {}
    modules = dict.fromkeys(chain(*(suite.modules for suite in settings.suites.values())))

    def add(block: str, *place: str, **at: Any) -> None:
        kept = {name: getattr(settings, name) for name in ("ours", "suites", block)}
        alone = Robustness(**kept)
        point = RobustnessPoint(settings=alone, confidence=facts.confidence, **at)
        made["/".join([block, *filter(None, place)])] = Job(points=(point,), code=tuple(modules))

    if settings.worlds:
        for mu in settings.worlds.mus:
            add("worlds", f"mu-{mu:g}", mu=mu)
    if settings.fillings:
        for of, read_as in product(TREATMENTS, settings.fillings.read_as):
            add("fillings", f"{of}-{read_as:g}", of=of, read_as=read_as)
    if settings.zeros:
        for (of, table), mu in product(settings.zeros.tables.items(), settings.zeros.mus):
            for question in table.gains:
                add("zeros", of, question, f"mu-{mu:g}", of=of, question=question, mu=mu)
    return made


def not_asked(settings: Robustness, facts: Facts) -> frozenset[str]:
    """Return the names of the result tables that the settings do not ask for."""
    return frozenset(name for name in STUDY.results if getattr(settings, name) is None)


STUDY = Study(
    name="robustness",
    title="What results depend on",
    settings=Robustness,
    package="dpol.studies.robustness",
    results=("worlds", "fillings", "zeros"),
    optional=not_asked,
    jobs=jobs,
)
