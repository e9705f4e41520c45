"""The pages of the library reference: one for each package, made from its docstrings."""

from __future__ import annotations

import pkgutil
import re
from importlib import import_module
from pathlib import Path

import dpol

FOLDER = Path(__file__).parent / "reference/library"


def pages() -> dict[str, list[str]]:
    """Return the modules of each package, the package itself first."""
    found = {"dpol": ["dpol"]}
    for module in pkgutil.walk_packages(dpol.__path__, "dpol."):
        package = module.name if module.ispkg else module.name.rpartition(".")[0]
        found.setdefault(package, []).append(module.name)
    return found


def write_pages() -> None:
    """Write the page of each package; a page that is up to date keeps its time."""
    FOLDER.mkdir(exist_ok=True)
    texts = {FOLDER / f"{package}.rst": page_of(modules) for package, modules in pages().items()}
    for path in set(FOLDER.iterdir()) - set(texts):
        path.unlink()
    for path, text in texts.items():
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def page_of(modules: list[str]) -> str:
    """Return the page of a package: its own description, then a section for each module."""
    package, *others = modules
    parts = [f"{heading(package, '=')}\n.. automodule:: {package}\n"]
    for module in others:
        first = (import_module(module).__doc__ or "").partition("\n")[0].rstrip(".")
        title = re.sub(r"([*_|\\])", r"\\\1", first.replace("`", ""))
        parts.append(f"{heading(f'{title}: ``{module}``', '-')}\n.. automodule:: {module}\n")
    return "\n".join(parts)


def heading(text: str, line: str) -> str:
    """Return a heading of reStructuredText."""
    return f"{text}\n{line * len(text)}\n"
