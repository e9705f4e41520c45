"""Hashes of the code of dpol that a job can run, by room: what makes the job run again.

A room is a package or a module directly below `dpol`, or a study. Which module imports which is
read from their text, so planning imports none of them.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpol.core.plugins import NAME, files_of_package, is_foreign

if TYPE_CHECKING:
    from grimp import ImportGraph

ROOT = Path(__file__).parents[1]
"""The folder of dpol."""

_WITH_DOCSTRINGS = ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef
_NO_DATA = {".py", ".pyi", ".typed"}


@cache
def hash_by_room(modules: frozenset[str]) -> Mapping[str, str]:
    """Return a hash of the modules of each room, and of the files that they read.

    Comments, docstrings and layout are left out.
    """
    rooms: dict[str, list[str]] = {}
    for module in sorted(modules):
        rooms.setdefault(room_of(module), []).append(module)
    return {room: _hash_of(inside) for room, inside in rooms.items()}


def code_of_results() -> str:
    """Hash all code of dpol but what checks, plans, shows and compares results."""
    return _hash_of(sorted(every_module("checks", "cli", "plan", "report", "show")))


def room_of(module: str) -> str:
    """Return the room of a module of dpol.

    >>> room_of("dpol.noise.noises"), room_of("dpol.studies.games.compute"), room_of("dpol")
    ('noise', 'studies.games', 'dpol')
    >>> room_of("dpol.studies.study")
    'studies'
    """
    _, *path = module.split(".")
    is_study = path[:1] == ["studies"] and _path_of(module).parent != ROOT / "studies"
    return ".".join(path[: 1 + is_study]) or NAME


@cache
def reach(*modules: str) -> frozenset[str]:
    """Return the modules of dpol that may be imported after some modules, at once or later.

    Args:
        modules: dotted names; modules of other packages are left out.

    Raises:
        grimp.exceptions.ModuleNotPresent: dpol has no such module.

    >>> "dpol.data.stream" in reach("dpol.experts.play"), "dpol.lazy" in reach("dpol.labels")
    (True, False)
    """
    reached: set[str] = set()
    waiting = [module for module in modules if not is_foreign(module)]
    while waiting:
        module = waiting.pop()
        if module not in reached:
            reached.add(module)
            waiting += _graph().find_modules_directly_imported_by(module)
            waiting += filter(None, [module.rpartition(".")[0]])  # Python runs its package first
    return frozenset(reached)


def every_module(*without: str) -> frozenset[str]:
    """Return all modules of dpol, except those in the rooms that are named."""
    return frozenset(it for it in _graph().modules if room_of(it) not in without)


@cache
def imports_of(script: Path) -> frozenset[str]:
    """Return the modules of dpol that a script imports."""
    tree = ast.walk(ast.parse(script.read_text(encoding="utf-8")))
    named = {str(node.module) for node in tree if isinstance(node, ast.ImportFrom)}
    return frozenset(name for name in named if not is_foreign(name))


@cache
def files_by_reader() -> Mapping[str, list[Path]]:
    """Return the files that are no code, by the modules of their package that read them.

    These name a file, or have its name; if no module does, all may read it. The `results.yaml` of a
    study belongs to `study.py` and `show.py`, which no job that computes a point imports.
    """
    files: dict[str, list[Path]] = {}
    for _, path in sorted(files_of_package(NAME)):
        package = next(it for it in path.parents if (it / "__init__.py").is_file())
        # A wheel holds the pipeline in dpol itself; Snakemake watches it.
        if path.suffix in _NO_DATA or package == ROOT:
            continue
        stems = {"study", "show"} if path.name == "results.yaml" else {path.stem}
        inside = {it: _path_of(it) for it in _graph().modules if _path_of(it).parent == package}
        readers = [
            module
            for module, code in inside.items()
            if code.stem in stems or path.name in code.read_text(encoding="utf-8")
        ]
        for module in readers or inside:
            files.setdefault(module, []).append(path)
    return files


@cache
def _graph() -> ImportGraph:
    import grimp  # the library does without it

    return grimp.build_graph(NAME, exclude_type_checking_imports=True, cache_dir=None)


@cache
def _path_of(module: str) -> Path:
    below = ROOT.joinpath(*module.split(".")[1:])
    return below / "__init__.py" if below.is_dir() else below.with_suffix(".py")


def _hash_of(modules: list[str]) -> str:
    whole = hashlib.sha256()
    for module in modules:
        whole.update(f"\0{module}\0{_hash_of_module(module)}".encode())
    return whole.hexdigest()[:12]


@cache
def _hash_of_module(module: str) -> str:
    """Hash a module, without what no job runs, and the files that it reads."""
    whole = hashlib.sha256(_without_words(_path_of(module).read_bytes()).encode())
    for file in files_by_reader().get(module, ()):
        whole.update(f"\0{file.name}\0".encode() + file.read_bytes())
    return whole.hexdigest()


def _without_words(text: bytes) -> str:
    """Return the syntax tree of a module without docstrings, comments and lines."""
    tree = ast.parse(text)
    blocks: list[Any] = [tree]
    for block in blocks:  # grows: no walk through all expressions, which takes longer
        block.body = [it for it in block.body if not _is_docstring(it)]
        blocks += [it for it in block.body if isinstance(it, _WITH_DOCSTRINGS)]
    return ast.dump(tree)


def _is_docstring(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
