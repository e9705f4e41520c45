"""Texts of a config with braces, which plain in a rule would be wildcards of Snakemake."""

from __future__ import annotations

import contextlib
import copy
import functools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from config.test_every_key import BASES, Place, blocks_in, places_in
from dpol.config.experiment import parse_experiment
from dpol.core import plugins
from dpol.core.errors import ConfigError
from pipeline import snakemake, succeed, write_config
from small_config import changed
from workflow.imports import plan_pages

pytestmark = pytest.mark.workflow


def set_at(raw: Any, place: Place, value: object) -> Any:
    """Return a config with a value at a place; missing blocks are made."""
    raw = copy.deepcopy(raw)
    inner, (*path, last) = raw, place
    for part in path:
        inner = inner.setdefault(part, {}) if isinstance(inner, dict) else inner[part]
    inner[last] = value
    return raw


def texts(number: int) -> Iterator[object]:
    """Texts with braces; each place has its own, since columns must differ."""
    text = f"{{x}}{{stream}}{number}"
    yield from (text, [text], {text: [text]})


def braced(base: str) -> tuple[dict[str, Any], set[Place]]:
    """Return a good config with braces wherever a text may have them, and these places."""
    raw, taken = changed(BASES[base]), set[Place]()
    blocks = blocks_in(parse_experiment(raw, base))
    keys = ((*path, name) for path, block in blocks for name in type(block).model_fields)
    for number, place in enumerate(dict.fromkeys([*keys, *places_in(raw)])):
        for text in texts(number):
            with contextlib.suppress(ConfigError, AttributeError, LookupError, TypeError):
                other = set_at(raw, place, text)
                parse_experiment(other, base)
                raw = other
                taken.add(place)
                break
    return raw, taken


def test_every_text_of_a_config_may_have_braces(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All in one dry run, each as a module of its own."""
    found = functools.cache(plugins.metadata.entry_points)  # a look at every package takes long
    monkeypatch.setattr(plugins.metadata, "entry_points", found)
    made = {base: braced(base) for base in BASES}
    where = {place[-1] for _, taken in made.values() for place in taken}
    assert where >= {"title", "licence", "count", "entity", "groups"}
    plan_pages(tmp_path, **{base: raw | {"run": base} for base, (raw, _) in made.items()})


def test_so_may_the_name_of_a_config(tmp_path: Path) -> None:
    write_config(tmp_path)
    (tmp_path / "config.yaml").rename(tmp_path / "{x}{stream}.yaml")
    succeed(snakemake(tmp_path, "--dry-run", config="{x}{stream}.yaml"))
