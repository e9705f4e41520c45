"""Write what is made from the models of configs, for tools/pages.py.

These are the JSON schema of a config, and blocks with keys, algorithms, noises and result tables.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Iterator, Mapping, Sequence, Set
from pathlib import Path
from typing import Any

import jinja2
import tables

from dpol.config.models import WHOLE
from dpol.core.plugins import OF_ANOTHER
from dpol.core.schemas import ResultColumn
from dpol.data import tidy
from dpol.data.panel import DATA_SCHEMAS
from dpol.experts.interface import LearnerBank
from dpol.experts.registry import LEARNERS, REGISTRY, Registration, make_members, registered_name
from dpol.noise import NOISES
from dpol.studies.registry import load_studies
from dpol.studies.study import schemas_in

JsonSchema = dict[str, Any]
"""A JSON schema, or a part of one."""

TEMPLATES = jinja2.Environment(
    loader=jinja2.FileSystemLoader(Path(__file__).with_name("templates")),
    trim_blocks=True,
    lstrip_blocks=True,
    undefined=jinja2.StrictUndefined,
    keep_trailing_newline=True,
)


def schema() -> str:
    """config/schema.json: the JSON schema of a config, with the names of algorithms."""
    whole = WHOLE.model_json_schema()
    whole["title"] = "dpol config"
    del whole["$defs"]["Dataset"]["required"]  # `like` gives the source of another config
    suite = whole["$defs"]["Suite"]["properties"]["algorithms"]["items"]
    suite["anyOf"][:1] = [{"enum": list(REGISTRY)}, {"type": "string", "pattern": OF_ANOTHER}]
    return json.dumps(whole, indent=2) + "\n"


def _sections() -> Iterator[Mapping[str, object]]:
    """Yield the keys of a config, block by block, depth first.

    Each has the `places` that hold such a block, what it is `about`, if the row of its key does not
    say it, and its `rows`: key, type with default, and meaning.

    A block has a section of its own if it is at the top level, has more than five keys, is allowed
    in several places or is one of several kinds. The keys of any other block follow its row.
    """
    whole = WHOLE.model_json_schema()
    models = whole["$defs"]
    places: dict[str, list[str]] = {}
    for place, name in _blocks("", whole, models):
        places.setdefault(name, []).append(place)
    separate = {
        name
        for name, (place, *more) in places.items()
        if more
        or len(models[name]["properties"]) > 5
        or "." not in place.removesuffix(".LABEL")
        or place.endswith(")")
    }
    tables = {"": _rows("", whole, models, separate)}
    tables |= {
        name: _rows("", models[name], models, separate) for name in places if name in separate
    }
    places[""] = ["Top level"]
    said = {meaning for rows in tables.values() for *_, meaning in rows}
    for name, rows in tables.items():
        about = _begin(models[name]["description"]) if name else ""
        about = "" if about in said else about
        yield {"places": _outer(places[name]), "about": about, "rows": rows}


def _outer(places: Sequence[str]) -> list[str]:
    """Return the places of a block without those that lie inside another block of the same keys.

    >>> _outer(["dataset", "suites.LABEL.dataset", "suites.LABEL.noises"])
    ['dataset', 'suites.LABEL.noises']
    """
    return [it for it in places if not any(it.endswith(f".{other}") for other in places)]


def _rows(
    path: str, model: JsonSchema, models: JsonSchema, separate: Set[str]
) -> list[tuple[str, str, str]]:
    rows = []
    for key, part in model["properties"].items():
        if "const" in part:  # the title of the section says the kind
            continue
        below = list(_referred(f"{path}{key}", part, models))
        about = part.get("description") or models[below[0][1]]["description"]
        kind = _type_name(part)
        if key in model.get("required", ()):
            kind += ", required"
        elif "$ref" not in part and part.get("default") not in (None, "", [], {}):
            default = part["default"]
            shown = default if isinstance(default, str) else json.dumps(default)
            kind += f" (`{shown}`)"
        rows.append((f"{path}{key}", kind, _begin(about)))
        for place, name in below:
            if name not in separate:
                rows += _rows(f"{place}.", models[name], models, separate)
    return rows


def _blocks(path: str, model: JsonSchema, models: JsonSchema) -> Iterator[tuple[str, str]]:
    """Yield each place below a block that holds a block, and the name of its model."""
    for key, part in model["properties"].items():
        for place, name in _referred(f"{path}{key}", part, models):
            yield place, name
            yield from _blocks(f"{place}.", models[name], models)


def _referred(path: str, part: JsonSchema, models: JsonSchema) -> Iterator[tuple[str, str]]:
    """Yield the models that a value may have, each with its place."""
    if "$ref" in part:
        name = part["$ref"].rpartition("/")[2]
        kind = models[name]["properties"].get("kind", {}).get("const")
        yield f"{path} (kind: {kind})" if kind else path, name
    inner = [(path, option) for option in (*part.get("anyOf", ()), *part.get("oneOf", ()))]
    inner += [(f"{path}.LABEL", option) for option in part.get("patternProperties", {}).values()]
    inner += [(f"{path}[]", part["items"])] if "items" in part else []
    for place, option in inner:
        yield from _referred(place, option, models)


_WORDS = {"string": "text", "object": "block", "uri": "URL"}


def _type_name(part: JsonSchema) -> str:
    if "$ref" in part:
        return "block"
    name = str(part.get("format", part.get("type")))
    if "format" in part:
        return _WORDS.get(name, name)
    if options := part.get("enum", [part["const"]] if "const" in part else []):
        shown = (str(option).replace("|", r"\|").replace("\t", r"\t") for option in options)
        return ", ".join(f"`{option}`" for option in shown)
    if options := part.get("anyOf", part.get("oneOf", [])):
        names = (_type_name(option) for option in options if option.get("type") != "null")
        return " or ".join(dict.fromkeys(names))
    if "items" in part:
        return f"list of {_type_name(part['items'])}"
    for inner in part.get("patternProperties", {}).values():
        return f"{_type_name(inner)} per label"
    return _WORDS.get(name, name)


def algorithms() -> str:
    """config/README.md: a table of the registered algorithms, and a list of the learners."""
    classes: dict[str, str] = {}
    rows = []
    for name, entry in REGISTRY.items():
        like = classes.setdefault(entry.target, name)
        rows.append((name, entry, make_members(name), like, [*_parameters(name, entry, like)]))
    return _rendered(
        "algorithms.md",
        algorithms=rows,
        learners=LEARNERS,
        constant=", ".join(f"`{name}`" for name, noise in NOISES.items() if noise.constant),
        summary=lambda kind: _cell(_begin(kind.__doc__ or "")),
    )


def noises() -> str:
    """config/README.md: a table of the noises."""
    return _rendered("noises.md", noises=NOISES)


def _parameters(name: str, entry: Registration, like: str) -> Iterator[tuple[str, str, str]]:
    """Yield name, default and meaning (from the class's docstring) of what a config may set.

    The meaning ends at the first semicolon. If `like` is another algorithm of the same class, its
    row describes the parameters, and only the differences are yielded.
    """
    text = inspect.getdoc(entry.load(name)) or ""
    section = re.search(r"^Args:\n((?:    .*\n?|\n)+)", text, re.MULTILINE)
    _, *parts = re.split(r"^    (\w+): ", section[1] if section else "", flags=re.MULTILINE)
    meanings = dict(zip(parts[::2], parts[1::2], strict=True))
    said = REGISTRY[like].parameters(like) if like != name else {}
    free = entry.parameters(name)
    yield from ((key, "fixed", "") for key in said if key not in free)
    for key, default in free.items():
        if key not in said:
            meaning = " ".join(meanings.get(key, "").split()).partition(";")[0]
            yield key, _shown(default), _cell(meaning).removesuffix(".")
        elif said[key] != default:
            yield key, _shown(default), ""


def _shown(value: object) -> str:
    """Return a default as a config would write it; empty if it is too long to show."""
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_shown(each)}" for key, each in value.items())
    if isinstance(value, tuple):
        shown = [_shown(each) for each in value]
        return ", ".join(shown) if all(shown) else ""
    if isinstance(value, str):
        return f"`{value}`"
    if isinstance(value, LearnerBank):
        return f"`{registered_name(value, LEARNERS)}`"
    return json.dumps(value) if isinstance(value, bool | int | float) else ""


TIDY = {
    "a column for each place or date": "long",
    "a row for each event": "events",
    "year and week in two columns": "weeks",
    "ranges of dates, times of day": "cut",
    "days of Excel": "excel",
    "capacities in another table": "table",
    "totals to date": "steps",
    "several measures in one column": "measures",
    "a name only in its first row": "names",
    "signs in numbers": "signs",
    "units in the first row": "units",
    "a sheet for each place": "sheets",
}
"""What a table may have, and the line of `dpol.data.tidy` that mends it."""


def tidy_lines() -> str:
    """docs/how-to/add-dataset.md: a table of lines of pandas that make a table tidy."""
    names = {"measure": "measure", "value": "value"}
    lines = [(has, f"`{_cell(tidy.line(line, **names))}`") for has, line in TIDY.items()]
    return tables.table(("the table has", "line, with your names of the columns"), lines, words=2)


def results() -> str:
    """docs/reference/tables.md: sections on the data, the summary and the standings.

    A `results.yaml` describes any other table.
    """
    tables = [*DATA_SCHEMAS.values()]
    for study in load_studies().values():
        own = schemas_in(study.package).values()
        tables += (it for it in own if it.name in ("summary", "standings"))
    return _rendered("results.md", tables=[(it, _lines(it.columns)) for it in tables])


def _lines(columns: Mapping[str, ResultColumn]) -> dict[str, list[str]]:
    """Return the names of the columns with each meaning; ° marks cells that may be empty."""
    lines: dict[str, list[str]] = {}
    for name, column in columns.items():
        unit = f" ({column.unit})" if column.unit else ""
        mark = "°" if column.optional and "empty" not in column.meaning else ""
        lines.setdefault(f"{column.meaning}{unit}", []).append(f"`{name}`{mark}")
    return lines


def keys() -> str:
    """config/README.md: tables of the keys of a config."""
    return _rendered("keys.md", sections=_sections())


def _rendered(template: str, **values: Any) -> str:
    return TEMPLATES.get_template(f"{template}.j2").render(values).strip() + "\n"


def _begin(text: str) -> str:
    """Return the first paragraph of a text as one line."""
    return " ".join(text.partition("\n\n")[0].split())


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
