"""Page of a run: its sections; it needs no other file and agrees with the run."""

from __future__ import annotations

import base64
import json
import re
import shutil
from dataclasses import replace
from inspect import getsourcelines
from pathlib import Path
from typing import Any

import pytest

from dpol.core.errors import DpolError
from dpol.report.door import read_crate, read_fragment
from dpol.report.page import write_report
from dpol.reruns.notes import Note, checksums, digest, write_note
from dpol.studies.paper1.table_2 import Verdict
from dpol.studies.study import Section
from report.crates import checked_crate
from report.run_by_hand import ASKED, ODD, PROVENANCE, STUDIES, SVG, Elements, config, page

CHAPTERS = {
    "answer": ["privacy-utility"],
    "paper1": ["paper", "batching"],
    "paper2": ["lazy", "convex"],
    "paper3": ["labels"],
    "beyond": ["switches", "league"],
    "replay": ["replay"],
    "privacy": ["privacy", "audits"],
    "claims": ["claims"],
    "data": ["data"],
    "origin": ["provenance"],
}
OWN = ASKED["dataset"] | {"public": False}
SIMULATED = OWN | {"source": {"kind": "local", "file": "t.csv", "simulated": True}}
WARNING = "This folder holds your raw counts. Share nothing of it."


@pytest.fixture
def copy(folder: Path, tmp_path: Path) -> Path:
    return shutil.copytree(folder, tmp_path / "hand")


@pytest.fixture(scope="module")
def whole(folder: Path) -> str:
    return page(folder, *STUDIES)


def sections(text: str) -> list[str]:
    return [it["id"] for it in Elements(text).of("div") if it.get("class") == "part"]


@pytest.mark.parametrize("study", [None, *STUDIES])
def test_a_study_has_its_section_in_its_chapter_and_no_other(
    folder: Path, study: str | None
) -> None:
    text = page(folder, *filter(None, [study]))
    others = {*STUDIES} - {study}
    shown = {key: [it for it in parts if it not in others] for key, parts in CHAPTERS.items()}
    chapters = Elements(text).values("id", "section")
    assert chapters == [f"chapter-{key}" for key, parts in shown.items() if parts]
    assert sections(text) == [it for parts in shown.values() for it in parts]


@pytest.mark.parametrize(
    ("changes", "warned", "replayed"),
    [
        ({}, False, True),
        ({"dataset": SIMULATED}, False, True),
        ({"dataset": OWN}, True, False),
        ({"dataset": OWN, "report": {**config().report.model_dump(), "replay": True}}, True, True),
    ],
)
def test_a_private_table_has_a_warning_and_is_replayed_on_request_only(
    copy: Path, changes: dict[str, Any], warned: bool, replayed: bool
) -> None:
    """A page without a replay needs no file with it."""
    if not replayed:
        (copy / "replay.parquet").unlink()
    text = page(copy, **changes)
    assert (WARNING in text, '"truth":' in text) == (warned, replayed)
    assert text.find(WARNING) < text.index("<h1")
    assert ("private tables have none unless report.replay is true" in text) != replayed
    said = "Simulated data, not measurements"
    assert (said in text[: text.index("<nav")]) == (changes.get("dataset") == SIMULATED)


@pytest.mark.parametrize(
    ("asked", "figures"),
    [
        ({"labels": {"sweeps": {"labels": [4]}}}, ["figure-labels-risk"]),
        ({"convex": STUDIES["convex"]}, ["figure-convex-regret"]),
    ],
)
def test_a_study_shows_only_the_figures_it_asks_for(
    folder: Path, asked: dict[str, Any], figures: list[str]
) -> None:
    main, shown = (Elements(page(folder, **it)).values("id", "figure") for it in ({}, asked))
    assert [it for it in shown if it not in main] == figures
    assert [it for it in shown if it in main] == main


def test_the_contents_name_every_chapter_in_its_order(whole: str) -> None:
    nav = whole[whole.index("<nav") : whole.index("</nav>") + len("</nav>")]
    assert Elements(nav).values("href", "a") == [f"#chapter-{key}" for key in CHAPTERS]
    assert ">Week by week</a>" in nav, "the replay is named after its periods"


def test_ids_are_unique_and_every_reference_inside_the_page_resolves(whole: str) -> None:
    elements = Elements(whole)
    ids = elements.values("id")
    assert len(ids) == len(set(ids))
    wanted = [name[1:] for name in elements.values("href") if name.startswith("#")]
    for name in ("aria-labelledby", "aria-describedby"):
        wanted += [part for value in elements.values(name) for part in value.split()]
    wanted += re.findall(r'getElementById\("([\w-]+)"\)', whole)
    assert len(wanted) > 20
    assert set(wanted) <= set(ids)


def test_nothing_is_loaded_from_elsewhere(whole: str) -> None:
    elements = Elements(whole)
    links = elements.values("href", "a")
    loading = {own for name in ("href", "src", "srcset", "data") for own in elements.values(name)}
    loaded = {value.split(",")[0] for value in loading - set(links)}
    assert loaded == {"data:", "data:image/svg+xml;base64"}
    assert all(value.startswith(("#", "../", "https://arxiv.org/abs/")) for value in links)
    assert "@import" not in whole
    assert "url(" not in whole
    assert not {"iframe", "object", "embed"} & {tag for tag, _ in elements.found}
    (policy,) = [meta["content"] for meta in elements.of("meta") if "http-equiv" in meta]
    inline = "style-src 'unsafe-inline'; script-src 'unsafe-inline'"
    assert policy == f"default-src 'none'; img-src data:; {inline}"


def test_only_the_papers_figures_have_numbers_and_all_have_their_findings(whole: str) -> None:
    """The finding in the file of an image is its caption and alternative text."""
    images = Elements(whole).of("img")
    figures = len(Elements(whole).of("figure"))
    assert len(images) == figures + 1  # with the heat map of the table
    assert re.findall(r"(?<!The paper’s )Figure \d\.", whole) == []
    titles = r"<(?:b|summary)>The paper’s (Figure \d)[.<]"
    assert re.findall(titles, whole) == ["Figure 2", *["Figure 1"] * 2]
    for attrs in images:
        assert attrs["alt"] == "12 of 34 <b> hold."
        assert base64.b64decode(attrs["src"].split(",")[1]).decode() == SVG
    assert whole.count("12 of 34 &lt;b&gt; hold.</span></p>") == figures >= 10


def sections_shown() -> list[Section]:
    """Return the sections of the whole page."""
    whole = config(*STUDIES)
    shown = (study.sections_of(block, whole.facts) for study, block in whole.studies())
    return [section for its in shown for section in its]


def test_the_page_has_the_tables_of_the_run(folder: Path, whole: str) -> None:
    tables = [(table, bool(it.figures)) for it in sections_shown() for table in it.tables]
    assert len(tables) > 10
    links = Elements(whole).values("href", "a")
    for table, has_figures in tables:
        name, place = table.name, table.place
        is_folded = place == "folded" or (place is None and has_figures)
        assert (f"<details>\n<summary>{table.title}</summary>" in whole) == is_folded
        seen = read_fragment(folder / f"tables/{name}.html") in whole
        assert (seen, f"../tables/{name}.html" in links) == (place != "file", place == "file")
        assert f"../tables/{name}.csv" in links


def test_texts_of_others_are_escaped(whole: str) -> None:
    assert ODD not in whole
    # Leads, data and script of each of the two interactive figures, and the scripts of tables.
    assert len(re.findall("<script", whole)) == 1 + 2 * 2 + 1
    assert "&lt;script&gt;alert" in whole
    data = whole.split('id="replay-data">')[1].split("</script>")[0]
    assert ODD in json.loads(data)["names"], "a browser reads them as they are"
    assert "<" not in data


def test_the_page_has_the_provenance(folder: Path, whole: str) -> None:
    text = whole[whole.index('<section id="chapter-data"') :]
    for part in ("ab" * 32, "2024-01-31T12:00:00+00:00", "https://example.org/t.csv"):
        assert part in text
    assert '<a href="../data/cleaning.md">' in text
    for part in ("Python 3.11.0, dpol 0.1.0", "0123abc", "# a &lt; b &amp; "):
        assert part in text
    text = page(folder, provenance=replace(PROVENANCE, commit=None))
    assert "commit when" not in text


def test_equal_inputs_give_equal_pages(folder: Path, whole: str) -> None:
    before = {path: path.read_bytes() for path in folder.rglob("*.*")}
    assert page(folder, *STUDIES) == whole
    assert {path: path.read_bytes() for path in folder.rglob("*.*")} == before


def test_a_page_comes_with_a_crate_of_its_files(copy: Path) -> None:
    log, files = copy / "logs/job.log", sorted(copy.rglob("*.*"))
    write_note(log, Note(asked=digest({}), read={}, wrote=checksums(copy, files), began=0, ended=1))
    write_report(
        copy / "report/index.html",
        PROVENANCE.params,
        files=map(str, files),
        logs=log.parent,
        checkout=copy,
        jobs={"job": digest({})},
    )
    assert checked_crate(copy)
    written = {"report/index.html", "summary.parquet"}
    assert written <= read_crate(copy).files.keys()


NEEDED = (
    *("summary.parquet", "data/cleaning.json"),
    *("tables/batching.html", "figures/labels-risk.svg"),
)
"""A file of each kind."""


@pytest.mark.parametrize("name", NEEDED)
def test_the_error_on_a_missing_or_damaged_file_has_the_remedy(copy: Path, name: str) -> None:
    studies = ("batching", "labels", "audits", "claims")
    for content in ("", '{"streams": [], "rules": {}}'):
        (copy / name).write_text(content)
        with pytest.raises(DpolError, match=rf"{name}.*; delete it and run"):
            page(copy, *studies)
    (copy / name).unlink()
    with pytest.raises(DpolError, match=rf"{name} is missing; run snakemake again"):
        page(copy, *studies)


def test_each_figure_and_table_names_its_results_and_the_function_that_made_it(
    folder: Path, whole: str
) -> None:
    """Its address is that of the commit, where a forge has it."""
    source = "https://github.com/a/b/blob/0123abc"
    linked = page(folder, *STUDIES, provenance=replace(PROVENANCE, source=source))
    for section in sections_shown():
        for it in section.figures:
            folded = f'<figure id="figure-{it.name}">\n<details>\n<summary>{it.title}<' in whole
            assert folded == (it.place == "folded")
        made = [("figures", it.name, "svg", it.function) for it in section.figures]
        made += [("tables", it.name, "csv", it.function) for it in section.tables]
        for kind, name, suffix, function in made:
            place = whole.index(f"../{kind}/{name}.{suffix}")
            own = whole[whole.rindex('<p class="files">', 0, place) :].split("</p>")[0]
            for result in section.results:
                assert f'<a href="../{result}.parquet">{result}.parquet</a>' in own
            lines, line = getsourcelines(function)
            assert lines[0].startswith(f"def {function.__name__}(")
            place = f"src/{function.__module__.replace('.', '/')}.py"
            text = f"{place}:{line}"
            assert text in own
            assert f'<a href="{source}/{place}#L{line}">{text}</a>' in linked


@pytest.mark.parametrize("titles", [True, False])
def test_a_finding_is_told_on_screens_too_if_it_is_not_in_its_figure(
    folder: Path, titles: bool
) -> None:
    text = page(folder, report=config().report.model_dump() | {"titles": titles})
    assert ('<span class="finding">12 of 34' in text) == titles
    assert "12 of 34 &lt;b&gt; hold.</span>" in text


def test_the_paper_has_its_table_above_its_figure(folder: Path, whole: str) -> None:
    assert whole.index("Of table-2</caption>") < whole.index('id="figure-figure-2"')
    other = {"local": {"algorithms": ["rw-meta"]}, "open": {"algorithms": ["follow-the-leader"]}}
    report = {"algorithms": ["rw-meta", "follow-the-leader"]}
    assert "paper" not in sections(page(folder, suites=other, report=report))


def test_a_run_that_plays_the_paper_begins_with_what_is_reproduced(folder: Path) -> None:
    """Then come the game and the figure; what a system keeps stands below the figure."""
    text = page(folder)
    assert text.index("<h1>What does privacy cost?") < text.index('class="lead"')
    assert text.index('class="lead"') < text.index("Each week an algorithm picks")
    found = Verdict("Reproduced: the order", "Four columns.", "They lose.")
    text = page(folder, verdict=found)
    places = [
        "<h1>Reproduced: the order",
        "Four columns.",
        'href="#paper"',
        "Each week an algorithm",
    ]
    places += ["They lose.", "<button", '<figure id="figure-privacy', 'class="lead"']
    assert "What does privacy cost?</h1>" not in text
    at = [text.index(it) for it in places]
    assert at == sorted(at)


def test_a_chapter_links_its_paper(whole: str) -> None:
    for key, number in (
        ("paper1", "2512.06971"),
        ("paper2", "2406.03620"),
        ("paper3", "2402.00315"),
    ):
        own = whole[whole.index(f'<section id="chapter-{key}"') :]
        assert own.index(f"https://arxiv.org/abs/{number}") < own.index('class="part"')
