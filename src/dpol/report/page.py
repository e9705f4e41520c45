"""Report page of a run: a lead of short sentences, then every figure and table, in one file."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from inspect import getsourcelines
from pathlib import Path
from typing import Any

import yaml

from dpol.config.experiment import parse_experiment
from dpol.config.models import Config
from dpol.core.files import write_json, write_text
from dpol.data.stream import HOLDS, warning_of
from dpol.report.crate import WORKFLOW, build_crate
from dpol.report.door import CONFIG, CRATE, RunFiles, read_fragment, read_image
from dpol.report.lead import Answer, answer_of, game_of
from dpol.report.parts import (
    Params,
    Part,
    Provenance,
    Shown,
    data_part,
    provenance_of,
    provenance_part,
    read_source,
)
from dpol.report.widgets import answer_widget, replay_widget
from dpol.reruns.notes import checksums, made_as_asked
from dpol.show.rendering import load_template
from dpol.show.words import ARXIV, DISTRIBUTIONS, EXPERTS, LAZY, cited
from dpol.studies.paper1.table_2 import verdict
from dpol.studies.showing import frames_of
from dpol.studies.study import Frames, Section


def write_report(
    page: Path,
    params: Params,
    *,
    files: Iterable[str],
    logs: Path,
    checkout: Path,
    jobs: Mapping[str, str],
) -> None:
    """Write the page of a run and its crate.

    Args:
        page: results/<run>/report/index.html.
        params: facts from the workflow.
        files: the other files of the run.
        logs: results/<run>/logs; with remote storage it is not next to the page.
        checkout: folder whose commit the page shows.
        jobs: digest of what each job was asked that made them, by name.

    Raises:
        DataError: a file of the run is missing or invalid.
    """
    folder = page.parents[1]
    there = RunFiles(folder=folder, files=checksums(folder, files))
    made = made_as_asked(logs.parent, jobs).values()
    config = parse_experiment(yaml.safe_load(params.config_text), params.config_name).config
    provenance = provenance_of(params, made, checkout)
    read = "standings", "summary", "totals", *["cumulative"] * (not config.facts.asks_several)
    frames = _frames(there, "dpol.studies.comparison", read)
    found = verdict(frames, config.facts) if config.games.has_table_2(config.facts) else None
    answer = answer_of(frames, config.facts, config, found)
    write_text(page, build_page(there, config, provenance, answer))
    write_text(folder / WORKFLOW, params.snakefile)
    write_text(folder / CONFIG, params.config_text)
    outputs = {**checksums(folder, [page]), **there.files}
    write_json(folder / CRATE, build_crate(folder, config, provenance, outputs, answer.lines))


def build_page(files: RunFiles, config: Config, provenance: Provenance, answer: Answer) -> str:
    """Build the page of a run; equal files, config, provenance and answer give an equal page.

    Args:
        files: files of the run.
        config: config of the run, which determines its results.
        provenance: sources of the run that its files do not tell.
        answer: what `answer_of` returns for it.

    Raises:
        DataError: a file of the run is missing or invalid.
    """
    facts = config.facts
    interactive = {
        "privacy-utility": ("answer", partial(answer_widget, facts=facts)),
        "replay": ("replay", partial(replay_widget, facts=facts, config=config, led=answer.led)),
    }
    titles = _titles(config.dataset.period)
    chapters: dict[str, list[Part]] = {key: [] for key in titles}
    widgets = dict[str, str]()
    for study, settings in config.studies():
        tables = study.results_of(settings, facts)
        for section in study.sections_of(settings, facts):
            titled = replace(section, title=section.title or study.title)
            part = _part(files, titled)
            if section.name in interactive:
                name, draw = interactive[section.name]
                read, changes = draw(_frames(files, study.package, tables))
                part, widgets[name] = replace(part, **changes), _json(read)
            chapters[section.chapter].append(part)
    if not facts.replayed:
        why = "It shows every count, so private tables have none unless report.replay is true."
        chapters["replay"].append(Part(key="replay", title="Not shown", intro=why))
    source = read_source(files, config)
    chapters["data"].append(data_part(files, config.dataset, source, shown=facts.replayed))
    chapters["origin"].append(provenance_part(config, provenance))
    return load_template("report.html.j2", "dpol.report").render(
        verdict=answer.verdict,
        game=game_of(config),
        lead=answer.texts[answer.first],
        leads=_json(answer.texts),
        run=config.run,
        chapters={key: parts for key, parts in chapters.items() if parts},
        titles=titles,
        papers=_PAPERS,
        widgets=widgets,
        simulated=facts.simulated,
        titled=config.report.titles,
        warning=warning_of(config.dataset.private, HOLDS),
    )


def _frames(files: RunFiles, package: str, names: Iterable[str]) -> Frames:
    return frames_of(package, {it: files.file(f"{it}.parquet") for it in names})


def _titles(period: str) -> dict[str, str]:
    """Return the titles of all chapters, by key, in their order."""
    return {
        "answer": "What privacy costs",
        "paper1": "First paper",
        "paper2": "Second paper",
        "paper3": "Third paper",
        "beyond": "All systems",
        "replay": f"{period.capitalize()} by {period}",
        "privacy": "Is it private?",
        "claims": "What the papers state, checked",
        "data": "Data",
        "origin": "Provenance",
    }


_PAPERS = {
    key: {cited(title): f"https://arxiv.org/abs/{ARXIV[title]}"}
    for key, title in (("paper1", EXPERTS), ("paper2", LAZY), ("paper3", DISTRIBUTIONS))
}
"""The paper of a chapter, and its address."""


def _json(data: Any) -> str:
    """Write values for a script; no text of theirs may end its element."""
    return json.dumps(data, separators=(",", ":"), ensure_ascii=False).replace("<", "\\u003c")


LONGEST_TABLE = 60
"""Number of rows above which a table is folded."""


def _part(files: RunFiles, section: Section) -> Part:
    """Build a section. Tables below figures and long tables are folded."""
    results = {f"{name}.parquet": f"../{name}.parquet" for name in section.results}
    shown: dict[str, list[Shown]] = {place: [] for place in ("first", "seen", "folded")}
    for spec in section.tables:
        stem = f"tables/{spec.name}"
        made = _files(stem, ("csv", "tex")) | results | _code(spec.function)
        table = read_fragment(files.file(f"{stem}.html"))
        place = spec.place or ("folded" if section.figures else "seen")
        place = "folded" if table.count("<tr") > LONGEST_TABLE else place
        shown[place].append((spec.title, table, made))
    return Part(
        key=section.name,
        title=section.title,
        intro=section.about,
        first=shown["first"],
        pictures=[
            (
                it,
                read_image(files.file(f"figures/{it.name}.svg")),
                read_image(files.file(f"figures/{it.name}-narrow.svg"))[0] if it.narrow else "",
                results | _code(it.function) | _files(f"figures/{it.name}", ("png", "pdf", "svg")),
            )
            for it in section.figures
        ],
        tables=shown["seen"],
        folded=shown["folded"],
        files={} if section.made else results,
    )


def _files(stem: str, kinds: Iterable[str]) -> dict[str, str]:
    return {kind.upper(): f"../{stem}.{kind}" for kind in kinds}


def _code(function: Callable[..., Any]) -> dict[str, str]:
    """Return the place of a function, as editors open it; it has no address."""
    return {f"src/{function.__module__.replace('.', '/')}.py:{getsourcelines(function)[1]}": ""}
