"""Which code of dpol a job can run, and a hash of it by room: what makes the job run again.

A room is a package or a module directly below `dpol`, or a study. Which module imports which is
read from their text, so planning imports none of them.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpol.core.plugins import NAME, Package, files_of_package, is_foreign

if TYPE_CHECKING:
    from grimp import ImportGraph

ROOT = Path(__file__).parents[1]
"""The folder of dpol."""

_WITH_DOCSTRINGS = ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef
_NO_DATA = {".py", ".pyi", ".typed"}


@dataclass(frozen=True, kw_only=True)
class Code:
    """The code that a job can run.

    Args:
        modules: modules of dpol.
        files: files next to the modules that the job reads, besides those that they name.
        packages: other packages that the job plays.
    """

    modules: frozenset[str]
    files: tuple[Path, ...] = ()
    packages: tuple[Package, ...] = ()

    @cached_property
    def _modules_of_rooms(self) -> Mapping[str, list[str]]:
        rooms: dict[str, list[str]] = {}
        for module in sorted(self.modules):
            rooms.setdefault(room_of(module), []).append(module)
        return rooms

    @property
    def rooms(self) -> set[str]:
        """Names of the rooms, and of the other packages as `package NAME`."""
        return {*self._modules_of_rooms, *(f"package {package.name}" for package in self.packages)}

    def state_of(self, room: str) -> str | None:
        """Return the name of a room or another package with its hash; None if no code is there."""
        for package in self.packages:
            if room == f"package {package.name}":
                return " ".join(package.as_version)
        modules = tuple(self._modules_of_rooms.get(room, ()))
        files = tuple(it for it in self.files if _room_of_file(it) == room)
        return f"{room} {_hash_of(modules, files)}" if modules else None


def room_of(module: str) -> str:
    """Return the room of a module of dpol.

    >>> room_of("dpol.noise.noises"), room_of("dpol.studies.games.compute"), room_of("dpol")
    ('noise', 'studies.games', 'dpol')
    >>> room_of("dpol.studies.study")
    'studies'
    """
    _, *path = module.split(".")
    is_study = path[:1] == ["studies"] and _folder_of(module) != _folder_of(f"{NAME}.studies")
    return ".".join(path[: 1 + is_study]) or NAME


def reach(modules: Iterable[str]) -> frozenset[str]:
    """Return the modules of dpol that may be imported after some modules, at once or later.

    Args:
        modules: dotted names; modules of other packages are left out.

    Raises:
        grimp.exceptions.ModuleNotPresent: dpol has no such module.

    >>> "dpol.data.stream" in reach(["dpol.experts.play"]), "dpol.lazy" in reach(["dpol.labels"])
    (True, False)
    """
    return _reach(frozenset(name for name in modules if not is_foreign(name)))


@cache
def _reach(modules: frozenset[str]) -> frozenset[str]:
    reached: set[str] = set()
    waiting = [*modules]
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


def imports_of(script: Path) -> frozenset[str]:
    """Return the modules of dpol that a script imports."""
    tree = ast.walk(ast.parse(script.read_text(encoding="utf-8")))
    named = {str(node.module) for node in tree if isinstance(node, ast.ImportFrom)}
    return frozenset(name for name in named if not is_foreign(name))


def code_of_results() -> str:
    """Hash the code of dpol that results depend on, and the files next to it.

    Comments, docstrings, and what checks, plans, shows and compares results are left out.
    """
    modules = every_module("checks", "cli", "plan", "report", "show")
    return _hash_of(tuple(sorted(modules)), ())


@cache
def _graph() -> ImportGraph:
    import grimp  # the library does without it

    return grimp.build_graph(NAME, exclude_type_checking_imports=True, cache_dir=None)


@cache
def _path_of(module: str) -> Path:
    below = ROOT.joinpath(*module.split(".")[1:])
    return below / "__init__.py" if below.is_dir() else below.with_suffix(".py")


def _folder_of(module: str) -> Path:
    return _path_of(module).parent


def _room_of_file(path: Path) -> str:
    return room_of(".".join([NAME, *path.relative_to(ROOT).parent.parts]))


@cache
def _hash_of(modules: tuple[str, ...], files: tuple[Path, ...]) -> str:
    whole = hashlib.sha256()
    for module in modules:
        whole.update(f"\0{module}\0{_hash_of_module(module)}".encode())
    for path in files:
        whole.update(f"\0{path.name}\0".encode() + path.read_bytes())
    return whole.hexdigest()[:12]


@cache
def _hash_of_module(module: str) -> str:
    """Hash a module, without what no job runs, and the files that it reads."""
    path = _path_of(module)
    whole = hashlib.sha256(_without_words(path.read_bytes()).encode())
    for data in _data_of(module):
        whole.update(f"\0{data.name}\0".encode() + data.read_bytes())
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


def _data_of(module: str) -> list[Path]:
    """Return the files that a module reads."""
    files = _readers(_folder_of(module))
    return [file for file, readers in files.items() if module in readers]


@cache
def _data() -> Mapping[Path, list[Path]]:
    """Return the files that are no code, by the folder of the package that they belong to.

    None belongs to `dpol` itself: a wheel holds the pipeline there, which Snakemake watches.
    """
    packages: dict[Path, list[Path]] = {}
    for _, path in sorted(files_of_package(NAME)):
        if path.suffix not in _NO_DATA:
            package = next(it for it in path.parents if (it / "__init__.py").is_file())
            if package != ROOT:
                packages.setdefault(package, []).append(path)
    return packages


@cache
def _readers(package: Path) -> Mapping[Path, Collection[str]]:
    """Return the modules of a package that read each of its files.

    They name the file, or have its name; if no module does, all may read it. But the `results.yaml`
    of a study is read by the jobs that make and show its results.
    """
    files = _data().get(package, ())
    ours = [it for it in _graph().modules if files and _folder_of(it) == package]
    texts = {it: _path_of(it).read_text(encoding="utf-8") for it in ours}
    readers: dict[Path, Collection[str]] = {}
    for file in files:
        named = [it for it in ours if file.stem == it.rpartition(".")[2] or file.name in texts[it]]
        readers[file] = named if named or file.name == "results.yaml" else ours
    return readers
