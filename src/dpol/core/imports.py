"""The files that a module needs, found by following its imports: what a job has to watch.

Imports under `if TYPE_CHECKING` are left out, because they are not made when the program runs.
A registry that names modules as text is not followed either: who uses one of its entries watches
the module of that entry. A module of another package is watched with its whole package.
"""

from __future__ import annotations

import ast
import hashlib
import re
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from dpol.core.plugins import package_of

PACKAGE = Path(__file__).parents[1]
NAME = PACKAGE.name

UNWATCHED = ("sources.yaml", "shown.yaml")
"""Data files that no result depends on: addresses, with which a table is fetched once and kept, and
words about figures and tables, which those watch by name that show them."""


def load(reference: str) -> Any:
    """The object, such as a function or a class, that "module:name" names."""
    module, _, name = reference.partition(":")
    return getattr(import_module(module), name)


def closure(*starts: str | Path) -> frozenset[Path]:
    """Files of the package that run when `starts` are imported.

    Args:
        starts: dotted names of modules, such as `dpol.lazy.transform`, or files: scripts and data.
            Modules of other packages are left out.

    Raises:
        ModuleNotFoundError: a module of dpol is not there.

    >>> "gaussian_dp.py" in {path.name for path in closure("dpol.privacy.account")}
    True
    """
    found: set[Path] = set()
    waiting = [_file(it) if isinstance(it, str) else it for it in starts if not is_foreign(it)]
    while waiting:
        path = waiting.pop()
        if path not in found:
            found.add(path)
            waiting += _imports(path)
    return frozenset(path for path in found if PACKAGE in path.parents)


def watched(*starts: str | Path) -> frozenset[Path]:
    """The files that `code_hash` hashes: the closure, and the data files next to it.

    A data file of the name of a module counts with that module only.

    Raises:
        ModuleNotFoundError: a module is not a file of the package.
    """
    code = closure(*starts)
    beside = {path for folder in {path.parent for path in code} for path in _data_files(folder)}
    others = {it for it in beside if (own := it.with_suffix(".py")).exists() and own not in code}
    return code | (beside - others)


def code_hash(*starts: str | Path, made: str = "") -> str:
    """A hash of the code that runs when `starts` are imported, and of the data files next to it.

    Comments, docstrings and blank lines do not count.

    Args:
        starts: as for `closure`.
        made: more that the result depends on, as text.

    Raises:
        ModuleNotFoundError: a module is not a file of the package.

    >>> code_hash("dpol.core.errors") == code_hash("dpol.core.errors")
    True
    >>> code_hash("dpol.core.errors") == code_hash("dpol.core.errors", made="x")
    False
    """
    whole = hashlib.sha256(made.encode())
    for path in sorted(watched(*starts)):
        whole.update(f"\0{path.relative_to(PACKAGE)}\0".encode() + _code(path))
    foreign = {str(it).partition(".")[0] for it in starts if is_foreign(it)}
    for package in map(package_of, sorted(foreign)):
        whole.update(f"\0{package.name} {package.version}\0{package.sha256}".encode())
    return whole.hexdigest()[:16]


_STRING_OR_END = re.compile(
    rb'''("""(?:[^\\]|\\.)*?"""|\'\'\'(?:[^\\]|\\.)*?\'\'\''''
    rb"""|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')|(?:[ \t]*(?:\#[^\n]*)?\n)+""",
    re.DOTALL,
)
"""A string, in the first group; or the end of a line, with its comment and empty lines after it."""


def is_foreign(start: str | Path) -> bool:
    """True if a module is of another package."""
    return isinstance(start, str) and start.partition(".")[0] != NAME


@cache
def _code(path: Path) -> bytes:
    """A file without what no result depends on: its comments, docstrings and blank lines.

    It is text and no syntax tree, so that it is the same for every Python.
    """
    text = path.read_bytes()
    if path.suffix != ".py":
        return text
    lines = text.splitlines(keepends=True)
    for node in _statements(_tree(path)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            first, last = node.lineno - 1, (node.end_lineno or node.lineno) - 1
            before, after = lines[first][: node.col_offset], lines[last][node.end_col_offset :]
            if isinstance(node.value.value, str) and not (before + after).strip():
                lines[first : last + 1] = [b""] * (last + 1 - first)
    code = _STRING_OR_END.sub(lambda it: it[1] or b"\n", b"".join(lines) + b"\n")
    return code.strip()


@cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_bytes())


def _data_files(folder: Path) -> Iterator[Path]:
    found = [*folder.iterdir(), *folder.glob("templates/*")]
    return (
        path
        for path in found
        if path.is_file()
        and path.suffix not in (".py", ".pyi", ".typed")
        and path.name not in UNWATCHED
    )


def _file(module: str) -> Path:
    path = PACKAGE.joinpath(*module.split(".")[1:])
    for found in (path.with_suffix(".py"), path / "__init__.py"):
        if module.split(".")[0] == NAME and found.is_file():
            return found
    raise ModuleNotFoundError(f"{module} is not a module of {NAME}", name=module)


@cache
def _imports(path: Path) -> tuple[Path, ...]:
    """The files that a file imports, and the packages around it."""
    found = [
        folder / "__init__.py" for folder in path.parents if PACKAGE in (folder, *folder.parents)
    ]
    for node in _statements(_tree(path)) if path.suffix == ".py" else ():
        if not isinstance(node, ast.Import | ast.ImportFrom):
            continue
        names = [alias.name for alias in node.names]
        if isinstance(node, ast.ImportFrom):
            # `from package import name`: the name may be a module or something in the package.
            names = [node.module or "", *(f"{node.module}.{name}" for name in names)]
        for name in names:
            if name.split(".")[0] == NAME:
                try:
                    found.append(_file(name))
                except ModuleNotFoundError:
                    continue
    return tuple(found)


def _statements(tree: ast.AST) -> Iterator[ast.stmt]:
    """All statements, inner ones too, but for those under `if TYPE_CHECKING`."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            continue
        if isinstance(node, ast.stmt):
            yield node
        if isinstance(node, ast.stmt | ast.excepthandler | ast.match_case):
            yield from _statements(node)
