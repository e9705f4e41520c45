"""What a Markdown file of the repository names is in the repository."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from code_blocks import ROOT

LISTED = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)
FILES = LISTED.stdout.split()
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


LOST = """
[a page](docs/no-page.md) [a heading](docs/index.md#no-heading)
`no-such-config.yaml`
`config/no-such-config.yaml` `python tools/no_such_tool.py`
`make no-such-target`
`dpol nosuch`

```sh
make setup && make no-other-target
```
"""


def test_what_is_not_there_is_found() -> None:
    assert len(lacking("README.md", LOST)) == 8
