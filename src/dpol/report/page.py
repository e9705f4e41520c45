"""The page: every figure and table of a run, with answers first, in one file."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from dpol.config.experiment import parse_experiment
from dpol.config.models import Config
from dpol.core.files import write_text
from dpol.data.settings import ReleasedSource
from dpol.report.answers import Answer, answer_on_cost, answer_on_papers, answer_on_privacy
from dpol.report.costs import cost_table, shown_costs
from dpol.report.crate import write_crate
from dpol.report.data import cleaning_table, dropped_table, read_source, source_facts
from dpol.report.provenance import (
    Provenance,
    commit_of,
    installed_versions,
    read_stages,
    stage_table,
)
from dpol.report.reading import read_fragment, read_image, read_results, reading
from dpol.report.setting import describe_setting
from dpol.show.pages import load_template
from dpol.show.table import Table, to_fragment
from dpol.studies.hospitals.sections import BEYOND, sections_of
from dpol.studies.released import NO_TRUTH
from dpol.studies.study import FigureSpec, Section


@dataclass(frozen=True)
class Part:
    """A section of the page, with its contents.

    Args:
        key: its anchor.
        title: its heading.
        intro: its first paragraph.
        pictures: its figures, each with its image as base64 and its width in points.
        tables: its tables as HTML.
        folded: captions and tables that only those see who open them.
        facts: terms and texts, if it has any.
        code: a title and a text that is shown as it is.
    """

    key: str
    title: str
    intro: str
    pictures: tuple[tuple[FigureSpec, str, float], ...] = ()
    tables: tuple[str, ...] = ()
    folded: tuple[tuple[str, str], ...] = ()
    facts: tuple[tuple[str, str], ...] = ()
    code: tuple[str, str] | None = None


def write_report(page: Path, params: Any, *, files: Iterable[Path], checkout: Path) -> None:
    """Write the page of a run, and its crate.

    Args:
        page: results/<run>/report/index.html.
        params: name and text of the config, text of the Snakefile, hashes of code, and the
            benchmarks of the jobs.
        files: other outputs of the run, for the crate.
        checkout: the folder whose commit the page shows.

    Raises:
        DataError: a file of the run is missing, or is not what it should be.
    """
    folder = page.parents[1]
    provenance = Provenance(
        config_name=params.config_name,
        config_text=params.config_text,
        versions=installed_versions(),
        commit=commit_of(checkout),
        stages=read_stages(map(Path, params.benchmarks), folder / "benchmarks"),
        codes=tuple(params.codes.items()),
    )
    config = parse_experiment(yaml.safe_load(params.config_text), params.config_name).config
    write_text(page, build_page(folder, config, provenance))
    write_crate(folder, config, provenance, params.snakefile, [page, *files])


def build_page(folder: Path, config: Config, provenance: Provenance) -> str:
    """The page of a run; equal files, config and provenance give an equal page.

    Args:
        folder: results/<run>.
        config: of the run; it says what the run has made.
        provenance: from what the page is made beside the files.

    Raises:
        DataError: a file of the run is missing, or is not what it should be.
    """
    if config.dataset.source.kind == "released":
        return _rendered(config, provenance, NO_TRUTH, _released_parts(folder, config))
    titles = {label: stream.title or label for label, stream in config.streams.items()}
    results = read_results(folder, config)
    summary = results["summary"]
    costs = shown_costs(summary, config)
    main = sections_of(config.report, config.comparison)
    parts = [_part(folder, section, None) for section in main]
    if not costs.empty:
        place = len(main) - (BEYOND in main)
        parts.insert(place, _cost_part(cost_table(costs, titles)))
    parts += [_part(folder, study, block) for study, block in config.studies()]
    parts.append(_data_part(folder, config, titles))
    answers = (
        answer_on_papers(results.get("claims"), summary, results["ranking"]),
        answer_on_privacy(summary, results.get("audits")),
        answer_on_cost(costs),
    )
    setting = describe_setting(config, summary)
    return _rendered(config, provenance, _LEAD, parts, answers=answers, setting=setting)


def _rendered(
    config: Config,
    provenance: Provenance,
    lead: str,
    parts: Sequence[Part],
    *,
    answers: Sequence[Answer] = (),
    setting: Sequence[str] = (),
) -> str:
    """The page with its first sentence, and all its parts."""
    return load_template("report.html.j2", "dpol.report").render(
        run=config.run,
        simulated=config.dataset.simulated,
        lead=lead,
        parts=[*parts, _provenance_part(config, provenance)],
        answers=answers,
        setting=setting,
    )


_LEAD = (
    "Differentially private online learning: the experiments, their results, and a comparison with"
    " what the papers report."
)


def _released_parts(folder: Path, config: Config) -> list[Part]:
    """The parts of a run on released numbers, the studies that play them first."""
    studies = sorted(config.studies(), key=lambda it: it[0].name != "released")
    source = config.dataset.source
    facts = source_facts(read_source(folder, config))
    if isinstance(source, ReleasedSource):
        facts += (("deployment", Path(source.deployment).name),)
    intro = (
        "These numbers were released with noise and are used as they are. Every row was checked."
    )
    data = Part("data", "Data", intro, facts=facts)
    return [*(_part(folder, study, block) for study, block in studies), data]


def _part(folder: Path, section: Section, settings: Any) -> Part:
    figures = section.figures(settings)
    return Part(
        section.name,
        section.title,
        section.about,
        tuple((it, *read_image(folder / f"figures/{it.name}.svg")) for it in figures),
        tuple(read_fragment(folder / f"tables/{it.name}.fragment.html") for it in section.tables),
    )


def _cost_part(table: Table) -> Part:
    intro = "How much an algorithm loses when its inputs have noise, compared with itself without."
    return Part("noise-costs", "What noise costs", intro, tables=(to_fragment(table),))


def _data_part(folder: Path, config: Config, titles: Mapping[str, str]) -> Part:
    """Where the data came from, and what cleaning did; a table of gains is taken as it is."""
    facts = source_facts(read_source(folder, config))
    if config.dataset.source.kind == "gains":
        intro = "The table of gains was used as it is. Nothing was cleaned."
        return Part("data", "Data", intro, facts=facts)
    path = folder / "data/cleaning.json"
    with reading(path):
        cleaning = json.loads(path.read_text(encoding="utf-8"))
        counts, dropped = cleaning_table(cleaning, titles), dropped_table(cleaning, titles)
    return Part(
        "data",
        "Data and cleaning",
        "Where the data came from, and how many cells each cleaning rule changed.",
        tables=(to_fragment(counts),),
        folded=((dropped.caption, to_fragment(dropped)),) if dropped else (),
        facts=facts,
    )


def _provenance_part(config: Config, provenance: Provenance) -> Part:
    versions = ", ".join(f"{name} {version}" for name, version in provenance.versions)
    facts = [("run", config.run), ("seed", str(config.seed)), ("versions", versions)]
    if provenance.commit:
        facts.append(("commit when this page was made", provenance.commit))
    timed = not provenance.stages.empty
    return Part(
        "provenance",
        "Provenance",
        "Everything you need to make this page again. The same versions, config, seed and data give"
        " the same numbers on any number of cores.",
        tables=(to_fragment(stage_table(provenance.stages)),) if timed else (),
        facts=tuple(facts),
        code=(f"Config: {provenance.config_name}", provenance.config_text),
    )
