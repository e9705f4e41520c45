"""The documentation as a reader opens it in a browser."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from code_blocks import ROOT, docs_pages

# One worker builds the pages for all.
pytestmark = pytest.mark.xdist_group("site")

BUILD = [sys.executable, "-m", "sphinx", "--fail-on-warning", "--keep-going", "--quiet"]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the pages; a warning, such as a link that leads nowhere, is an error."""
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run([*BUILD, str(ROOT / "docs"), str(folder)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder


def test_every_page_is_reached_from_the_first(site: Path) -> None:
    reached: set[Path] = set()
    todo = [site / "index.html"]
    while todo:
        page = todo.pop()
        if page not in reached:
            reached.add(page)
            links = re.findall(r'href="([^"#:]+\.html)', page.read_text())
            todo += [(page.parent / link).resolve() for link in links]
    sources = {path.relative_to(ROOT / "docs").with_suffix(".html") for path in docs_pages()}
    assert {path.relative_to(site) for path in reached} >= sources


def test_the_first_page_leads_to_the_default_run_if_that_is_finished(site: Path) -> None:
    """test_every_page_is_reached_from_the_first follows the links of that page."""
    finished = (ROOT / "results/central-texas/ro-crate-metadata.json").exists()
    assert (site / "play/report/index.html").exists() == finished
    assert ('<a href="play/report/index.html">' in (site / "index.html").read_text()) == finished


def test_names_of_the_library_lead_to_their_description(site: Path) -> None:
    """The pages write symbols and public names as plain code, for a code host too."""
    linked = r'<a class="reference internal" href="library/dpol[^>]*><code'
    for page, part in (("glossary", "symbols"), ("library", "names")):
        text = (site / f"reference/{page}.html").read_text().partition(f'<section id="{part}">')[2]
        section = text.partition("</section>")[0]
        assert section.count("<code") == len(re.findall(linked, section)) > 40


def test_no_symbol_is_taken_for_the_number_of_a_list(site: Path) -> None:
    # "n_rounds: T." in a docstring becomes a list whose first item is T.
    pages = sorted((site / "reference/library").glob("*.html"))
    assert pages
    taken = [page for page in pages if re.search(r"<ol class=\"\w*alpha", page.read_text())]
    assert taken == []
