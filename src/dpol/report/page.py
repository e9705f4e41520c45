"""Report page of a run: a lead of short sentences, then every figure and table, in one file."""

from __future__ import annotations

import html
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from inspect import getsourcelines
from pathlib import Path
from typing import Any

import yaml

from dpol.config.experiment import parse_experiment
from dpol.config.models import Config
from dpol.core.files import read_json, write_json, write_text
from dpol.core.schemas import readable
from dpol.data.cleaning import IDLE, ZERO_WOULD_BE_BEST, rows_read_of
from dpol.data.settings import Dataset
from dpol.data.stream import HOLDS, warning_of
from dpol.report.crate import (
    WORKFLOW,
    Provenance,
    build_crate,
    commit_of,
    read_source,
    source_facts,
    versions_of,
)
from dpol.report.door import CONFIG, CRATE, RunFiles, read_fragment, read_image
from dpol.report.lead import Answer, answer_of, game_of
from dpol.report.widgets import answer_widget, replay_widget
from dpol.reruns.notes import checksums, made_as_asked
from dpol.show.rendering import load_template
from dpol.show.words import ARXIV, DISTRIBUTIONS, EXPERTS, LAZY, cited
from dpol.studies.paper1.table_2 import verdict
from dpol.studies.showing import frames_of
from dpol.studies.study import Exhibit, Frames, Section

Links = Mapping[str, str]
"""Addresses by their texts; code has none."""
Shown = tuple[str, str, Links]
"""A table on the page: its title, its HTML, and links to its files and its code."""
Picture = tuple[Exhibit, tuple[str, float, str], Links]
"""A figure on the page: its words; its image, from `dpol.report.door.read_image`; and links to its
files and its code."""


@dataclass(frozen=True, kw_only=True)
class Part:
    """Section of a chapter.

    Args:
        key: anchor.
        title: heading.
        intro: first paragraph.
        first: the tables above the figures.
        pictures: figures, in their order.
        tables: the tables below them.
        folded: tables that are folded.
        facts: terms and texts.
        verbatim: titles of texts, and the texts.
        files: links to its files.
        widget: HTML of its interactive figure, which a script of the page draws.
    """

    key: str
    title: str
    intro: str
    first: Sequence[Shown] = ()
    pictures: Sequence[Picture] = ()
    tables: Sequence[Shown] = ()
    folded: Sequence[Shown] = ()
    facts: tuple[tuple[str, str], ...] = ()
    verbatim: tuple[tuple[str, str], ...] = ()
    files: Links = field(default_factory=dict)
    widget: str = ""


def write_report(
    page: Path,
    *,
    config_name: str,
    config_text: str,
    snakefile: str,
    packages: Iterable[tuple[str, str]],
    files: Iterable[str],
    logs: Path,
    checkout: Path,
    jobs: Mapping[str, str],
) -> None:
    """Write the page of a run and its crate.

    Args:
        page: results/<run>/report/index.html.
        config_name: names of the config files.
        config_text: the config as YAML.
        snakefile: text of the main file of the workflow.
        packages: other packages whose code played, with version and hash of their files.
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
    config = parse_experiment(yaml.safe_load(config_text), config_name)
    provenance = Provenance(
        config_name=config_name,
        config_text=config_text,
        versions=[*versions_of(made), *packages],
        commit=commit_of(checkout),
        began=min(job.began for job in made),
        ended=max(job.ended for job in made),
    )
    frames = _frames(there, "dpol.studies.league", ("standings", "summary", "totals"))
    found = verdict(frames, config.facts) if config.games.has_table_2(config.facts) else None
    answer = answer_of(frames, config.facts, config, found)
    write_text(page, build_page(there, config, provenance, answer))
    write_text(folder / WORKFLOW, snakefile)
    write_text(folder / CONFIG, config_text)
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


# ---- data and provenance -------------------------------------------------------------------------


def data_part(
    files: RunFiles, dataset: Dataset, provenance: Mapping[str, Any], *, shown: bool
) -> Part:
    """Build the part on the origin of the data and on cleaning; gains are not cleaned.

    Args:
        files: files of the run.
        dataset: how the table is read.
        provenance: its origin, from `read_source`.
        shown: whether the page may show raw counts; else it only links to their picture.
    """
    source = source_facts(provenance, dataset)
    if dataset.columns is None:
        intro = "The table of gains was used as it is, without cleaning."
        return Part(key="data", title="Data", intro=intro, facts=source)
    path = files.file("data/cleaning.json")
    with readable(path):
        cleaning = read_json(path)
        check = tuple(("check in the table", text) for text in cleaning["warnings"])
        best = (f"{dataset.period}s in which nobody measured the best number",
                "; ".join(map(_decided, cleaning["streams"])))  # fmt: skip
        dropped = (drop for stream in cleaning["streams"] for drop in stream["dropped"])
        # Left out for counts beside no capacity, each once.
        idle = {it["entity"]: it for it in dropped if IDLE in it["reason"]}.values()
        left = (("left out", f"{it['name']} ({it['entity']}): {it['reason']}") for it in idle)
        facts = *source, best, *left, *check
        intro = rows_read_of(cleaning)
    return Part(
        key="data",
        title="Data and cleaning",
        intro=f"{intro} The cleaning report counts the cells that each rule changed.",
        files={
            "cleaning report, with every entity dropped": "../data/cleaning.md",
            "cleaning.json": "../data/cleaning.json",
            **{
                f"panel of {it['stream']}": f"../streams/{it['stream']}/panel.parquet"
                for it in cleaning["streams"]
            },
            "heat map of what plays": "../data/understood.svg",
        },
        widget=_picture(files, dataset) if shown else "",
        facts=facts,
    )


def _picture(files: RunFiles, dataset: Dataset) -> str:
    """Return the heat map of what plays, as HTML."""
    image, width, finding = read_image(files.file("data/understood.svg"))
    style, words = f"--shown: {width * 44 / 504:.1f}rem", html.escape(finding)
    number, entity = map(
        html.escape, (dataset.pictured[1], dataset.needed_columns.called("entity"))
    )
    return (
        f"<details><summary>Picture of the table</summary><p>{number}, of each {entity} and period."
        " Look for twins, and for a row or a column unlike the others.</p>"
        '<div class="panel" tabindex="0">'
        f'<img src="data:image/svg+xml;base64,{image}" style="{style}" alt="{words}">'
        "</div></details>"
    )


def _decided(stream: Mapping[str, Any]) -> str:
    found = stream["unmeasured"]
    share = f"{100 * found['share']:.0f}% of the possible gain"
    zeros = found.get("zero_share", 0)
    if zeros > 0:
        share += f"; with {100 * zeros:.0f}%, {ZERO_WOULD_BE_BEST}"
    return f"{stream['stream']}: {found['periods']} of {stream['periods']} ({share})"


def provenance_part(config: Config, provenance: Provenance) -> Part:
    """Build the part on versions and config."""
    terms = {
        "run": config.run,
        "seed": str(config.seed),
        "versions": ", ".join(map(" ".join, provenance.by_package.items())),
        "commit when this page was made": provenance.commit,
    }
    return Part(
        key="provenance",
        title="Provenance",
        intro="Everything you need to reproduce this page. The same versions, config, seed and data"
        " give the same numbers on the same kind of processor, with any number of cores.",
        facts=tuple((term, text) for term, text in terms.items() if text),
        verbatim=((f"Config: {provenance.config_name}", provenance.config_text),),
    )
