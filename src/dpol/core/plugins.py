"""Names that other packages bring: registered by entry point, or written `package.module:name`.

Also hashes of packages, which tell jobs that the code behind them has changed.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module, metadata
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from typing import Any

from dpol.core.near import did_you_mean

NAME = __name__.partition(".")[0]
"""This package."""
OF_ANOTHER = r"^[A-Za-z_][\w.-]*(:\w+)?$"
"""Names that another package may bring: of an entry point, or `package.module:name`."""


def load(reference: str) -> Any:
    """Import the object, such as a function or a class, that "module:name" names."""
    module, _, name = reference.partition(":")
    return getattr(import_module(module), name)


def is_foreign(module: str) -> bool:
    """True if a module, by its dotted name, is of another package.

    >>> is_foreign("dpol.core"), is_foreign("numpy.random")
    (False, True)
    """
    return module.partition(".")[0] != NAME


@dataclass(frozen=True, kw_only=True)
class Package:
    """A package that is not dpol, whose code a run plays.

    Args:
        name: of its distribution, or of the package itself if pip did not install it.
        version: of the distribution; empty if there is none.
        sha256: of its files and their names.
    """

    name: str
    version: str
    sha256: str

    @property
    def as_version(self) -> tuple[str, str]:
        """Its name; its version, and the beginning of the hash of its files."""
        return self.name, f"{self.version} ({self.sha256[:12]})".strip()


def registered(group: str) -> Mapping[str, str]:
    """The names that other packages bring for an entry-point group, each as `module:name`.

    Raises:
        ValueError: two packages bring one name.
    """
    found: dict[str, metadata.EntryPoint] = {}
    for point in metadata.entry_points(group=group):
        other = found.setdefault(point.name, point)
        if other.value != point.value:
            raise ValueError(
                f"{point.name} is registered by two packages, {_owner(other)} and"
                f" {_owner(point)}; uninstall one, or write {point.value}"
            )
    return {name: point.value for name, point in found.items()}


def target_of(kind: str, name: object, ours: Collection[str], *groups: str) -> str:
    """The `module:name` that a name from outside stands for.

    Args:
        kind: of the thing that is named, for the message.
        name: as a config has it; not one of ours.
        ours: the names that dpol brings.
        groups: entry-point groups in which other packages register such things.

    Raises:
        ValueError: nobody brings it.
    """
    if isinstance(name, str) and all(name.partition(":")[::2]):
        return name
    theirs = {known: target for group in groups for known, target in registered(group).items()}
    if isinstance(name, str) and name in theirs:
        return theirs[name]
    known = [*ours, *theirs]
    raise ValueError(
        f"{kind} {name!r} is not one of {', '.join(known)}, nor a package.module:Class of another"
        f" package{did_you_mean(name, known)}"
    )


def load_named(name: str, target: str) -> Any:
    """The object that "module:name" names.

    Raises:
        ValueError: it cannot be imported.
    """
    try:
        return load(target)
    except (ImportError, AttributeError) as error:
        raise ValueError(
            f"{name}: {target} cannot be imported: {error}; install its package where dpol is, and"
            " write package.module:Class"
        ) from None


def refuse_taken(ours: Collection[str], group: str) -> None:
    """Refuse a name that both dpol and another package bring for an entry-point group.

    Raises:
        ValueError: that name, and the package.
    """
    for point in metadata.entry_points(group=group):
        if point.name in ours:
            raise ValueError(
                f"{point.name} is registered by dpol, and by {_owner(point)} too; uninstall that"
                f" package, or rename its entry point in the group {group}"
            )


def package_of(module: str) -> Package:
    """The package around a module, with all its files.

    Raises:
        ModuleNotFoundError: it is not installed.
    """
    top = module.partition(".")[0]
    name, version = top, ""
    for own in metadata.packages_distributions().get(top, ()):
        name, version = own, metadata.version(own)
    return Package(name=name, version=version, sha256=_hash_of(files_of_package(top)))


def code_of_dpol(*without: str) -> str:
    """Hash the files of dpol, with their names in it.

    The pipeline is left out: it is in a wheel only, and Snakemake watches its scripts and tables.

    Args:
        without: folders and files that are left out too, such as `show`.
    """
    left_out = {"pipeline", *without}
    return _hash_of(it for it in files_of_package(NAME) if it[0].split("/")[1] not in left_out)[:16]


def _hash_of(files: Iterable[tuple[str, Path]]) -> str:
    whole = hashlib.sha256()
    for name, path in sorted(files):
        whole.update(f"\0{name}\0".encode() + path.read_bytes())
    return whole.hexdigest()


def files_of_package(top: str) -> Iterator[tuple[str, Path]]:
    """The files that Python runs of a top-level package or module, with their names in it.

    Raises:
        ModuleNotFoundError: it is not installed.
    """
    spec = _found(top)
    if spec is None or not (spec.origin or spec.submodule_search_locations):
        raise ModuleNotFoundError(
            f"{top} is not installed where the jobs run; pip install it, since a folder next to the"
            " config is not enough",
            name=top,
        )
    folders = spec.submodule_search_locations
    if not folders:
        yield f"{top}.py", Path(str(spec.origin))
        return
    for folder in map(Path, folders):
        for path in folder.rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts:
                yield path.relative_to(folder.parent).as_posix(), path


@cache
def _found(top: str) -> ModuleSpec | None:
    """The place where jobs find a package: unlike `python -m`, they skip the working folder."""
    given = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    path = [folder for folder in sys.path if folder not in ("", str(Path.cwd())) or folder in given]
    for finder in sys.meta_path:
        spec = finder.find_spec(top, path if finder is PathFinder else None)
        if spec is not None:
            return spec
    return None


def _owner(point: metadata.EntryPoint) -> str:
    return point.dist.name if point.dist else point.value
