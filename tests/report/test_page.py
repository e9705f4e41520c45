"""The page of a run: its sections, that it stands alone, and that it says what the run says."""

from __future__ import annotations

import base64
import itertools
import re
import shutil
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from dpol.core.errors import DpolError
from dpol.report.page import build_page
from dpol.studies.registry import load_studies
from report.run_by_hand import ODD, PROVENANCE, STUDIES, SVG, Elements, config, page

ALWAYS = ["answers", "setting", "average-gain", "cumulative-gain", "noise-costs"]


@pytest.fixture
def copy(folder: Path, tmp_path: Path) -> Path:
    return shutil.copytree(folder, tmp_path / "hand")


@pytest.fixture(scope="module")
def whole(folder: Path) -> str:
    return page(folder, *(set(STUDIES) - {"comparison"}))


def sections(text: str) -> list[str]:
    return [attrs["id"] for attrs, _ in Elements(text).of("section")]


@pytest.mark.parametrize("study", sorted(set(STUDIES) - {"comparison"}))
def test_a_study_has_its_section_and_no_other(folder: Path, study: str) -> None:
    assert sections(page(folder, study)) == [*ALWAYS, study, "data", "provenance"]


def test_the_comparison_has_its_section(folder: Path) -> None:
    assert sections(page(folder, "comparison")) == [*ALWAYS, "beyond", "data", "provenance"]


def test_without_studies_there_are_no_studies(folder: Path) -> None:
    text = page(folder)
    assert sections(text) == [*ALWAYS, "data", "provenance"]
    figures = [attrs["id"] for attrs, _ in Elements(text).of("figure")]
    assert figures == ["figure-cumulative-gain"]


def test_figures_of_a_study_are_those_it_asks_for(folder: Path) -> None:
    labels = {"sweeps": {"labels": [4]}}
    found = Elements(page(folder, labels=labels)).of("figure")
    assert [attrs["id"] for attrs, _ in found] == [
        "figure-cumulative-gain",
        "figure-labels-risk",
    ]
    lazy = Elements(page(folder, "convex")).of("figure")
    assert [attrs["id"] for attrs, _ in lazy][1:] == ["figure-convex-regret"]


def test_the_contents_name_every_section_in_its_order(whole: str) -> None:
    nav = whole[whole.index("<nav") : whole.index("</nav>") + len("</nav>")]
    assert [attrs["href"] for attrs, _ in Elements(nav).of("a")] == [
        f"#{k}" for k in sections(whole)
    ]


def test_ids_are_unique_and_every_reference_inside_the_page_resolves(whole: str) -> None:
    elements = Elements(whole)
    ids = elements.values("id")
    assert len(ids) == len(set(ids))
    wanted = [name[1:] for name in elements.values("href") if name.startswith("#")]
    for name in ("aria-labelledby", "aria-describedby"):
        wanted += [part for value in elements.values(name) for part in value.split()]
    assert len(wanted) > 40
    assert set(wanted) <= set(ids)


def test_nothing_is_loaded_from_elsewhere(whole: str) -> None:
    elements = Elements(whole)
    loading = [attrs.get("href", attrs.get("src", attrs.get("data", "")))
               for tag, attrs, _ in elements.found if tag != "a"]  # fmt: skip
    assert {value.split(",")[0] for value in loading if value} == {
        "data:",
        "data:image/svg+xml;base64",
    }
    assert all(value.startswith("#") for attrs, _ in elements.of("a") for value in [attrs["href"]])
    assert "@import" not in whole
    assert "url(" not in whole
    assert not {"iframe", "object", "embed"} & {tag for tag, _, _ in elements.found}
    (policy,) = [attrs["content"] for attrs, _ in elements.of("meta") if "http-equiv" in attrs]
    assert policy.startswith("default-src 'none'; img-src data:;")


def test_every_image_is_that_of_the_run_and_has_a_text_alternative(whole: str) -> None:
    images = [attrs for attrs, _ in Elements(whole).of("img")]
    assert len(images) == 9
    for attrs in images:
        assert base64.b64decode(attrs["src"].split(",")[1]).decode() == SVG
        assert len(attrs["alt"]) > 80
        assert attrs["style"] == "--shown: 8.9rem"  # 62 rem for 504 points


@pytest.mark.parametrize(("width", "shown"), [(252, "31.0"), (504, "62.0"), (700, "62.0")])
def test_images_have_one_scale_and_fit_on_the_page(copy: Path, width: int, shown: str) -> None:
    figure = copy / "figures/cumulative-gain.svg"
    figure.write_text(SVG.replace("0 0 72 36", f"0 0 {width} 36"))
    assert f'style="--shown: {shown}rem"' in page(copy)


def test_every_wide_thing_scrolls_by_itself_and_has_a_name(whole: str) -> None:
    regions = [attrs for attrs, _ in Elements(whole).of("div")
               if attrs.get("class", "").startswith("scroll")]  # fmt: skip
    assert len(regions) == 9 + len(Elements(whole).of("table"))
    for attrs in regions:
        assert (attrs["role"], attrs["tabindex"]) == ("region", "0")
        assert attrs.get("aria-label") or attrs.get("aria-labelledby")


def test_tables_are_those_of_the_run(folder: Path, whole: str) -> None:
    names = {"average-gain"} | {it.name for study in load_studies().values() for it in study.tables}
    assert len(names) == 8
    assert "[paper: 40.14]" in whole  # Table 2 of the paper: New Mexico, RW-Meta, no privacy
    for name in names:
        assert (folder / f"tables/{name}.fragment.html").read_text() in whole


def test_texts_of_others_are_escaped(whole: str) -> None:
    assert ODD not in whole
    assert whole.count("<script") == 1
    assert "&lt;script&gt;alert" in whole


def test_headings_go_one_level_at_a_time(whole: str) -> None:
    levels = [int(tag[1]) for tag, _, _ in Elements(whole).found if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(later - earlier <= 1 for earlier, later in itertools.pairwise(levels))


def test_simulated_data_are_said_to_be_so_at_the_top(folder: Path) -> None:
    text = page(folder)
    assert "Simulated data, not measurements" not in text
    source = {"kind": "local", "file": "t.csv", "simulated": True}
    dataset = {**config().dataset.model_dump(), "source": source}
    text = page(folder, dataset=dataset)
    assert text.index("Simulated data, not measurements") < text.index("<nav")


def test_provenance_is_told(whole: str) -> None:
    text = whole[whole.index('<section id="data"') :]
    for part in ("ab" * 32, "2024-01-31T12:00:00+00:00", "https://example.org/t.csv", "12.5"):
        assert part in text
    for part in ("Python 3.11.0, dpol 0.1.0", "0123abc", "run: hand  # a &lt; b", "3 jobs, 22 s"):
        assert part in text


def test_equal_inputs_give_equal_pages(folder: Path, whole: str) -> None:
    before = {path: path.read_bytes() for path in folder.rglob("*.*")}
    assert page(folder, *(set(STUDIES) - {"comparison"})) == whole
    assert {path: path.read_bytes() for path in folder.rglob("*.*")} == before


NEEDED = (
    *("summary.parquet", "ranking.parquet", "claims.parquet", "audits.parquet"),
    *("data/cleaning.json", "tables/average-gain.fragment.html", "tables/batching.fragment.html"),
    *("figures/cumulative-gain.svg", "figures/labels-hospitals.svg"),
)


@pytest.mark.parametrize("name", NEEDED)
def test_a_file_that_is_missing_or_none_is_told_with_the_remedy(copy: Path, name: str) -> None:
    (copy / name).write_bytes(b"")
    with pytest.raises(DpolError, match=rf"{name}.*; delete it and run"):
        page(copy, "batching", "labels", "audits", "claims")
    (copy / name).unlink()
    with pytest.raises(DpolError, match=rf"{name} is missing; run snakemake again"):
        page(copy, "batching", "labels", "audits", "claims")


@pytest.mark.parametrize(("name", "column"), [("summary", "unit"), ("claims", "verdict")])
def test_a_table_without_a_column_is_told(copy: Path, name: str, column: str) -> None:
    path = copy / f"{name}.parquet"
    pd.read_parquet(path).drop(columns=column).to_parquet(path)
    with pytest.raises(DpolError, match=rf"{name}.parquet: lacks column {column}; delete it"):
        page(copy, "audits", "claims")


def test_a_cleaning_report_of_another_shape_is_told(copy: Path) -> None:
    (copy / "data/cleaning.json").write_text('{"streams": [], "rules": {}}')
    with pytest.raises(DpolError, match=r"cleaning.json cannot be read .*; delete it and run"):
        page(copy)


def test_without_a_checkout_or_times_the_page_is_made_all_the_same(folder: Path) -> None:
    stages = PROVENANCE.stages.head(0)
    bare = replace(PROVENANCE, commit=None, stages=stages)
    text = build_page(folder, config(), bare)
    assert "commit" not in text
    assert "Time of each stage" not in text
