"""The pages agree with each other, with the workflow, and with the figures of runs."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import dividing_picture as dividing
import numpy as np
import pictures
import pytest
import workflow_picture as workflow
import yaml
from PIL import Image

from code_blocks import ROOT, pages
from dpol.config.experiment import parse_experiment
from dpol.data.stream import GainStream
from dpol.experts.matrix_ftpl import MatrixFTPL
from dpol.experts.play import RawGains, guarantee_of
from dpol.experts.tree_ftpl import TreeFTPL
from dpol.privacy.account import protection
from dpol.privacy.chains import chain_norm
from dpol.show.style import contrast
from legible import assert_legible, lines, points
from pipeline import run, succeed

DOCS = ROOT / "docs"
PROSE = re.compile(r"^```.*?^```", re.M | re.S)
KINDS = ("figures", "tables")
TERMS = (
    "`rw-meta`", "`rw-ftpl`", "`l2p`", "`tree-ftpl-min-noise`", "`tree-ftpl-min-regret`",
    "`mf-ftpl`", "`isotropic`", "`isotropic-worst-case`", "`capacity`", "correlated noise",
    "`ridge-w8-weak`", "capacity", "oracle", "uniform random", "best fixed expert", "mu", "epsilon",
    "delta", "adjacency", "replicate", "stream", "suite", "level", "unit", "game", "run",
)  # fmt: skip
LINK = re.compile(r"(?<!!)\[([^\]]+)\]\(([^)\s#:]+\.md)\)")


def prose(page: Path) -> str:
    """Return a page without its code blocks; an included page stands for the page."""
    text = page.read_text(encoding="utf-8")
    if included := re.match(r"```\{include\} (\S+)", text):
        return prose(page.parent / included[1])
    return PROSE.sub("", text)


def title(page: Path) -> str:
    """Return the title of a page, as the menu shows it."""
    return prose(page).partition("# ")[2].partition("\n")[0]


def misnamed(page: Path) -> Iterator[tuple[str, str]]:
    """Yield the text of each link to a whole page that is not the title of that page."""
    for text, target in LINK.findall(prose(page)):
        path = (page.parent / target).resolve()
        if path in pages() and text.casefold() != title(path).casefold():
            yield text, title(path)


def unlinked(page: Path) -> list[str]:
    """Return the pages that a page names as code, where nobody can follow them."""
    named = re.findall(r"`([\w/.-]+\.md)`", prose(page))
    known = [str(path) for path in pages()]
    return [name for name in named if any(path.endswith(f"/{name}") for path in known)]


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_links_to_pages_have_their_titles(page: Path) -> None:
    assert list(misnamed(page)) == []
    assert unlinked(page) == []


def test_other_names_of_a_page_are_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    home = (DOCS / "how-to/verify.md").as_posix()
    page.write_text(f"[Verify]({home}), [there]({home}#the-seed), `docs/tutorial.md`")
    assert list(misnamed(page)) == [("Verify", "Verify the results")]
    assert unlinked(page) == ["docs/tutorial.md"]


def test_glossary_defines_what_reports_say() -> None:
    page = (DOCS / "reference/glossary.md").read_text(encoding="utf-8")
    cells = re.findall(r"\*\*(.+?)\*\*", page) + re.findall(r"^- \*\*.+?: (`[\w-]+`)", page, re.M)
    defined = {part.strip() for cell in cells for part in re.split(r"[,()]", cell)}
    assert [term for term in TERMS if term not in defined] == []


def test_every_page_leads_to_the_glossary() -> None:
    """The menu of the first page is in the margin of every page."""
    menu = (DOCS / "index.md").read_text().partition("```{toctree}")[2]
    assert "\nreference/glossary\n" in menu
    assert "docs/reference/glossary.md" in (ROOT / "README.md").read_text()


def shown(name: str, kind: str) -> set[str]:
    """Return the names of the figures or tables that the run of a config makes."""
    path = ROOT / f"config/{name}.yaml"
    config = parse_experiment(yaml.safe_load(path.read_text()), path.name).config
    shown = [
        (section, block)
        for study, block in config.studies()
        for section in study.sections_of(block, config.facts)
    ]
    if kind == "figures":
        return {figure.name for section, block in shown for figure in section.figures}
    return {table.name for section, _ in shown for table in section.tables}


def test_gallery_shows_the_chosen_figures() -> None:
    chosen = {run: set(names) for run, names in pictures.FIGURES.items()}
    assert all(names <= shown(run, "figures") for run, names in chosen.items())
    found = set(re.findall(r"\]\(images/([\w-]+\.png)\)", (DOCS / "gallery.md").read_text()))
    wanted = {f"{run}-{name}.png" for run, names in chosen.items() for name in names}
    assert found == wanted
    drawn = {workflow.PICTURE.name, dividing.PICTURE}
    assert {path.name for path in pictures.IMAGES.iterdir()} == wanted | drawn


def test_results_that_pages_name_are_made() -> None:
    configs = {"demo": "demo", "simulated": "simulated", "paper": "config"}
    made = {(run, kind): shown(name, kind) for run, name in configs.items() for kind in KINDS}
    found = [
        (page.name, run, kind, name)
        for page in pages()
        for run, kind, name in re.findall(r"results/(\w+)/(\w+)/([\w-]+)\.\w+", page.read_text())
        if (run, kind) in made
    ]
    assert found
    assert [row for row in found if row[3] not in made[row[1], row[2]]] == []


def test_pictures_fit_the_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    figure = tmp_path / "figure.png"
    Image.new("RGBA", (2_940, 1_000), "white").save(figure)
    pictures.copied(figure, tmp_path / "picture.png")
    with Image.open(tmp_path / "picture.png") as picture:
        assert (picture.size, picture.mode) == ((1_470, 500), "P")
    assert pictures.main([tmp_path / "demo"]) == 1
    assert "demo/figures/rivals.png" in capsys.readouterr().err
    assert pictures.main([tmp_path / "other"]) == 1
    assert "known are demo, states, beyond" in capsys.readouterr().err


def test_picture_of_dividing_help_is_right_and_legible() -> None:
    """At 20 units the curves have the values of the example in `dpol.divide`."""
    figure = dividing.drawn()
    assert_legible(figure)
    received, chance = (lines(ax) for ax in figure.axes)
    for name, units in zip("ABC", (65 / 6, 17 / 3, 7 / 2), strict=True):
        assert dict(points(received[name]))[20] == pytest.approx(units)
        assert dict(points(chance[name]))[20] == pytest.approx(0.202328, abs=1e-6)
    # B gets help from 8 units on, C from 13.
    at_8, at_13 = ([dict(points(received[name]))[units] for name in "ABC"] for units in (8, 13))
    assert at_8 == pytest.approx([8, 0, 0])
    assert at_13 == pytest.approx([29 / 3, 10 / 3, 0])


def condensed(graph: str) -> set[tuple[str, str]]:
    """Return Snakemake's graph of rules, with the boxes of the picture in place of rules."""
    of_rule = {rule: box.title for box in workflow.BOXES for rule in box.rules}
    numbered = {}
    for number, name in re.findall(r'^\s*(\d+)\[label = "(\w+)"', graph, re.M):
        if name not in of_rule:
            name = re.sub(r"^\w+_(point|results)$", r"STUDY_\1", name)
        name = re.sub(r"^\w+_shown$", "SECTION_shown", name)
        numbered[number] = of_rule["results" if name == "all" else name]
    edges = re.findall(r"(\d+) -> (\d+)", graph)
    return {(numbered[a], numbered[b]) for a, b in edges if numbered[a] != numbered[b]}


def reachable(arrows: set[tuple[str, str]]) -> set[tuple[str, str]]:
    """Return all pairs of boxes with a path between them."""
    while more := {(a, d) for a, b in arrows for c, d in arrows if b == c} - arrows:
        arrows = arrows | more
    return arrows


def test_arrows_of_the_workflow_are_those_of_snakemake(tmp_path: Path) -> None:
    config = str(ROOT / "config/simulated.yaml")
    words = [sys.executable, "-m", "snakemake", "--snakefile", str(ROOT / "Snakefile")]
    graph = succeed(
        run(*words, "--directory", str(tmp_path), "--configfile", config, "--rulegraph")
    )
    edges, arrows = condensed(graph), set(workflow.ARROWS)
    assert arrows <= edges
    assert edges <= reachable(arrows)
    assert not edges <= reachable(arrows - {("Summary", "Studies")})


def test_every_rule_is_in_the_picture(tmp_path: Path) -> None:
    boxed = [rule for box in workflow.BOXES for rule in box.rules]
    assert sorted(boxed) == sorted(workflow.rules(ROOT / "workflow"))
    (tmp_path / "Snakefile").write_text("rule one:\n    input: []\n")
    (tmp_path / "more.smk").write_text("if x:\n\n    rule two:\n        input: []\n")
    assert workflow.rules(tmp_path) == {"one", "two"}
    (tmp_path / "more.smk").write_text('rule:\n    name:\n        f"{x}_new"\n')
    with pytest.raises(KeyError, match="_new"):
        workflow.rules(tmp_path)


def test_picture_of_the_workflow_is_new_and_legible() -> None:
    picture = workflow.PICTURE.read_text(encoding="utf-8")
    assert picture == workflow.drawn()
    assert picture != workflow.drawn((*workflow.BOXES, replace(workflow.BOXES[0], row=6)))
    for colours in (workflow.LIGHT, workflow.DARK):
        for text, ground in (("ink", "box"), ("ink", "paper"), ("edge", "paper")):
            both = sorted((contrast(colours[text]), contrast(colours[ground])))  # each with white
            assert both[1] / both[0] >= 4.5
    # Sans serif letters are half as wide as their size on average, monospace letters 0.602.
    for box in workflow.BOXES:
        names = ", ".join(rule for rule in box.rules if rule not in workflow.TARGETS)
        assert max(len(box.says) * 14 * 0.5, len(names) * 12 * 0.602) <= box.width - 20


def test_papers_and_privacy_round_the_numbers_of_a_guarantee_alike() -> None:
    """Both pages round epsilon and right guesses at mu = 0.5 up, to the same numbers."""
    explanation = DOCS / "explanation"
    line = re.compile(r"^(\d+) week\(s\): mu = \S+, epsilon = (\S+), .* at most (\S+)%$", re.M)
    printed = line.findall((explanation / "papers.md").read_text(encoding="utf-8"))
    row = re.compile(r"^\| (\d+) \| \S+ \| \S+% \| (\S+) \| (\S+)% \|", re.M)
    table = row.findall((explanation / "privacy.md").read_text(encoding="utf-8"))
    assert [week for week, *_ in printed] == ["1", "4"]
    assert set(printed) <= set(table)
    for weeks, epsilon, guess in printed:
        exact = protection(0.5, delta=1e-6, weeks=int(weeks))
        assert exact.epsilon <= float(epsilon) < exact.epsilon + 0.01
        assert 100 * exact.best_guess <= float(guess)


def test_privacy_states_the_stays_of_each_mechanism() -> None:
    """The table has mu of a person counted in 1, 2, 4 and 8 weeks, at mu = 0.5."""
    stream = GainStream(
        label="three",
        gains=np.full((148, 3), 0.1),
        capacity=np.full((148, 3), 40.0),
        entities=("a", "b", "c"),
        periods=np.datetime64("2021-01-03") + 7 * np.arange(148),
    )
    curator = RawGains(stream, mu=0.5)
    echo = [chain_norm(0.2, 0.6, weeks) / chain_norm(0.2, 0.6, 1) for weeks in (1, 2, 4, 8)]
    stays = {
        "independent noise": [0.5 * weeks**0.5 for weeks in (1, 2, 4, 8)],
        "correlated noise (0.2, 0.6)": [0.5 * norm for norm in echo],
        "factorised prefix sums, T = 148": guarantee_of(MatrixFTPL(), curator).stays,
        "tree, T = 148": guarantee_of(TreeFTPL(), curator).stays,
    }
    page = (DOCS / "explanation/privacy.md").read_text(encoding="utf-8")
    for mechanism, mus in stays.items():
        assert f"| {mechanism} | {' | '.join(f'{mu:.2f}' for mu in mus)} |" in page
