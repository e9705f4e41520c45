"""Hashes of the code that a job can run, by room: what makes it run again, and what it proves.

A part of the code is the script of a job, a module of dpol, or another package. A room is a package
or a module directly below `dpol` or `dpol.studies`, the script, or another package. Which part
imports which is read from their text, so planning imports none of them.
"""

from __future__ import annotations

import ast
import hashlib
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

from dpol.core.errors import OutputError
from dpol.core.files import read_json, write_json
from dpol.core.plugins import NAME, files_of_package, is_foreign, is_installed
from dpol.core.shipped import pipeline
from dpol.reruns.notes import PACKAGES

ROOT = Path(__file__).parents[1]
"""The folder of dpol."""
PARSED = Path(".snakemake/dpol-code.json")
"""What `_parse` found, by checksum of the text: parsing all takes a second, and jobs are many."""
_PARSER = hashlib.sha256(sys.version.encode() + Path(__file__).read_bytes()).digest()

_NO_RESULTS = {"checks", "cli", "plan", "report", "show"}
"""Rooms that only check, plan, show or compare results."""
_NO_DATA = {".py", ".pyi", ".typed"}


def code_of_job(script: str, *named: str) -> Mapping[str, Any]:
    """Return a hash of each room that a job can reach, of its script, and of other packages.

    Args:
        script: name of its script.
        named: modules that it imports by name: of its study, and of what its points play.

    Raises:
        ConfigError: a package is not installed where jobs find it.
    """
    return {"of": [script, *named], **hash_by_room(parts_of_job(script, *named))}


def files_of_job(script: str, *named: str) -> list[Path]:
    """Return the files of the code that `code_of_job` hashes."""
    return [file for part in parts_of_job(script, *named) for file in files_of(part)]


@cache
def parts_of_job(script: str, *named: str) -> frozenset[str]:
    """Return the parts of the code that a job can run, as `reach` does.

    Args:
        script: name of its script.
        named: modules that it imports by name.
    """
    tops = (it.partition(".")[0] if is_foreign(it) else it for it in named)
    parts = reach(f"{NAME}.script.{script}", *tops)
    if any(map(is_foreign, named)):  # of dpol, another package may import what it likes
        parts |= every_module(*_NO_RESULTS - {room_of(it) for it in parts})
    return parts


def packages_of(*named: str) -> Mapping[str, tuple[str, str]]:
    """Return name and version of the packages other than dpol among modules, by name of import.

    A version ends with a hash of the package's files and of what they import.

    Raises:
        ConfigError: a package is not installed where jobs find it.
    """
    packages = {}
    for top in sorted({it.partition(".")[0] for it in named if is_foreign(it)}):
        own = _distribution_of(top)
        name, version = (own.name, own.version) if own else (top, "")
        packages[top] = name, f"{version} ({_hash_of(reach(top))})".strip()
    return packages


@cache
def hash_by_room(parts: frozenset[str]) -> Mapping[str, str]:
    """Return a hash of the parts of each room, and of the files that they read.

    Comments, docstrings and layout are left out.
    """
    rooms = sorted({room_of(it) for it in parts})
    return {room: _hash_of(it for it in parts if room_of(it) == room) for room in rooms}


def room_of(part: str) -> str:
    """Return the room of a part of the code; another package is a room of its own.

    >>> room_of("dpol.noise.noises"), room_of("dpol.studies.games.compute"), room_of("dpol")
    ('noise', 'studies.games', 'dpol')
    >>> room_of("dpol.studies.study"), room_of("dpol.script.study_point"), room_of("yaml")
    ('studies.study', 'script', 'package yaml')
    """
    if is_foreign(part):
        return f"package {part}"
    _, *path = part.split(".")
    return ".".join(path[: 1 + (path[:1] == ["studies"])]) or NAME


def every_module(*without: str) -> frozenset[str]:
    """Return all modules of dpol, except those in the rooms that are named."""
    return frozenset(it for it in _modules() if room_of(it) not in {"script", *without})


@cache
def reach(*parts: str) -> frozenset[str]:
    """Return the code that may be imported after some code, at once or later, with that code.

    Args:
        parts: modules of dpol by their dotted names, scripts of jobs as "dpol.script.NAME", and
            other packages by their names of import.

    Returns:
        Such names. A package that another one imports, and that pip installed from an index, has
        its version in its name.

    Raises:
        KeyError: dpol has no such module.
        ConfigError: a package is not installed.

    >>> "dpol.data.stream" in reach("dpol.experts.play"), "dpol.lazy" in reach("dpol.labels")
    (True, False)
    """
    reached = {*parts}
    while new := reached.union(*map(_imports_of, reached)) - reached:
        reached |= new
    return frozenset(reached)


@cache
def _imports_of(part: str) -> set[str]:
    names = {name for file in files_of(part) for name in _read(file)[1]}
    if not is_foreign(part):
        names.add(part.rpartition(".")[0])  # Python runs its package first
        return names & _modules().keys()
    tops = {it.partition(".")[0] for it in names} - {*PACKAGES} - sys.stdlib_module_names
    return {_as_counted(it) for it in tops if is_installed(it)}


@cache
def files_of(part: str) -> list[Path]:
    """Return the files of a part of the code, of the kinds that `reach` tells."""
    if not is_foreign(part):
        return [_modules()[part], *files_by_reader().get(part, ())]
    return [] if " " in part else sorted(files_of_package(part))


@cache
def files_by_reader() -> Mapping[str, list[Path]]:
    """Return the files that are no code, by the modules of their package that read them.

    These name a file; if no module does, all may read it. The `results.yaml` of a study belongs to
    `study.py` and `show.py`, too, which no job that computes a point imports.
    """
    files: dict[str, list[Path]] = {}
    for path in sorted(files_of_package(NAME)):
        package = next(it for it in path.parents if (it / "__init__.py").is_file())
        # A wheel holds the pipeline in dpol itself; Snakemake watches it.
        if path.suffix in _NO_DATA or package == ROOT:
            continue
        theirs = {"study", "show"} if path.name == "results.yaml" else {""}
        inside = {name: it for name, it in _modules().items() if it.parent == package}
        named = {it for it in inside if path.name in inside[it].read_text(encoding="utf-8")}
        readers = named.union(it for it in inside if it.rpartition(".")[2] in theirs)
        for module in readers or inside:
            files.setdefault(module, []).append(path)
    return files


@cache
def _modules() -> Mapping[str, Path]:
    """Return the file of every module of dpol, and of every script, by dotted name."""
    modules = {f"{NAME}.script.{it.stem}": it for it in pipeline().glob("workflow/scripts/*.py")}
    for path in sorted(ROOT.rglob("*.py")):
        if (path.parent / "__init__.py").is_file():
            name = ".".join([NAME, *path.relative_to(ROOT).with_suffix("").parts])
            modules[name.removesuffix(".__init__")] = path
    return modules


_distributions = cache(metadata.packages_distributions)


def _distribution_of(top: str) -> metadata.Distribution | None:
    with suppress(metadata.PackageNotFoundError):
        # The files of an editable package name no module, but the package usually has its name.
        return metadata.distribution(next(iter(_distributions().get(top, (top,)))))
    return None


def _as_counted(top: str) -> str:
    """Return name and version of a package from an index, and the name of any other."""
    own = _distribution_of(top)
    if own is None or own.read_text("direct_url.json"):
        return top
    return f"{own.name} {own.version}"


def _hash_of(parts: Iterable[str]) -> str:
    whole = hashlib.sha256()
    for part in sorted(parts):
        found = (f"\0{file.name}\0{_read(file)[0]}" for file in files_of(part))
        whole.update("".join([f"\0{part}", *found]).encode())
    return whole.hexdigest()[:12]


@cache
def _read(file: Path) -> tuple[str, list[str]]:
    """Return a hash of a file, and what it may import; see `_parse`."""
    text, parsed = file.read_bytes(), _parsed()
    with suppress(SyntaxError, ValueError):  # data, or code of another package
        if file.suffix == ".py":
            return parsed.get(_key(text)) or _parse(text)
    return hashlib.sha256(text).hexdigest(), []


@cache
def _parsed() -> Mapping[str, tuple[str, list[str]]]:
    """Return what `_parse` finds in every module of dpol, and in every script, by `_key`."""
    kept: dict[str, Any] = {}
    with suppress(OSError, ValueError):
        kept = read_json(PARSED)
    texts = {_key(text := file.read_bytes()): text for file in _modules().values()}
    parsed = {key: kept.get(key) or _parse(text) for key, text in texts.items()}
    if parsed.keys() - kept.keys() and PARSED.parent.is_dir():
        with suppress(OutputError):
            write_json(PARSED, parsed)
    return parsed


def _key(text: bytes) -> str:
    """Return a hash of a text, and of what parses it."""
    return hashlib.sha256(_PARSER + text).hexdigest()


def _parse(text: bytes) -> tuple[str, list[str]]:
    """Return a hash of a module without docstrings, comments and lines, and what it may import."""
    tree, imported = ast.parse(text), set[str]()
    nodes: list[Any] = [tree]
    for node in nodes:  # grows
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        if isinstance(node, ast.Import):
            imported |= {it.name for it in node.names}
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            imported |= {node.module, *(f"{node.module}.{it.name}" for it in node.names)}
        if isinstance(body := getattr(node, "body", None), list):
            node.body = [it for it in body if not _is_docstring(it)]
        nodes += ast.iter_child_nodes(node)
    return hashlib.sha256(ast.dump(tree).encode()).hexdigest(), sorted(imported)


def _is_docstring(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
