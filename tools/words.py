"""Refuse words that readers stumble over: `python tools/words.py`.

Read are the pages, the first lines of docstrings, and the texts in the code, which people see as
messages. What is meant nevertheless is in words.yaml, with the reason.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[1]
INSTEAD = {
    r"mend(s|ed|ing)?": "fix",
    r"told(?! apart)": "reported, shown, named",
    r"anew": "again, from scratch",
    r"beside": "compared with, next to",
    r"(?<!there )(is|are) no(?! (longer|more|less|better|larger|smaller)\b)": "is not a",
    r"whoever": "anyone who, people who",
    r"persons": "people",
    r"noised": "with noise added",
    r"(give|gives|given|giving)( it| them)? away": "share, reveal",
    r"lies? as|stands? (above|below|in(?! for))": "is, is saved",
    r"below `": "in `",
    r"(tree|matrix) FTPL|tree baseline|baseline of least noise": "tree, least noise",
}
"""What to write instead, by a pattern of what is not written."""
WORDS = [(re.compile(rf"\b(?:{it})(?!\w)", re.I), instead) for it, instead in INSTEAD.items()]
NOUNLESS = re.compile(r"(As|At|By|For|From|In|Likewise|Of|On|To|With)\b")
"""How a first line begins that does not name its thing."""
MOST_SEMICOLONS = 3
"""Of a page, outside of code and tables."""
_CODE = re.compile(r"^```.*?^```|`[^`\n]*`|<!--.*?-->|\]\([^)\n]*\)|&\w+;", re.M | re.S)


def page_problems(text: str) -> Iterator[tuple[str, str]]:
    """What a page should not say, each with the words found and what is wrong with them."""
    prose = _CODE.sub(lambda code: "``" if code[0][0] == "`" else "", text)
    yield from _words(re.sub(r"below ``", "below `", prose))
    lines = [line for line in prose.splitlines() if not line.startswith("|")]
    if (found := "".join(lines).count(";")) > MOST_SEMICOLONS:
        yield f"{found} semicolons", f"at most {MOST_SEMICOLONS}; one idea per sentence"


def code_problems(text: str) -> Iterator[tuple[str, str]]:
    """The same of a module: first lines of docstrings, and all other texts."""
    tree = ast.parse(text)
    docs = {id(it.value) for it in ast.walk(tree) if isinstance(it, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            if id(node) not in docs:
                yield from _words(node.value) if " " in node.value else ()
                continue
            first = node.value.strip().partition("\n")[0]
            yield from _words(re.sub(r"`[^`]*`", "``", first))
            if NOUNLESS.match(first):
                yield first, "name the thing first"


def _words(text: str) -> Iterator[tuple[str, str]]:
    for pattern, instead in WORDS:
        for found in pattern.finditer(text):
            around = text[max(found.start() - 30, 0) : found.end() + 30]
            yield " ".join(around.split()), f"{found[0]!r}: write {instead}"


def problems(root: Path, allowed: dict[str, str]) -> Iterator[str]:
    """What is wrong below a folder, but for what is allowed: parts of texts, with reasons."""
    pages = [root / "README.md", root / "config/README.md", *sorted(root.glob("docs/**/*.md"))]
    for path in [*pages, *sorted(root.glob("src/**/*.py"))]:
        find = page_problems if path.suffix == ".md" else code_problems
        name = path.relative_to(root).as_posix()
        for found, wrong in find(path.read_text(encoding="utf-8")):
            if not any(part in f"{name}: {found}" for part in allowed):
                yield f"{name}: “{found}”: {wrong}"


def main() -> int:
    """Print what readers would stumble over; 1 if anything is."""
    allowed = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))
    found = list(problems(ROOT, allowed))
    print("\n".join(found) or "words: all texts are plain")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
