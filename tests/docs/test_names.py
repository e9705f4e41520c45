"""What pages name is there: files, results, works, modules and functions, keys of a config."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import references
import yaml
from pages import tracked

import dpol
from code_blocks import ROOT, docs_pages, pages
from dpol.config.experiment import load_experiment, parse_experiment
from dpol.core.errors import ConfigError
from small_config import LOCAL, changed

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


def test_what_the_set_up_names_is_there() -> None:
    """Its errors name targets of make, with the Python to take before them."""
    text = (ROOT / "requirements/setup.sh").read_text(encoding="utf-8")
    named = set(re.findall(r"make PYTHON=\S+ ([a-z-]+)", text))
    assert named
    assert named <= TARGETS


def test_no_page_edits_a_file_in_place() -> None:
    """The sed of macOS reads `-i` otherwise than that of Linux."""
    assert [page for page in docs_pages() if "sed -i" in page.read_text(encoding="utf-8")] == []


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


# ---- the library -------------------------------------------------------------------------------

MODULES = ["dpol", *(module.name for module in pkgutil.walk_packages(dpol.__path__, "dpol."))]


def public(module: ModuleType) -> Iterator[tuple[str, Any]]:
    """Yield the public classes and functions that a module defines."""
    for name, value in vars(module).items():
        if name.startswith("_") or getattr(value, "__module__", None) != module.__name__:
            continue
        if inspect.isclass(value) or inspect.isfunction(inspect.unwrap(value)):
            yield name, value


def resolve(name: str) -> bool:
    """Return whether a module, a class or an attribute exists."""
    module = max((it for it in MODULES if f"{name}.".startswith(f"{it}.")), key=len, default="")
    if not module:
        return False
    value: Any = importlib.import_module(module)
    parts = name.removeprefix(module).split(".")[1:]
    for part in parts:
        if part in annotations(value):  # a field that has no value before there is an instance
            return part == parts[-1]
        if not hasattr(value, part):
            return False
        value = getattr(value, part)
    return True


def annotations(value: Any) -> set[str]:
    """Return the annotated fields of a class."""
    classes = value.__mro__ if inspect.isclass(value) else ()
    return {name for each in classes for name in inspect.get_annotations(each)}


GROUPS = {f"dpol.{kind}" for kind in ("algorithms", "learners", "noises", "studies", "commands")}
"""Groups of entry points, which pages name too."""


def lost_names(name: str, text: str, about: str = "") -> list[str]:
    """Return the names in a text, and of parts of a package in its docstring, that do not exist."""
    names = {*re.findall(r"`(dpol(?:\.\w+)+)(?::\w+)?`", text)} - GROUPS
    names |= {f"{name}.{part}" for part in re.findall(r"`([a-z_]+)`", about)}
    return [each for each in sorted(names) if not resolve(each)]


def test_names_of_the_library_on_a_page_exist() -> None:
    for page in docs_pages():
        text = page.read_text(encoding="utf-8")
        assert lost_names("dpol", text) == [], page
        assert re.findall(r"\{[\w:]+\}`", text) == [], f"{page}: code hosts show roles as they are"


def test_docstrings_name_what_is_there() -> None:
    for name in MODULES:
        module = importlib.import_module(name)
        text = Path(str(module.__file__)).read_text(encoding="utf-8")
        about = module.__doc__ or "" if hasattr(module, "__path__") else ""
        assert lost_names(name, text, about) == [], name


def arguments(description: str) -> list[str]:
    """Return the names in the section `Args:`."""
    section = re.search(r"^Args:\n((?:    .*\n|\n)*)", inspect.cleandoc(description) + "\n", re.M)
    return re.findall(r"^    (\w+):", section[1], re.M) if section else []


def callables(module: ModuleType) -> Iterator[Any]:
    """Yield the classes, functions and methods that a module defines."""
    for _, value in public(module):
        yield value
        if inspect.isclass(value):
            functions = filter(inspect.isfunction, vars(value).values())
            yield from (value for value in functions if value.__module__ == module.__name__)


def test_described_arguments_are_those_there_are() -> None:
    """A docstring describes all arguments, in their order, or none."""
    for value in (it for name in MODULES for it in callables(importlib.import_module(name))):
        if found := arguments(value.__doc__ or ""):
            there = inspect.signature(value).parameters
            assert found == [parameter for parameter in there if parameter != "self"], value


# ---- blocks in braces on the page of configs are some that a config may have at their place ------

BLOCK = re.compile(r"\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}")
ENTRIES = "suites.noisy.algorithms"


def blocks_in(page: str) -> Iterator[tuple[str, str]]:
    """Yield the key of each block, as in the manual's tables or empty for others, and its text."""
    heading = ""
    for line in page.splitlines():
        if line.startswith("### "):
            heading = re.split("[ ,]", line)[1]
        key = re.match(r"`([\w.]+)` \|", line)
        for text in BLOCK.findall(line):
            yield f"{heading}.{key[1]}" if key else "", text


def refused(key: str, text: str) -> bool:
    """Return whether a config that has the block there is refused.

    A block without a key is an entry of a suite, or of the learners of one. The words of a key may
    show its value, or the block that has it.
    """
    block = yaml.safe_load(text)
    if key:
        tried = [{key: block}, {key.rpartition(".")[0]: block}]
    elif "learner" in block:
        tried = [{ENTRIES: [{"algorithm": "rw-meta", "learners": [block]}]}]
    else:
        tried = [{ENTRIES: [block]}]
    base = {"dataset.source": LOCAL, "report.algorithms": []}
    for change in tried:
        try:
            parse_experiment(changed(base, change), "")
        except ConfigError:
            continue
        return False
    return True


def test_every_block_is_one_of_a_config() -> None:
    found = list(blocks_in((ROOT / "config" / "README.md").read_text(encoding="utf-8")))
    assert len([text for key, text in found if not key]) >= 3
    assert len([text for key, text in found if key]) >= 4
    assert [each for each in found if refused(*each)] == []
