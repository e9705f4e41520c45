"""Refuse words that readers stumble over: `python tools/words.py`.

The check reads the pages, docstrings, comments, YAML files and templates, and the texts in the
code of dpol, which people see as messages. words.yaml lists what is meant, with the reason.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
from collections.abc import Callable, Iterator
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
"""Better words, by a pattern of what is not written."""
Found = tuple[str, str]
"""Words of a text, and what is wrong with them."""
WORDS = [(re.compile(rf"\b(?:{it})(?!\w)", re.I), instead) for it, instead in INSTEAD.items()]
NOUNLESS = re.compile(
    r"(Adds|After|Against|Also|And|As|At|Because|Before|Between|Both|By|For|From|How|If|In"
    r"|Likewise|Of|On|Or|Raises|Sends|So|Stands|The same|Those|To|Until|What|When|Where|Whether"
    r"|Which|Who|Whom|Whose|Why|With|Without|Writes)\b",
    re.I,
)
"""The first words of a line that neither names its thing nor says what to do."""
MOST_SEMICOLONS = 3
"""Number of semicolons that a page may have, outside of code, tables and lists of names."""
_INLINE = re.compile(r"`[^`]*`|^ *(>>>|\.\.\.) .*$", re.M)
_CODE = re.compile(r"^```.*?^```|`[^`\n]*`|<!--.*?-->|\]\([^)\n]*\)|&\w+;", re.M | re.S)


def page_problems(text: str) -> Iterator[Found]:
    """The words found that a page should not have, each with what is wrong with them."""
    prose = _CODE.sub(lambda code: "``" if code[0][0] == "`" else "", text)
    yield from _words(re.sub(r"below ``", "below `", prose))
    lines = [line for line in prose.splitlines() if not line.startswith(("|", "- ``"))]
    if (found := "".join(lines).count(";")) > MOST_SEMICOLONS:
        yield f"{found} semicolons", f"at most {MOST_SEMICOLONS}; one idea per sentence"


def code_problems(text: str) -> Iterator[Found]:
    """Problems of a module: of its docstrings, of its comments, and of all other texts."""
    yield from docstring_problems(text)
    tree = ast.parse(text)
    docs = _docstrings(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in docs:
            yield from _words(node.value) if " " in node.value else ()


def docstring_problems(text: str) -> Iterator[Found]:
    """Problems of the docstrings and comments of a module."""
    for node in _docstrings(ast.parse(text)):
        doc = str(node.value).strip()
        yield from _words(_INLINE.sub("``", doc))
        yield from _first_words(doc.partition("\n")[0])
    yield from comment_problems(text)


def comment_problems(text: str) -> Iterator[Found]:
    """Problems of the comments of a module or a Snakefile."""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield from _words(_INLINE.sub("``", token.string))


def yaml_problems(text: str) -> Iterator[Found]:
    """Problems of a YAML file: of all its lines, and of the first words of descriptions."""
    yield from _words(_INLINE.sub("``", re.sub(r"\n *# ?", "\n", text)))
    for meaning in re.findall(r"^ +(?:about: |\w+: \[[\w ]+, )\"?([^\"\n]*)", text, re.M):
        yield from _first_words(meaning)


def template_problems(text: str) -> Iterator[Found]:
    """Problems of the text of a Jinja template, without tags, styles and comments."""
    tags = r"\{#.*?#\}|\{%.*?%\}|<(style|script)\b.*?</\1>|<[^<>]*>"
    yield from _words(re.sub(r"`[^`]*`", "", re.sub(tags, " ", text, flags=re.DOTALL)))


def _docstrings(tree: ast.AST) -> list[ast.Constant]:
    values = [it.value for it in ast.walk(tree) if isinstance(it, ast.Expr)]
    return [it for it in values if isinstance(it, ast.Constant) and isinstance(it.value, str)]


def _first_words(line: str) -> Iterator[Found]:
    if NOUNLESS.match(line):
        yield line, "name the thing first"


def _words(text: str) -> Iterator[Found]:
    text = " ".join(text.split())
    for pattern, instead in WORDS:
        for found in pattern.finditer(text):
            around = text[max(found.start() - 30, 0) : found.end() + 30]
            yield around.strip(), f"{found[0]!r}: write {instead}"


FILES: dict[str, Callable[[str], Iterator[Found]]] = {
    "README.md": page_problems,
    "config/README.md": page_problems,
    "docs/**/*.md": page_problems,
    "src/**/*.py": code_problems,
    **{
        f"{folder}/**/*.py": docstring_problems
        for folder in ("benchmarks", "data", "docs", "tests", "tools", "verify", "workflow")
    },
    "workflow/**/*.smk": comment_problems,
    "src/**/*.yaml": yaml_problems,
    **{f"{folder}/*.yaml": yaml_problems for folder in ("benchmarks", "config", "verify")},
    "src/**/*.j2": template_problems,
    "src/**/*.js": _words,
}
"""The files that are checked, by patterns, with what finds their problems."""


def problems(root: Path, allowed: dict[str, str]) -> Iterator[str]:
    """Problems of the files of a folder that are not allowed: parts of texts, with reasons."""
    for pattern, find in FILES.items():
        for path in sorted(root.glob(pattern)):
            name = path.relative_to(root).as_posix()
            for found, wrong in find(path.read_text(encoding="utf-8")):
                if not any(part in f"{name}: {found}" for part in allowed):
                    yield f"{name}: “{found}”: {wrong}"


def main() -> int:
    """Print all problems; 1 if there are any."""
    allowed = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))
    found = list(problems(ROOT, allowed))
    print("\n".join(found) or "words: all texts are plain")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
