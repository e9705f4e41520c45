"""Every key of every block with values of every wrong kind: one plain sentence under a key."""

from __future__ import annotations

import functools
import itertools
from typing import Any

import pytest

from dpol.config.experiment import parse_experiment
from dpol.config.models import WHOLE
from dpol.core import plugins
from dpol.core.errors import ConfigError
from dpol.core.settings import Settings
from dpol.experts.registry import REGISTRY
from small_config import GAINS, LOCAL, WEB, changed, parts

Place = tuple[str | int, ...]
BASES: dict[str, dict[str, Any]] = {
    "small": {},
    "studies": {
        "batching": {"n_experts": [2], "mus": [0.5]},
        "lazy": {"n_rounds": [10], "n_experts": [2], "epsilons": [1]},
        "convex": {"n_rounds": [10], "dimensions": [2], "epsilons": [1]},
        "labels": {"sweeps": {"rounds": [5]}},
        "audits": {},
        "claims": {},
    },
    "blocks": {
        "dataset.source": LOCAL,
        "dataset.read": {},
        "dataset.periods": {"days": 7},
        "dataset.cleaning": {"drop_where": {"a": ["b"]}},
        "dataset.columns.titles": {},
        "dataset.columns.count_days": {"sum": "s", "coverage": "d"},
        "questions": {"share": {}, "patients": {"of": "count", "bound": 100}},
        "privacy.unit": {},
    },
    "web": {"dataset.source": WEB},
    "gains": GAINS,
}
"""Good configs that hold every block between them."""
WRONG = (None, "x y", "", 5, -1.5, [], [None], ["x", 3], {"a": None}, True)
THEIR_WORDS = (
    *("constrained", "literal[", "function-", "union", "input should", "valid ", "dictionary"),
    *("instance", "dict[", "list[", "nonetype", "tag ", "[key]", "[block]", "[column]", "pydantic"),
    *("extra input", "field required", "cannot be made", "object is", "not supported"),
)
"""Words of pydantic and of Python."""


@pytest.fixture(autouse=True)
def _fast(monkeypatch):
    found = functools.cache(plugins.metadata.entry_points)  # a look at every package takes long
    monkeypatch.setattr(plugins.metadata, "entry_points", found)


def blocks_in(value: object, path: Place = ()):
    """The blocks of a config, with their places."""
    if isinstance(value, Settings):
        yield path, value
        value = {name: getattr(value, name) for name in type(value).model_fields}
    items = value.items() if isinstance(value, dict) else ()
    for key, inner in enumerate(value) if isinstance(value, list) else items:
        yield from blocks_in(inner, (*path, key))


def places_in(value: object, path: Place = ()):
    """The places of values in a file."""
    items = value.items() if isinstance(value, dict) else ()
    for key, inner in enumerate(value) if isinstance(value, list) else items:
        yield (*path, key)
        yield from places_in(inner, (*path, key))


def keys_by_base() -> dict[str, list[Place]]:
    """The places of all keys, given or not, and of all items; each place where it is met first."""
    found: dict[tuple[Place, object], str] = {}
    for base, changes in BASES.items():
        raw = changed(changes)
        config = parse_experiment(raw, base)
        for path, block in blocks_in(config):
            for name in type(block).model_fields:
                found.setdefault(((*path, name), type(block)), base)
        known = {place for place, _ in found}
        for place in places_in(raw):
            if place not in known:
                found.setdefault((place, None), base)
    by_base: dict[str, list[Place]] = {base: [] for base in BASES}
    for (place, _), base in found.items():
        by_base[base].append(place)
    return by_base


def there(raw: object, key: str) -> bool:
    """True if the file has the key, such as a.b[0].c."""
    for part in parts(key):
        if isinstance(raw, dict):
            raw = {str(own): inner for own, inner in raw.items()}
        try:
            raw = raw[part]
        except (LookupError, TypeError):
            return False
    return True


def faults(raw: dict[str, Any]) -> list[str]:
    """The bad lines of the message about a config; none if it is good."""
    try:
        parse_experiment(raw, "my.yaml")
    except ConfigError as error:
        return [line for line in map(str.strip, str(error).splitlines()[1:-1]) if is_bad(line, raw)]
    return []


def is_bad(line: str, raw: dict[str, Any]) -> bool:
    key = line.partition(" = ")[0].partition(": ")[0]
    missing = "is missing" in line and there(raw, key.rpartition(".")[0])
    theirs = any(word in line.lower() for word in THEIR_WORDS)
    return theirs or not (there(raw, key) or missing) or ". " in line or line.endswith(".")


def test_the_bases_hold_every_block():
    blocks = {
        type(block).__name__
        for changes in BASES.values()
        for _, block in blocks_in(parse_experiment(changed(changes), "my.yaml"))
    }
    assert blocks - {"Config"} == set(WHOLE.model_json_schema()["$defs"])


def test_a_wrong_value_is_told_in_one_plain_sentence_under_a_key_of_the_file():
    found = {
        f"{place}: {value!r}": bad
        for base, places in keys_by_base().items()
        for place in places
        for value in WRONG
        if (bad := faults(changed(BASES[base], {place: value})))
    }
    assert found == {}


def test_a_wrong_parameter_is_told_without_pythons_words():
    for name, entry in REGISTRY.items():
        for parameter, value in itertools.product(entry.parameters(name), WRONG):
            raw = changed({"suites.more.algorithms": [{"algorithm": name, parameter: value}]})
            assert faults(raw) == []
