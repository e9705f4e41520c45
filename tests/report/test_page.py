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
from dpol.core.files import write_json
from dpol.report.crate import commit_of, source_facts, versions_of
from dpol.report.door import read_crate, read_fragment
from dpol.report.page import data_part, provenance_part, write_report
from dpol.reruns.notes import Note, checksums, digest, loaded_versions, write_note
from dpol.studies.paper1.table_2 import Verdict
from pipeline import run as run_program
from pipeline import succeed
from report.run_by_hand import (
    ASKED,
    CLEANING,
    ODD,
    PROVENANCE,
    STUDIES,
    SVG,
    Elements,
    checked_crate,
    config,
    files_of,
    page,
    sections_shown,
)

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


def test_a_study_shows_only_the_figures_it_asks_for(folder: Path) -> None:
    asked = {"labels": {"sweeps": {"labels": [4]}}}
    main, shown = (Elements(page(folder, **it)).values("id", "figure") for it in ({}, asked))
    assert [it for it in shown if it not in main] == ["figure-labels-risk"]
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
    papers = [it.rpartition("/")[2] for it in links if "arxiv" in it]
    assert papers == ["2512.06971", "2406.03620", "2402.00315"], "one for each chapter of a paper"
    assert "@import" not in whole
    assert "url(" not in whole
    assert not {"iframe", "object", "embed"} & {tag for tag, _ in elements.found}
    (policy,) = [meta["content"] for meta in elements.of("meta") if "http-equiv" in meta]
    inline = "style-src 'unsafe-inline'; script-src 'unsafe-inline'"
    assert policy == f"default-src 'none'; img-src data:; {inline}"


def test_the_finding_of_a_figure_is_its_caption_and_alternative_text(whole: str) -> None:
    images = Elements(whole).of("img")
    figures = len(Elements(whole).of("figure"))
    assert len(images) == figures + 1  # with the heat map of the table
    for attrs in images:
        assert attrs["alt"] == "12 of 34 <b> hold."
        assert base64.b64decode(attrs["src"].split(",")[1]).decode() == SVG
    assert whole.count("12 of 34 &lt;b&gt; hold.</span></p>") == figures >= 9


def test_each_exhibit_has_its_place_its_results_and_the_function_that_made_it(
    folder: Path, whole: str
) -> None:
    for section in sections_shown():
        for it in section.figures:
            folded = f'<figure id="figure-{it.name}">\n<details>\n<summary>{it.title}<' in whole
            assert folded == (it.place == "folded")
        for it in section.tables:
            assert read_fragment(folder / f"tables/{it.name}.html") in whole
            folded = f"<details>\n<summary>{it.title}</summary>" in whole
            assert folded == (it.place == "folded" or (it.place is None and bool(section.figures)))
        made = [(f"figures/{it.name}.svg", it.function) for it in section.figures]
        made += [(f"tables/{it.name}.csv", it.function) for it in section.tables]
        for file, function in made:
            own = whole[whole.rindex('<p class="files">', 0, whole.index(f"../{file}")) :]
            own = own.split("</p>")[0]
            for result in section.results:
                assert f'<a href="../{result}.parquet">{result}.parquet</a>' in own
            lines, line = getsourcelines(function)
            assert lines[0].startswith(f"def {function.__name__}(")
            assert f"src/{function.__module__.replace('.', '/')}.py:{line}" in own


def test_texts_of_others_are_escaped(whole: str) -> None:
    assert ODD not in whole
    # Leads, data and script of each of the two interactive figures, and the scripts of tables.
    assert len(re.findall("<script", whole)) == 1 + 2 * 2 + 1
    assert "&lt;script&gt;alert" in whole
    data = whole.split('id="replay-data">')[1].split("</script>")[0]
    assert ODD in json.loads(data)["names"], "a browser reads them as they are"
    assert "<" not in data


def test_the_page_has_the_provenance(whole: str) -> None:
    text = whole[whole.index('<section id="chapter-data"') :]
    for part in ("ab" * 32, "2024-01-31T12:00:00+00:00", "https://example.org/t.csv"):
        assert part in text
    assert '<a href="../data/cleaning.md">' in text
    for part in ("Python 3.11.0, dpol 0.1.0", "0123abc", "# a &lt; b &amp; "):
        assert part in text
    unknown = provenance_part(config(), replace(PROVENANCE, commit=None))
    assert "commit when" not in str(unknown.facts)


def test_equal_inputs_give_equal_pages(folder: Path, whole: str) -> None:
    before = {path: path.read_bytes() for path in folder.rglob("*.*")}
    assert page(folder, *STUDIES) == whole
    assert {path: path.read_bytes() for path in folder.rglob("*.*")} == before


def test_a_page_comes_with_a_crate_of_its_files(copy: Path) -> None:
    log, files = copy / "logs/job.log", sorted(copy.rglob("*.*"))
    note = Note(asked=digest({}), read={}, wrote=checksums(copy, files), began=0, ended=1)
    write_note(copy, "job", note)
    write_report(
        copy / "report/index.html",
        config_name=PROVENANCE.config_name,
        config_text=PROVENANCE.config_text,
        snakefile="rule all:\n",
        packages=[("adalg", "0.1")],
        files=map(str, files),
        logs=log.parent,
        checkout=copy,
        jobs={"job": digest({})},
    )
    assert checked_crate(copy)
    written = {"report/index.html", "summary.parquet"}
    assert written <= read_crate(copy).files.keys()


NEEDED = "summary.parquet", "data/cleaning.json", "tables/batching.html", "figures/labels-risk.svg"
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


def test_a_finding_is_told_on_screens_too_if_it_is_not_in_its_figure(folder: Path) -> None:
    for titles in (True, False):
        text = page(folder, report=config().report.model_dump() | {"titles": titles})
        assert ('<span class="finding">12 of 34' in text) == titles
        assert "12 of 34 &lt;b&gt; hold.</span>" in text


def test_the_paper_has_its_table_above_its_figure(folder: Path, whole: str) -> None:
    assert whole.index("Of table-2</caption>") < whole.index('id="figure-figure-2"')
    other = {"local": {"algorithms": ["rw-meta"]}, "open": {"algorithms": ["follow-the-leader"]}}
    report = {"algorithms": ["rw-meta", "follow-the-leader"]}
    assert "paper" not in sections(page(folder, suites=other, report=report))


def test_a_run_that_plays_the_paper_begins_with_what_is_reproduced(folder: Path) -> None:
    """What of Table 2 is reproduced stands first, then one answer as in every run, and the game."""
    text = page(folder, verdict=Verdict("Reproduced: the order", "Four columns.", "They lose."))
    places = [
        *("<h1>What does privacy cost?", "Reproduced: the order", 'href="#paper"', 'class="lead"'),
        *("Each week an algorithm picks", "<button", '<figure id="figure-privacy'),
    ]
    assert sorted(places, key=text.index) == places


# ---- data and provenance -------------------------------------------------------------------------


def test_the_data_have_their_source_and_what_to_check_in_the_table(tmp_path: Path) -> None:
    (stream,) = CLEANING["streams"]
    hidden = stream | {"unmeasured": stream["unmeasured"] | {"zero_share": 0.19}}
    write_json(tmp_path / "data/cleaning.json", CLEANING | {"streams": [stream, hidden]})
    (tmp_path / "data/understood.svg").write_text(SVG)
    dataset = config().dataset.model_copy(update={"caveat": "Zeros may hide counts."})
    told = files_of(tmp_path), dataset, CLEANING["provenance"]
    part, private = (data_part(*told, shown=shown) for shown in (True, False))
    assert private.widget == "", "a private table is only linked"
    assert private.files["heat map of what plays"] == "../data/understood.svg"
    assert 'alt="12 of 34 &lt;b&gt; hold."' in part.widget
    assert part.intro.startswith("4,000 rows read, 12 of them outside the chosen groups")
    *_, (_, caveat), (best, said), left, check = part.facts
    assert caveat == "Zeros may hide counts."
    assert best == "weeks in which nobody measured the best number"
    share = "nm: 13 of 148 (9% of the possible gain"
    assert said == f"{share}); {share}; with 19%, a zero would be the best if it hid a count)"
    idle = "Bedless (H8): a count above 0 beside a capacity of 0 or less in 2 periods"
    assert left == ("left out", idle), "once, and no other"
    text = "stream nm: periods missing: 1 between 2021-01-15 and 2021-01-29"
    assert check == ("check in the table", text)


def test_the_source_has_only_recorded_facts() -> None:
    dataset = config().dataset
    local = {"file": "t.csv", "sha256": "00", "simulated": True}
    facts = ("table", "t.csv"), ("data", "simulated, not measured"), ("SHA-256", "00")
    assert source_facts(local, dataset) == facts
    fetched = {"retrieved": "today", "url": "u", "licence": "of the endpoint"}
    terms = *("table", "data", "SHA-256", "retrieved", "address"), "licence"
    stated = source_facts({**local, "fetched": fetched}, dataset)
    assert tuple(term for term, _ in stated) == terms
    assert stated[-1][1] == "of the endpoint"
    own = dataset.model_copy(update={"licence": "CC0", "citation": "By us"})
    assert source_facts(local, own) == (*facts, ("licence", "CC0"), ("citation", "By us"))


def test_the_commit_belongs_to_the_folder_itself(tmp_path: Path) -> None:
    def git(*words: str) -> str:
        identity = ("-c", "user.name=n", "-c", "user.email=e@example.org")
        return succeed(run_program("git", *identity, *words, folder=tmp_path)).strip()

    assert commit_of(tmp_path) is None
    git("init", "--quiet")
    assert commit_of(tmp_path) is None  # nothing committed yet
    (tmp_path / "file").write_text("1")
    git("add", "file")
    git("commit", "--quiet", "--message", "First")
    head = git("rev-parse", "HEAD")
    assert commit_of(tmp_path) == head
    (tmp_path / "other").write_text("not under version control")
    assert commit_of(tmp_path) == head
    (tmp_path / "file").write_text("2")
    assert commit_of(tmp_path) == f"{head}, with changes that are not committed"
    (tmp_path / "below").mkdir()
    assert commit_of(tmp_path / "below") is None


def test_all_versions_of_the_jobs_are_listed() -> None:
    """Two jobs before an upgrade, and one after it."""
    loaded = loaded_versions()
    assert list(loaded)[:2] == ["Python", "dpol"]
    assert loaded["numpy"] == __import__("numpy").__version__
    before = {"Python": "3.11.2", "dpol": "0.1.0", "numpy": "2.1.0"}
    jobs = [
        Note(asked="", read={}, wrote={}, began=0, ended=1, versions=versions)
        for versions in (before | {"numpy": "2.2.0"}, before, before)
    ]
    words = before | {"numpy": "2.1.0 and 2.2.0"}
    assert replace(PROVENANCE, versions=versions_of(jobs)).by_package == words
