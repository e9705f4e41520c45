"""Write the block of docs/reference/references.md from docs/references.yaml, for tools/pages.py."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import yaml

LIST = Path(__file__).parents[1] / "docs/references.yaml"


@cache
def references() -> dict[str, list[dict[str, Any]]]:
    """Return the works by part: `papers`, `works` that we use or only name, and `data`."""
    made = yaml.safe_load(LIST.read_text(encoding="utf-8"))
    return {part: [*made[part].values()] for part in ("papers", "works", "data")}


def is_used(work: dict[str, Any]) -> bool:
    """Return whether we use something of a work, and do not only name it."""
    return not work["used"].startswith("nothing")


def page() -> str:
    """docs/reference/references.md: the works and tables."""
    of = references()
    parts = {
        "The papers": of["papers"],
        "Other works": [*filter(is_used, of["works"])],
        "Works that dpol names and does not use": [it for it in of["works"] if not is_used(it)],
        "Tables": of["data"],
    }
    return "\n".join(
        f"## {title}\n\n" + "".join(map(_line, works)) for title, works in parts.items()
    )


def _line(work: dict[str, Any]) -> str:
    year, place, names = work.get("year"), work.get("place", ""), work.get("authors", [])
    names = [name.rpartition(" ")[2] for name in names] if year else names
    by = " and ".join(names) if len(names) < 3 else f"{names[0]} et al"
    when = "" if place.endswith(str(year)) else str(year or "")
    links = {
        work.get("arxiv"): f"https://arxiv.org/abs/{work.get('arxiv')}",
        work.get("doi"): f"https://doi.org/{work.get('doi')}",
    }
    if address := work.get("url") or (work.get("code") if not year else None):
        links["web"] = address
    said = [by, work["title"], f"{place.removeprefix('arXiv')} {when}".strip()]
    said += [f"[{name}]({address})" for name, address in links.items() if name]
    read = f" ({work['read']})" if "read" in work else ""
    return f"- {'. '.join(filter(None, said))}: {work['used'].removeprefix('nothing: ')}{read}\n"
