"""The reference names nothing that does not exist."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import dpol
from code_blocks import ROOT, docs_pages

REFERENCE = ROOT / "docs/reference"
MODULES = ["dpol", *(module.name for module in pkgutil.walk_packages(dpol.__path__, "dpol."))]


def public(module: ModuleType) -> Iterator[tuple[str, Any]]:
    """Yield the public classes and functions that a module defines."""
    for name, value in vars(module).items():
        if name.startswith("_") or getattr(value, "__module__", None) != module.__name__:
            continue
        if inspect.isclass(value) or inspect.isfunction(inspect.unwrap(value)):
            yield name, value


def resolve(name: str) -> bool:
    """Return whether a module, a class or an attribute exists."""
    module = max((it for it in MODULES if f"{name}.".startswith(f"{it}.")), key=len, default="")
    if not module:
        return False
    value: Any = importlib.import_module(module)
    parts = name.removeprefix(module).split(".")[1:]
    for part in parts:
        if part in annotations(value):  # a field that has no value before there is an instance
            return part == parts[-1]
        if not hasattr(value, part):
            return False
        value = getattr(value, part)
    return True


def annotations(value: Any) -> set[str]:
    """Return the annotated fields of a class."""
    classes = value.__mro__ if inspect.isclass(value) else ()
    return {name for each in classes for name in inspect.get_annotations(each)}


GROUPS = {f"dpol.{kind}" for kind in ("algorithms", "learners", "noises", "studies", "commands")}
"""Groups of entry points, which pages name too."""


def lost_names(name: str, text: str, about: str = "") -> list[str]:
    """Return the names in a text, and of parts of a package in its docstring, that do not exist."""
    names = {*re.findall(r"`(dpol(?:\.\w+)+)(?::\w+)?`", text)} - GROUPS
    names |= {f"{name}.{part}" for part in re.findall(r"`([a-z_]+)`", about)}
    return [each for each in sorted(names) if not resolve(each)]


def test_names_of_the_library_on_a_page_exist() -> None:
    for page in docs_pages():
        text = page.read_text(encoding="utf-8")
        assert lost_names("dpol", text) == [], page
        assert re.findall(r"\{[\w:]+\}`", text) == [], (
            f"{page}: a code host shows roles as they are"
        )


def test_docstrings_name_what_is_there() -> None:
    for name in MODULES:
        module = importlib.import_module(name)
        text = Path(str(module.__file__)).read_text(encoding="utf-8")
        about = module.__doc__ or "" if hasattr(module, "__path__") else ""
        assert lost_names(name, text, about) == [], name


def arguments(description: str) -> list[str]:
    """Return the names in the section `Args:`."""
    section = re.search(r"^Args:\n((?:    .*\n|\n)*)", inspect.cleandoc(description) + "\n", re.M)
    return re.findall(r"^    (\w+):", section[1], re.M) if section else []


def callables(module: ModuleType) -> Iterator[Any]:
    """Yield the classes, functions and methods that a module defines."""
    for _, value in public(module):
        yield value
        if inspect.isclass(value):
            functions = filter(inspect.isfunction, vars(value).values())
            yield from (value for value in functions if value.__module__ == module.__name__)


def test_described_arguments_are_those_there_are() -> None:
    """A docstring describes all arguments, in their order, or none."""
    for value in (it for name in MODULES for it in callables(importlib.import_module(name))):
        if found := arguments(value.__doc__ or ""):
            there = inspect.signature(value).parameters
            assert found == [parameter for parameter in there if parameter != "self"], value
