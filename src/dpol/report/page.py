"""The page: every figure and table of a run, with answers first, in one file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import jinja2

from dpol.config.models import Config
from dpol.data.stream import read_stream
from dpol.report.answers import answer_on_cost, answer_on_papers, answer_on_privacy
from dpol.report.costs import cost_table, losses
from dpol.report.data import cleaning_tables, source_facts
from dpol.report.provenance import Provenance, stage_table
from dpol.report.reading import read_findings, read_json, read_text, unreadable
from dpol.report.sections import SectionOf, sections_of
from dpol.report.setting import describe_setting
from dpol.report.svg import inline_svg
from dpol.show.plain import PlainTable, RunTable, cut_table
from dpol.studies.audits.table import audit_table
from dpol.studies.study import Figure


@dataclass(frozen=True)
class Picture:
    """A figure as it stands in the page."""

    name: str
    title: str
    svg: str


@dataclass(frozen=True)
class Part:
    """A section of the page, with what stands in it.

    Args:
        key: its anchor.
        title: its heading.
        intro: what stands above all else.
        pictures: its figures.
        tables: tables of the run, as they are on disk.
        plain: tables that readers can sort.
        facts: terms and texts, if it has any.
        code: a title and a text that is shown as it is.
    """

    key: str
    title: str
    intro: str
    pictures: tuple[Picture, ...] = ()
    tables: tuple[RunTable, ...] = ()
    plain: tuple[PlainTable, ...] = ()
    facts: tuple[tuple[str, str], ...] = ()
    code: tuple[str, str] | None = None


def build_page(folder: Path, config: Config, provenance: Provenance) -> str:
    """The page of a run; equal files, config and provenance give an equal page.

    Args:
        folder: results/<run>.
        config: of the run; it says what the run has made.
        provenance: from what the page is made beside the files.

    Raises:
        DataError: a file of the run is missing, or is not what it should be.
    """
    titles = {label: stream.title or label for label, stream in config.streams.items()}
    found = read_findings(folder, config)
    lost = losses(found.summary, config)
    plain = {} if found.audits is None else {"audits": (audit_table(found.audits),)}
    parts = [_part(folder, section, plain.get(section.key, ())) for section in sections_of(config)]
    if lost:
        parts.insert(2, _cost_part(cost_table(lost, titles)))
    parts += [_data_part(folder, config, titles), _provenance_part(config, provenance)]
    return _template().render(
        run=config.run,
        simulated=config.dataset.simulated,
        answers=(
            answer_on_papers(found.claims, found.gains, found.summary),
            answer_on_privacy(found.summary, found.audits),
            answer_on_cost(lost),
        ),
        setting=describe_setting(config, found.summary),
        parts=parts,
    )


def _part(folder: Path, section: SectionOf, plain: tuple[PlainTable, ...]) -> Part:
    return Part(
        section.key,
        section.title,
        section.intro,
        tuple(_picture(folder, figure) for figure in section.figures),
        tuple(cut_table(read_text(folder / f"tables/{it}.html"), it) for it in section.tables),
        plain,
    )


def _picture(folder: Path, figure: Figure) -> Picture:
    text = read_text(folder / f"figures/{figure.name}.svg")
    svg = inline_svg(text, figure.name, figure.title, figure.description)
    return Picture(f"figure-{figure.name}", figure.title, svg)


def _cost_part(table: PlainTable) -> Part:
    intro = "What one algorithm loses when its inputs are noised, against itself without noise."
    return Part("noise-costs", "What noise costs", intro, plain=(table,))


def _data_part(folder: Path, config: Config, titles: Mapping[str, str]) -> Part:
    """Where the data came from, and what cleaning did; a table of gains is taken as it is."""
    if config.dataset.source.kind == "gains":
        stream = read_stream(folder / f"streams/{next(iter(titles))}.parquet")
        intro = "A table of gains, taken as it is: nothing was cleaned."
        return Part("data", "Data", intro, facts=source_facts(stream.provenance))
    path = folder / "data/cleaning.json"
    cleaning = read_json(path)
    try:
        plain = tuple(cleaning_tables(cleaning, titles))
        facts = source_facts(cleaning["provenance"])
    except (LookupError, TypeError) as error:
        raise unreadable(path, error) from None
    intro = "Where the data came from, and every rule that changed them, with the cells it touched."
    return Part("data", "Data and cleaning", intro, plain=plain, facts=facts)


def _provenance_part(config: Config, provenance: Provenance) -> Part:
    versions = ", ".join(f"{name} {version}" for name, version in provenance.versions)
    facts = [("run", config.run), ("seed", str(config.seed)), ("versions", versions)]
    if provenance.commit:
        facts.append(("commit when this page was made", provenance.commit))
    return Part(
        "provenance",
        "Provenance",
        "What is needed to make this page again: the same versions, config, seed and data give the"
        " same numbers, whatever the number of cores.",
        plain=(stage_table(provenance.stages),) if provenance.stages else (),
        facts=tuple(facts),
        code=(f"Config: {provenance.config_name}", provenance.config_text),
    )


def _template() -> jinja2.Template:
    environment = jinja2.Environment(
        loader=jinja2.ChoiceLoader(
            [jinja2.PackageLoader("dpol.report"), jinja2.PackageLoader("dpol.show")]
        ),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
        keep_trailing_newline=True,
    )
    return environment.get_template("report.html.j2")
