"""What a Markdown file of the repository names is in the repository, or made by a run."""

from __future__ import annotations

import re
from pathlib import Path

import references
from pages import tracked

from code_blocks import ROOT, pages
from dpol.config.experiment import load_experiment

FILES = tracked()
# The changelog also names what has left.
PAGES = [name for name in FILES if name.endswith(".md") and name != "CHANGELOG.md"]
FENCE = re.compile(r"(?ms)^ *(```|~~~).*?^ *\1")
PATH = r"(?<![\w/.])(?:(?:benchmarks|config|docs|src/dpol|tests|tools|verify|workflow)/[\w./-]+\w)"


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as a repository host makes them."""
    heads = re.findall(r"^#+ (.*)$", FENCE.sub("", page.read_text(encoding="utf-8")), re.M)
    plain = (re.sub(r"\[(.+?)\]\(.+?\)", r"\1", head).strip().lower() for head in heads)
    return {re.sub(r"[^\w\- ]", "", head).replace(" ", "-") for head in plain}


def source(pattern: str, *ends: str) -> set[str]:
    """Return what a pattern finds in tracked files of the code, by the ends of their paths."""
    texts = ((ROOT / name).read_text(encoding="utf-8") for name in FILES if name.endswith(ends))
    return {found for text in texts for found in re.findall(pattern, text)}


TARGETS = source(r"(?m)^([\w-]+):", "Makefile")
CLI = (name for name in FILES if re.match(r"src/dpol/cli/", name))
COMMANDS = source(r"\"([a-z-]+)\"", *CLI)
MADE = "".join(sorted(source(r"(?ms)^ *```.*?^ *```", ".md")))
"""Code blocks of all pages, which make files of a reader's own."""


def lacking(name: str, text: str) -> list[str]:
    """Return what a page names that is not there: links, anchors, files, targets and commands."""
    page, lost = ROOT / name, []
    prose = FENCE.sub("", text)
    for link in re.findall(r"\]\((?!\w+:)([^)\s]+)\)", prose):
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            lost.append(link)
    spans = "\n".join(re.findall(r"`([^`\n]+)`", prose))
    paths = re.findall(rf"{PATH}|^[\w-]+\.yaml$", spans, re.MULTILINE)
    there = "".join(f"/{file}\n" for file in FILES)
    lost += [path for path in paths if f"/{path}" not in there and path not in MADE]
    code = spans + "\n" + "\n".join(it[0] for it in FENCE.finditer(text))
    lost += set(re.findall(r"(?m)(?:^|&& )make ([a-z][\w-]*)", code)) - TARGETS
    return lost + sorted(set(re.findall(r"(?m)^dpol ([a-z-]+)", code)) - COMMANDS)


def test_what_a_page_names_is_there() -> None:
    texts = {name: (ROOT / name).read_text(encoding="utf-8") for name in PAGES}
    assert {name: lost for name, text in texts.items() if (lost := lacking(name, text))} == {}


def test_every_config_is_in_the_list() -> None:
    listed = (ROOT / "config/README.md").read_text(encoding="utf-8")
    configs = [path.name for path in (ROOT / "config").glob("*.yaml")]
    assert [name for name in configs if f"`{name}` |" not in listed] == []


# ---- results and rules ---------------------------------------------------------------------------


def made() -> dict[str, set[str]]:
    """Return the figures and tables that each config makes, by the name of its run."""
    made = {}
    for path in (ROOT / "config").glob("*.yaml"):
        config = load_experiment(path)
        for study, block in config.studies():
            for section in study.sections_of(block, config.facts):
                names = {f"figures/{it.name}" for it in section.figures}
                names |= {f"tables/{it.name}" for it in section.tables}
                made.setdefault(config.run, set()).update(names)
    return made


def test_results_that_pages_name_are_made() -> None:
    there, named = made(), r"results/([\w-]+)/((?:figures|tables)/[\w-]+)\.\w+"
    found = {(page.name, *it) for page in pages() for it in re.findall(named, page.read_text())}
    of_configs = {each for each in found if each[1] in there}
    assert of_configs
    assert {each for each in of_configs if each[2] not in there[each[1]]} == set()


# ---- works: every arXiv number and DOI of the repository is in one list -------------------------

NUMBERS = (".csv", ".json", ".svg", ".tsv")
"""Files of numbers, some of which look like those of arXiv."""
_ID = re.compile(
    r"arxiv\W*(?:org/)?(?:abs/|pdf/|html/)?(\d{4}\.\d{4,5})(?!\d)"  # a number named as arXiv's
    r"|(?<![\d.])((?:1[5-9]|2\d)(?:0[1-9]|1[0-2])\.\d{5})(?![\d.]*\d)"  # one that looks like it
    r"|(?<![\d.])(10\.\d{4,9}/[-.\w/]*\w)",
    re.IGNORECASE,
)


def texts() -> dict[str, str]:
    """Return the texts of the repository by name."""
    found = {}
    for name in FILES:
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
    strange = {name: outside(text) for name, text in texts().items()}
    assert {name: ids for name, ids in strange.items() if ids} == {}
