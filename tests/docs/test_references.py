"""Every arXiv number and DOI of the repository is in one list."""

from __future__ import annotations

import re
import subprocess

import references

from code_blocks import ROOT

LISTED = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)
NUMBERS = (".csv", ".json", ".svg", ".tsv")
"""Files of numbers, some of which look like those of arXiv."""
_ID = re.compile(
    r"arxiv\W*(?:org/)?(?:abs/|pdf/|html/)?(\d{4}\.\d{4,5})(?!\d)"  # a number named as arXiv's
    r"|(?<![\d.])((?:1[5-9]|2\d)(?:0[1-9]|1[0-2])\.\d{5})(?![\d.]*\d)"  # one that looks like it
    r"|(?<![\d.])(10\.\d{4,9}/[-.\w/]*\w)",
    re.IGNORECASE,
)
HERE = "tests/docs/test_references.py"
MADE = ("docs/references.yaml", "docs/reference/references.md", "CITATION.cff")


def texts() -> dict[str, str]:
    """Return the texts of the repository by name."""
    found = {}
    for name in LISTED.stdout.split():
        raw = (ROOT / name).read_bytes() if (ROOT / name).is_file() else b"\0"
        if b"\0" not in raw and not name.endswith(NUMBERS) and "/requirements/" not in f"/{name}":
            found[name] = raw.decode()
    return found


def outside(text: str) -> set[str]:
    """Return the arXiv numbers and DOIs in a text that are not among the references."""
    every = [work for part in references.references().values() for work in part]
    known = {work.get(name) for work in every for name in ("arxiv", "doi")}
    return {next(filter(None, found)) for found in _ID.findall(text)} - known


def test_every_number_of_a_work_is_in_the_list() -> None:
    strange = {name: outside(text) for name, text in texts().items() if name != HERE}
    assert {name: ids for name, ids in strange.items() if ids} == {}


def test_every_work_that_is_used_is_cited_where_it_is_used() -> None:
    others = "".join(text for name, text in texts().items() if name not in MADE)
    works = [work for part in references.references().values() for work in part]
    used = [work for work in works if references.is_used(work) and "arxiv" in work]
    assert [work["title"] for work in used if work["arxiv"] not in others] == []


def test_numbers_outside_the_list_are_found() -> None:
    written = "see [2413](https://arxiv.org/abs/1301.0001)", "(arXiv\n    0712.1234)"
    bare = "the abstract of 2401.12345.", "https://doi.org/10.1145/1234.5678"
    assert [len(outside(text)) for text in (*written, *bare)] == [1, 1, 1, 1]
