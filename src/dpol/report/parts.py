"""Sections of the page as values for the template: on the data, and on the provenance."""

from __future__ import annotations

import html
import subprocess
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dpol.config.models import Config
from dpol.core.files import read_json
from dpol.core.schemas import readable
from dpol.data.cleaning import IDLE, ZERO_WOULD_BE_BEST, rows_read_of
from dpol.data.settings import Dataset
from dpol.data.stream import read_stream
from dpol.report.door import RunFiles, read_image
from dpol.reruns.notes import PACKAGES, Note
from dpol.studies.study import Exhibit

Links = Mapping[str, str]
"""Addresses by their texts; code has none."""
Shown = tuple[str, str, Links]
"""A table on the page: its title, its HTML, and links to its files and its code."""
Picture = tuple[Exhibit, tuple[str, float, str], str, Links]
"""A figure on the page: its words; its image, as `dpol.report.door.read_image` returns it; its
image for phones, empty if it has none; and links to its files and its code."""
Widget = tuple[Mapping[str, Any], Mapping[str, Any]]
"""An interactive figure: what its script reads, as plain values, and the `widget` of its section,
perhaps with another `title` and `intro`."""


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


# ---- data --------------------------------------------------------------------------------------


def read_source(files: RunFiles, config: Config) -> dict[str, Any]:
    """Read the provenance of a table, as from `dpol.data.table.provenance_of_table`.

    Args:
        files: files of the run.
        config: config of the run.

    Raises:
        DataError: the file that describes it is missing or invalid.
    """
    if config.dataset.columns is None:  # a table of gains
        stream = files.file(f"streams/{next(iter(config.played))}.parquet")
        return dict(read_stream(stream).provenance)
    path = files.file("data/cleaning.json")
    with readable(path):
        return dict(read_json(path)["provenance"])


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
    share += f"; with {100 * zeros:.0f}%, {ZERO_WOULD_BE_BEST}" * (zeros > 0)
    return f"{stream['stream']}: {found['periods']} of {stream['periods']} ({share})"


def source_facts(provenance: Mapping[str, Any], dataset: Dataset) -> tuple[tuple[str, str], ...]:
    """Turn a provenance of `dpol.data.table.provenance_of_table` into terms and texts."""
    fetched = provenance.get("fetched", {})
    every = {
        "table": provenance["file"],
        "data": "simulated, not measured" if provenance["simulated"] else "real",
        "SHA-256": provenance["sha256"],
        "retrieved": fetched.get("retrieved"),
        "address": fetched.get("url"),
        "licence": dataset.licence or fetched.get("licence"),
        "citation": dataset.citation,
        "what to know": dataset.caveat,
    }
    return tuple((term, str(text)) for term, text in every.items() if text)


# ---- provenance ----------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Params:
    """Facts of a run from the workflow.

    Args:
        config_name: names of the config files.
        config_text: the config as YAML.
        snakefile: text of the main file of the workflow.
        code: hash of the code of dpol that computed the results.
        packages: other packages whose code played, with version and hash of their files.
    """

    config_name: str
    config_text: str
    snakefile: str
    code: str
    packages: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, kw_only=True)
class Provenance:
    """Sources of a page besides the files of the run.

    Args:
        params: facts from the workflow.
        versions: versions of the packages that made the results; several where jobs differ.
        commit: commit of the checkout, in words; None if there is none.
        began: when its first job began, in nanoseconds since 1970.
        ended: when its last job ended.
    """

    params: Params
    versions: tuple[tuple[str, str], ...]
    commit: str | None
    began: int
    ended: int

    @property
    def by_package(self) -> dict[str, str]:
        """The versions of each package, in words."""
        of_package: dict[str, list[str]] = {}
        for name, version in self.versions:
            of_package.setdefault(name, []).append(version)
        return {name: " and ".join(versions) for name, versions in of_package.items()}


def provenance_of(params: Params, jobs: Collection[Note], checkout: Path) -> Provenance:
    """Collect the sources of a run.

    Args:
        params: facts from the workflow.
        jobs: notes of its jobs.
        checkout: folder whose commit counts.
    """
    versions = {pair for job in jobs for pair in job.versions.items()}
    order = "Python", *PACKAGES
    return Provenance(
        params=params,
        versions=(*sorted(versions, key=lambda it: (order.index(it[0]), it)), *params.packages),
        commit=commit_of(checkout),
        began=min(job.began for job in jobs),
        ended=max(job.ended for job in jobs),
    )


def commit_of(folder: Path | str) -> str | None:
    """Return the commit of a git checkout and whether files differ; None if it is no checkout."""
    if not (Path(folder) / ".git").exists():
        return None
    asked = "describe", "--always", "--abbrev=40", "--exclude=*"
    command = ["git", "-C", str(folder), *asked, "--dirty=, with changes that are not committed"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=30)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()


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
        verbatim=((f"Config: {provenance.params.config_name}", provenance.params.config_text),),
    )
