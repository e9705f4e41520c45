"""The files that a module needs, found by following its imports: what a job has to watch.

Imports under `if TYPE_CHECKING` are left out, because they are not made when the program runs.
A registry that names modules as text is not followed either: who uses one of its entries watches
the module of that entry.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

PACKAGE = Path(__file__).parents[1]
NAME = PACKAGE.name


def load(reference: str) -> Any:
    """The object, such as a function or a class, that "module:name" names."""
    module, _, name = reference.partition(":")
    return getattr(import_module(module), name)


def closure(*starts: str | Path) -> frozenset[Path]:
    """Files of the package that run when `starts` are imported.

    Args:
        starts: dotted names of modules, such as `dpol.lazy.transform`, or files of scripts.

    Raises:
        ModuleNotFoundError: a module is not a file of the package.

    >>> "gaussian_dp.py" in {path.name for path in closure("dpol.privacy.account")}
    True
    """
    found: set[Path] = set()
    waiting = [_file(it) if isinstance(it, str) else it for it in starts]
    while waiting:
        path = waiting.pop()
        if path not in found:
            found.add(path)
            waiting += _imports(path)
    return frozenset(path for path in found if PACKAGE in path.parents)


def code_hash(*starts: str | Path) -> str:
    """A hash of the code that runs when `starts` are imported, and of the data files next to it.

    >>> code_hash("dpol.core.errors") == code_hash("dpol.core.errors")
    True
    """
    code = closure(*starts)
    beside = (path for folder in {path.parent for path in code} for path in _data_files(folder))
    whole = hashlib.sha256()
    for path in sorted({*code, *beside}):
        whole.update(f"{path.relative_to(PACKAGE)}\0".encode() + path.read_bytes())
    return whole.hexdigest()[:16]


def _data_files(folder: Path) -> Iterator[Path]:
    found = [*folder.iterdir(), *folder.glob("templates/*")]
    return (
        path for path in found if path.is_file() and path.suffix not in (".py", ".pyi", ".typed")
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
    for node in _nodes(ast.parse(path.read_bytes())):
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


def _nodes(tree: ast.AST) -> Iterator[ast.Import | ast.ImportFrom]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node
        elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            continue
        else:
            yield from _nodes(node)
