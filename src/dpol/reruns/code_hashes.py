"""Hashes of the code that a job can run, by room: what makes it run again, and what it proves.

A room is a package or a module directly below `dpol`, or a study. Which module imports which is
read from their text, so planning imports none of them.
"""

from __future__ import annotations

import ast
import hashlib
import re
import sys
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

from dpol.core.errors import OutputError
from dpol.core.files import read_json, write_json
from dpol.core.plugins import NAME, Package, files_of_package, is_foreign, is_installed
from dpol.core.shipped import pipeline
from dpol.core.versions import PACKAGES

ROOT = Path(__file__).parents[1]
"""The folder of dpol."""
PARSED = Path(".snakemake/dpol-code.json")
"""What `_parse` found, by checksum of the text: parsing all takes a second, and jobs are many."""

_WITH_DOCSTRINGS = ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef
_HOLDS_IMPORTS = ast.stmt, ast.ExceptHandler, ast.match_case
_NO_DATA = {".py", ".pyi", ".typed"}
_TARGET = re.compile(rf"\b({NAME}[.\w]+):\w")
"""A class as a data file names it; who reads the file may import it."""


@cache
def code_of_job(script: str, *named: str) -> Mapping[str, Any]:
    """Return a hash of each room that a job can reach, of its script, and of other packages.

    Args:
        script: name of its script.
        named: modules that it imports by name: of its study, and of what its points play.

    Raises:
        ConfigError: a package is not installed where jobs find it.
    """
    return {
        "of": [script, *named],
        "script": _parse(_path_of_script(script).read_bytes())[0][:12],
        **hash_by_room(modules_of_job(script, *named)),
        **{f"package {it.name}": it.as_version[1] for it in packages_of(*named).values()},
    }


def files_of_job(script: str, *named: str) -> list[Path]:
    """Return the files of the code that `code_of_job` hashes."""
    modules = modules_of_job(script, *named)
    read = (file for module in modules for file in files_by_reader().get(module, ()))
    others = (file for package in packages_of(*named).values() for file in package.files)
    return [_path_of_script(script), *map(_path_of, modules), *read, *others]


@cache
def modules_of_job(script: str, *named: str) -> frozenset[str]:
    """Return the modules of dpol that a job can import.

    Args:
        script: name of its script.
        named: modules that it imports by name.
    """
    imported = _parse(_path_of_script(script).read_bytes())[1]
    modules = reach(*(it for it in imported if it in _texts()), *named)
    if any(map(is_foreign, named)):  # of dpol, another package may import what it likes
        shows = ["show"] if script == "study_point" else []
        modules |= every_module("checks", "cli", "plan", "report", *shows)
    return modules


@cache
def packages_of(*named: str) -> Mapping[str, Package]:
    """Return the packages other than dpol among modules, by their name of import.

    Raises:
        ConfigError: a package is not installed where jobs find it.
    """
    tops = {module.partition(".")[0] for module in named if is_foreign(module)}
    return {top: package_of(top) for top in sorted(tops)}


_distributions = cache(metadata.packages_distributions)


def package_of(module: str) -> Package:
    """Return the package of a module, with the hash of all its files and of what they import.

    What pip installed from an index counts by its version, and all else by its files.

    Raises:
        ConfigError: the package is not installed.
    """
    top = module.partition(".")[0]
    whole, files, waiting = hashlib.sha256(), list[Path](), [top]
    for each in waiting:  # grows
        for name, path in sorted(files_of_package(each)):
            text = path.read_bytes()
            whole.update(f"\0{name}\0".encode() + text)
            files.append(path)
            for other in sorted(_tops_of(text) if path.suffix == ".py" else ()):
                if version := _version_on_index(other):
                    whole.update(version.encode())
                elif other not in waiting and is_installed(other):
                    waiting.append(other)
    name, version = top, ""
    for distribution in _distributions().get(top, ()):
        name, version = distribution, metadata.version(distribution)
    return Package(name=name, version=version, sha256=whole.hexdigest(), files=tuple(files))


def _tops_of(text: bytes) -> set[str]:
    """Return the packages that a module may import, but for Python's and those that logs name."""
    with suppress(SyntaxError):
        tops = {name.partition(".")[0] for name in _parse(text)[1]}
        return tops - {it.replace("-", "_") for it in PACKAGES} - sys.stdlib_module_names
    return set()


def _version_on_index(top: str) -> str:
    """Return name and version of a package that pip did not install from a folder or address."""
    for name in _distributions().get(top, ()):
        distribution = metadata.distribution(name)
        if not distribution.read_text("direct_url.json"):
            return f"\0{name} {distribution.version}\0"
    return ""


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
        KeyError: dpol has no such module.

    >>> "dpol.data.stream" in reach("dpol.experts.play"), "dpol.lazy" in reach("dpol.labels")
    (True, False)
    """
    reached: set[str] = set()
    waiting = [module for module in modules if not is_foreign(module)]
    while waiting:
        module = waiting.pop()
        if module not in reached:
            reached.add(module)
            texts = (file.read_text("utf-8") for file in files_by_reader().get(module, ()))
            named = [name for text in texts for name in _TARGET.findall(text)]
            waiting += (it for it in (*_parsed()[module][1], *named) if it in _texts())
            waiting += filter(None, [module.rpartition(".")[0]])  # Python runs its package first
    return frozenset(reached)


def every_module(*without: str) -> frozenset[str]:
    """Return all modules of dpol, except those in the rooms that are named."""
    return frozenset(it for it in _texts() if room_of(it) not in without)


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
        inside = [module for module in _texts() if _path_of(module).parent == package]
        readers = [
            module
            for module in inside
            if _path_of(module).stem in stems or path.name.encode() in _texts()[module]
        ]
        for module in readers or inside:
            files.setdefault(module, []).append(path)
    return files


@cache
def _texts() -> Mapping[str, bytes]:
    """Return the text of every module of dpol, by dotted name."""
    texts = {}
    for path in sorted(ROOT.rglob("*.py")):
        if (path.parent / "__init__.py").is_file():
            name = ".".join([NAME, *path.relative_to(ROOT).with_suffix("").parts])
            texts[name.removesuffix(".__init__")] = path.read_bytes()
    return texts


@cache
def _parsed() -> Mapping[str, tuple[str, list[str]]]:
    """Return what `_parse` finds in every module of dpol."""
    kept: dict[str, Any] = {}
    with suppress(OSError, ValueError):
        kept = read_json(PARSED)
    parser = sys.version.encode() + Path(__file__).read_bytes()
    sums = {it: hashlib.sha256(parser + text).hexdigest() for it, text in _texts().items()}
    parsed = {value: kept.get(value) or _parse(_texts()[it]) for it, value in sums.items()}
    if parsed.keys() - kept.keys() and PARSED.parent.is_dir():
        with suppress(OutputError):
            write_json(PARSED, parsed)
    return {module: parsed[value] for module, value in sums.items()}


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
    whole = hashlib.sha256(_parsed()[module][0].encode())
    for file in files_by_reader().get(module, ()):
        whole.update(f"\0{file.name}\0".encode() + file.read_bytes())
    return whole.hexdigest()


def _parse(text: bytes) -> tuple[str, list[str]]:
    """Return a hash of a module without docstrings, comments and lines, and what it may import."""
    tree, imported = ast.parse(text), set[str]()
    nodes: list[Any] = [tree]
    for node in nodes:  # grows: no walk through expressions, which takes longer
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        if isinstance(node, ast.Import | ast.ImportFrom) and not getattr(node, "level", 0):
            package = getattr(node, "module", None)
            names = {it.name for it in node.names}
            imported |= {package} | {f"{package}.{it}" for it in names} if package else names
        if isinstance(node, _WITH_DOCSTRINGS):
            node.body = [it for it in node.body if not _is_docstring(it)]
        nodes += (it for it in ast.iter_child_nodes(node) if isinstance(it, _HOLDS_IMPORTS))
    return hashlib.sha256(ast.dump(tree).encode()).hexdigest(), sorted(imported)


def _is_docstring(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _path_of_script(name: str) -> Path:
    return pipeline() / f"workflow/scripts/{name}.py"
