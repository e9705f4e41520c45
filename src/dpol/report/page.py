"""The page: every figure and table of a run, with answers first, in one file."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pandas as pd
import yaml

from dpol.config.experiment import parse_experiment
from dpol.config.models import Config
from dpol.core.files import write_text
from dpol.core.versions import recorded_versions
from dpol.core.words import HOLDS_RAW_COUNTS
from dpol.report.answers import Answer, answer_on_cost, answer_on_papers, answer_on_privacy
from dpol.report.costs import cost_table, shown_costs
from dpol.report.crate import write_crate
from dpol.report.data import cleaning_table, dropped_table, read_source, source_facts
from dpol.report.provenance import (
    Provenance,
    commit_of,
    read_stages,
    stage_table,
)
from dpol.report.reading import read_fragment, read_image, read_results, reading
from dpol.report.replay import period_of, replay_intro, replay_widget
from dpol.report.setting import choice_of, describe_setting
from dpol.show.pages import load_template
from dpol.show.table import Table, to_fragment
from dpol.studies.hospitals.gain_widget import gain_data, gain_widget
from dpol.studies.hospitals.sections import BEYOND, GAIN_OVER_TIME, NOISE_MEMORY, REPLAY
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
        files: texts of links to its files, and where they lead.
        widget: HTML of its interactive figure, which a script of the page brings to life.
        still: title of its pictures where they are folded below that figure.
    """

    key: str
    title: str
    intro: str
    pictures: tuple[tuple[FigureSpec, str, float], ...] = ()
    tables: tuple[str, ...] = ()
    folded: tuple[tuple[str, str], ...] = ()
    facts: tuple[tuple[str, str], ...] = ()
    code: tuple[str, str] | None = None
    files: tuple[tuple[str, str], ...] = ()
    widget: str = ""
    still: str = "All streams as one picture"


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
    benchmarks = [Path(it) for it in params.benchmarks]
    logs = [
        (folder / "logs" / it.relative_to(folder / "benchmarks")).with_suffix(".log")
        for it in benchmarks
        if it.is_file()  # of a table that was placed by hand, no job
    ]
    versions, unrecorded = recorded_versions(logs)
    provenance = Provenance(
        config_name=params.config_name,
        config_text=params.config_text,
        versions=versions,
        commit=commit_of(checkout),
        stages=read_stages(benchmarks, folder / "benchmarks"),
        codes=tuple(params.codes.items()),
        unrecorded=unrecorded,
    )
    config = parse_experiment(yaml.safe_load(params.config_text), params.config_name).config
    write_text(page, build_page(folder, config, provenance, checkout / "docs"))
    write_crate(folder, config, provenance, params.snakefile, [page, *files])


def build_page(
    folder: Path, config: Config, provenance: Provenance, docs: Path | None = None
) -> str:
    """The page of a run; equal files, config and provenance give an equal page.

    Args:
        folder: results/<run>.
        config: of the run; it says what the run has made.
        provenance: origin of the run, which its files do not tell.
        docs: the folder of the documentation; the page leads to what is there.

    Raises:
        DataError: a file of the run is missing, or is not what it should be.
    """
    titles = {label: stream.title or label for label, stream in config.streams.items()}
    results = read_results(folder, config)
    summary = results["summary"]
    costs = shown_costs(summary, config)
    (hospitals, settings), *studies = config.studies()
    first, *main = hospitals.sections_of(settings)
    parts = [_main_part(folder, section, config, results, titles) for section in main]
    if not costs.empty:
        place = sum(section not in (BEYOND, NOISE_MEMORY) for section in main)
        parts.insert(place, _cost_part(cost_table(costs, titles)))
    for study, block in studies:
        parts += [_part(folder, section, block) for section in study.sections_of(block)]
    parts += [_data_part(folder, config, titles), _provenance_part(config, provenance)]
    answers = [answer_on_cost(costs), answer_on_privacy(summary, results.get("audits"))]
    on_papers = _on_papers(results)
    return _rendered(
        config,
        parts,
        title=on_papers[0].question if on_papers else choice_of(config),
        lead=[*on_papers, *answers][0].found,
        first=_part(folder, first, settings),
        answers=[*on_papers, *answers],
        example=config.report.algorithms[0],
        setting=describe_setting(config, summary),
        manual=_manual(folder, docs),
    )


def _on_papers(results: Mapping[str, pd.DataFrame]) -> list[Answer]:
    """The answer on the papers; none where nothing can be compared with them."""
    summary, claims = results["summary"], results.get("claims")
    if claims is None and summary["reported_mean_gain"].isna().all():
        return []
    return [answer_on_papers(claims, summary, results["ranking"])]


def _main_part(
    folder: Path,
    section: Section,
    config: Config,
    results: Mapping[str, pd.DataFrame],
    titles: Mapping[str, str],
) -> Part:
    """A section of the main experiment, with its interactive figure if it has one."""
    part = _part(folder, section, config.hospitals)
    if section is GAIN_OVER_TIME:
        gains = gain_data(results, config.report, titles, list(config.privacy.levels.values()))
        return replace(part, widget=gain_widget(gains))
    if section is not REPLAY:
        return part
    replay, summary = results["replay"], results["summary"]
    period = period_of(config, replay)
    return replace(
        part,
        title=f"{period.capitalize()} by {period}",
        intro=replay_intro(replay, config, summary),
        widget=replay_widget(replay, config, summary),
        still=f"All {period}s at once",
    )


def _rendered(config: Config, parts: Sequence[Part], **opening: Any) -> str:
    """The page with its first screen, and all its parts."""
    replayed = any(it.key == REPLAY.name for it in parts)
    page, data = load_template("report.html.j2", "dpol.report"), config.dataset
    return page.render(
        run=config.run,
        parts=parts,
        replayed=replayed,
        simulated=data.simulated,
        warning=HOLDS_RAW_COUNTS if data.private else "",
        **opening,
    )


_MANUAL = {
    "glossary": "reference/glossary.md",
    "symbols": "reference/notation.md",
    "columns of the files": "reference/tables.md",
    "privacy": "explanation/privacy.md",
}


def _manual(folder: Path, docs: Path | None) -> list[tuple[str, str]]:
    """Links to the pages of the documentation that are there."""
    if docs is None:
        return []
    home = (folder / "report").resolve()
    found = {text: docs.resolve() / name for text, name in _MANUAL.items()}
    return [
        (text, quote(os.path.relpath(path, home))) for text, path in found.items() if path.is_file()
    ]


def _part(folder: Path, section: Section, settings: Any) -> Part:
    """A section; under figures its tables are folded, as are tables that always are."""
    figures = section.figures(settings)
    shown, folded = [], []
    for it in section.tables:
        table = read_fragment(folder / f"tables/{it.name}.fragment.html")
        if figures or it.folded:
            folded.append((it.title, table))
        else:
            shown.append(table)
    return Part(
        section.name,
        section.title,
        section.about,
        tuple((it, *read_image(folder / f"figures/{it.name}.svg")) for it in figures),
        tuple(shown),
        tuple(folded),
        files=_files(section, figures),
    )


def _files(section: Section, figures: Sequence[FigureSpec]) -> tuple[tuple[str, str], ...]:
    """The files that a section is made of: figures, tables, and the numbers behind them."""
    names = [f"figures/{it.name}.{kind}" for it in figures for kind in ("svg", "pdf")]
    names += [f"tables/{it.name}.{kind}" for it in section.tables for kind in ("csv", "html")]
    names += [f"{name}.parquet" for name in section.results]
    return tuple((Path(name).name, f"../{name}") for name in names)


def _cost_part(table: Table) -> Part:
    intro = "How much an algorithm loses when its inputs have noise, compared with itself without."
    files = (("summary.parquet", "../summary.parquet"),)
    return Part("noise-costs", "What noise costs", intro, tables=(to_fragment(table),), files=files)


def _data_part(folder: Path, config: Config, titles: Mapping[str, str]) -> Part:
    """The part on the origin of the data and on cleaning; a table of gains is not cleaned."""
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
        folded=tuple((it.caption, to_fragment(it)) for it in (counts, dropped) if it),
        files=(("cleaning.json", "../data/cleaning.json"), ("panel", "../data/panel.parquet")),
        facts=facts,
    )


def _provenance_part(config: Config, provenance: Provenance) -> Part:
    facts = [("run", config.run), ("seed", str(config.seed))]
    facts.append(("versions", provenance.described()))
    if provenance.commit:
        facts.append(("commit when this page was made", provenance.commit))
    timed, stages = not provenance.stages.empty, stage_table(provenance.stages)
    return Part(
        "provenance",
        "Provenance",
        "Everything you need to make this page again. The same versions, config, seed and data give"
        " the same numbers on any number of cores.",
        folded=((stages.caption, to_fragment(stages)),) if timed else (),
        facts=tuple(facts),
        code=(f"Config: {provenance.config_name}", provenance.config_text),
    )
