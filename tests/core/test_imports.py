"""The closure of imports: what a job watches."""

from __future__ import annotations

import io
import subprocess
import sys
import tokenize
from pathlib import Path

import pytest

from dpol.core import imports
from dpol.core.imports import PACKAGE, closure, code_hash


def names(*starts):
    return {str(path.relative_to(PACKAGE)) for path in closure(*starts)}


@pytest.mark.parametrize(
    "module", ["dpol.privacy.account", "dpol.studies.games.runs", "dpol.show.table"]
)
def test_the_closure_holds_every_module_that_an_import_loads(module):
    """The closure is compared with Python itself, in a process of its own."""
    code = f"""import sys, {module}
print(*[m.__file__ for n, m in sys.modules.items() if n.split('.')[0] == 'dpol'])"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert set(map(Path, done.stdout.split())) <= set(closure(module))


def test_imports_for_type_checkers_are_not_followed():
    assert "data/stream.py" not in names("dpol.studies.study")


def test_a_study_watches_neither_registries_nor_other_studies():
    found = names("dpol.studies.batching.study")
    assert "experts/adabatch.py" in found
    assert not {"experts/registry.py", "studies/registry.py", "studies/audits/core.py"} & found


def test_a_script_is_followed(tmp_path):
    script = tmp_path / "script.py"
    script.write_text("def f():\n    from dpol.core.files import atomic_path\n")
    assert names(script) == {"__init__.py", "core/__init__.py", "core/files.py", "core/errors.py"}


def test_what_is_no_module_is_refused():
    with pytest.raises(ModuleNotFoundError, match=r"dpol\.nothing is not a module of dpol"):
        closure("dpol.nothing")


def test_the_hash_changes_with_the_code_and_with_the_data_beside_it(tmp_path, monkeypatch):
    package = tmp_path / "dpol"
    (package / "one" / "templates").mkdir(parents=True)
    watched = ["one/a.py", "two.py", "two.yaml", "one/c.csv", "one/templates/d.css"]
    for name in ("__init__.py", "one/__init__.py", "one/b.py", "one/b.yaml", *watched):
        (package / name).write_text("import dpol.two" if name == "one/a.py" else "")
    monkeypatch.setattr(imports, "PACKAGE", package)

    def after(name):
        return hashed_after(package / name, "\nx = 1\n")

    first = code_hash("dpol.one.a")
    assert after("one/b.py") == after("one/b.yaml") == first
    assert len({first, *map(after, watched)}) == 1 + len(watched)
    forget()


def forget():
    for known in (imports._imports, imports._tree, imports._code):
        known.cache_clear()


def hashed_after(path, more):
    """The hash of `dpol.one.a` once a file has grown."""
    path.write_text(path.read_text() + more)
    forget()
    return code_hash("dpol.one.a")


@pytest.fixture
def one(tmp_path, monkeypatch):
    """A package with one module, `dpol.one.a`; its file."""
    package = tmp_path / "dpol"
    (package / "one").mkdir(parents=True)
    for name in ("__init__.py", "one/__init__.py", "one/a.py"):
        (package / name).write_text("")
    monkeypatch.setattr(imports, "PACKAGE", package)
    forget()
    yield package / "one/a.py"
    forget()


CODE = '''"""A module."""

import os  # for its separator

LINES = """first  # no comment

last"""
"""An attribute."""


class Kind:
    """A class."""

    # A comment.
    name = 'it''s "#1"'  # one


def act(value):
    r"""Backslashes: \\."""
    if value:

        return f"{value}#"
    text = (
        "a string"  # in brackets
        "# another"
    )
    return text
'''
SAME = [
    ("A module.", "Another module."),
    ("  # for its separator", ""),
    ('"""An attribute."""\n', ""),
    ("A class.", "A class.\n\n    More of it.\n    "),
    ("    # A comment.\n", ""),
    ("# A comment.", '# It\'s "another".'),
    ("  # in brackets", ""),
    ("    if value:\n\n", "    if value:\n"),
    ('    r"""Backslashes: \\."""\n', ""),
]
OTHER = [
    ("first  # no comment", "first"),
    ("first  # no comment\n\n", "first  # no comment\n"),
    ('"#1"', '"#2"'),
    ("}#", "}"),
    ("a string", "no string"),
    ("# another", "# other"),
    ("return text", "text"),
    ("import os", "import io"),
]


@pytest.mark.parametrize(("old", "new"), [*SAME, *OTHER])
def test_all_but_comments_docstrings_and_blank_lines_is_code(one, old, new):
    """A part of a string that looks like a comment is code too."""
    assert CODE.count(old) == 1
    first = hashed_after(one, CODE)
    one.write_text("")
    assert (hashed_after(one, CODE.replace(old, new)) == first) == ((old, new) in SAME)


def test_of_every_module_no_token_is_lost_but_docstrings_and_comments():
    """The code is compared with Python's own tokens."""
    skipped = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.ENCODING}
    skipped |= {tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}

    def tokens(text):
        found = tokenize.tokenize(io.BytesIO(text).readline)
        return [it.string for it in found if it.type not in skipped]

    for path in sorted(PACKAGE.rglob("*.py")):
        kept = iter(tokens(imports._code(path) + b"\n"))
        wanted = next(kept, None)
        for token in tokens(path.read_bytes()):
            if token == wanted:
                wanted = next(kept, None)
            else:
                assert token.lstrip("r").startswith('"""'), (path, token)
        assert wanted is None, path


def test_addresses_of_tables_and_words_about_figures_are_watched_by_name_only():
    names = ("dpol.data.sources", "dpol.studies.lazy.study")
    files = {path.name for path in imports.watched(*names)}
    assert files >= {"sources.py", "study.py", "results.yaml"}
    assert not files & set(imports.UNWATCHED)
    shown = imports.PACKAGE / "studies/lazy/shown.yaml"
    assert shown in imports.watched(shown)
