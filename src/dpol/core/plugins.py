"""Names from other packages, registered as entry points or written `package.module:name`."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Collection, Iterator, Mapping
from functools import cache
from importlib import import_module, metadata
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from typing import Any

from dpol.core.errors import ConfigError
from dpol.core.words import did_you_mean

NAME = __name__.partition(".")[0]
"""The name of this package."""
OF_ANOTHER = r"^[A-Za-z_][\w.-]*(:\w+)?$"
"""Pattern of names from other packages: an entry point, or `package.module:name`."""


def load(reference: str) -> Any:
    """Import the object that "module:name" names, such as a function or a class."""
    module, _, name = reference.partition(":")
    return getattr(import_module(module), name)


def is_foreign(module: str) -> bool:
    """Return whether a module, given by its dotted name, belongs to another package.

    >>> is_foreign("dpol.core"), is_foreign("numpy.random")
    (False, True)
    """
    return module.partition(".")[0] != NAME


def registered(group: str) -> Mapping[str, str]:
    """Return the names that other packages register in an entry-point group, as `module:name`.

    Raises:
        ValueError: two packages register the same name.
    """
    points: dict[str, metadata.EntryPoint] = {}
    for point in metadata.entry_points(group=group):
        other = points.setdefault(point.name, point)
        if other.value != point.value:
            raise ValueError(
                f"{point.name} is registered by two packages, {_owner(other)} and"
                f" {_owner(point)}; uninstall one, or write {point.value}"
            )
    return {name: point.value for name, point in points.items()}


def target_of(kind: str, name: object, shipped: Collection[str], *groups: str) -> str:
    """Return the `module:name` that a name from another package stands for.

    Args:
        kind: what is named, for the message.
        name: the name in a config; not one of `shipped`.
        shipped: the names in dpol.
        groups: entry-point groups in which other packages register such names.

    Raises:
        ValueError: no package has this name.
    """
    if isinstance(name, str) and all(name.partition(":")[::2]):
        return name
    theirs = {known: target for group in groups for known, target in registered(group).items()}
    if isinstance(name, str) and name in theirs:
        return theirs[name]
    known = [*shipped, *theirs]
    raise ValueError(
        f"{kind} {name!r} is not one of {', '.join(known)}, nor a package.module:Class of another"
        f" package{did_you_mean(name, known)}"
    )


def load_named(name: str, target: str) -> Any:
    """Import the object that "module:name" names.

    Raises:
        ValueError: the target is no such name, or the import fails.
    """
    if not re.fullmatch(OF_ANOTHER, target):  # a relative module would be looked for in dpol
        raise ValueError(f"{name}: must name a class as package.module:Class")
    try:
        return load(target)
    except (ImportError, AttributeError) as error:
        raise ValueError(
            f"{name}: cannot import {target}: {error}; install its package in dpol's environment,"
            " and write package.module:Class"
        ) from None


def refuse_taken(shipped: Mapping[str, Collection[str]]) -> None:
    """Refuse a name of dpol that another package registers too.

    Args:
        shipped: the names in dpol, by entry-point group.

    Raises:
        ValueError: there is such a name; the text gives it and the package.
    """
    points = metadata.entry_points()  # a look at every package, which takes long
    for group, names in shipped.items():
        for point in points.select(group=group):
            if point.name in names:
                raise ValueError(
                    f"{point.name} is registered by dpol and by {_owner(point)}; uninstall that"
                    f" package, or rename its entry point in the group {group}"
                )


def files_of_package(top: str) -> Iterator[Path]:
    """Yield the files of a top-level package or module.

    Raises:
        ConfigError: the package is not installed.
    """
    spec = _found(top)
    if spec is None or not is_installed(top):
        raise ConfigError(
            f"{top} is not installed where the jobs run; pip install it, because a folder next to"
            " the config is not enough"
        )
    folders = spec.submodule_search_locations
    if not folders:
        yield Path(str(spec.origin))
    for path in (it for folder in folders or () for it in Path(folder).rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            yield path


def is_installed(top: str) -> bool:
    """Return whether jobs find a top-level package or module."""
    spec = _found(top)
    return spec is not None and bool(spec.origin or spec.submodule_search_locations)


@cache
def _found(top: str) -> ModuleSpec | None:
    """Return where jobs find a package; unlike `python -m`, they skip the working folder."""
    given = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    path = [folder for folder in sys.path if folder not in ("", str(Path.cwd())) or folder in given]
    for finder in sys.meta_path:
        spec = finder.find_spec(top, path if finder is PathFinder else None)
        if spec is not None:
            return spec
    return None


def _owner(point: metadata.EntryPoint) -> str:
    return point.dist.name if point.dist else point.value
