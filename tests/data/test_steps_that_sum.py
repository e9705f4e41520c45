"""A step that adds counts of one person asks for `count_sensitivity`; a planted one is found."""

from __future__ import annotations

import itertools
from typing import Any, Literal, get_args, get_origin

import pandas as pd
import pytest
from pydantic import BaseModel, ValidationError

import dpol
from dpol.core.errors import ConfigError, DataError
from dpol.data import typed_rows
from dpol.data.cleaning import clean_table
from dpol.data.question import Gain
from dpol.data.settings import Dataset, Stream

COUNT = Gain.model_validate({"of": "count", "bound": 1e6})


def choices(model: type[BaseModel], *above: str) -> list[tuple[tuple[str, ...], Any]]:
    """Return each key of a model, and of those in it, that is one of several words, with each."""
    found = []
    for name, field in model.model_fields.items():
        stack, here = [field.annotation], (*above, name)
        while stack:
            kind = stack.pop()
            if get_origin(kind) is Literal:
                found += [(here, word) for word in get_args(kind)]
            elif isinstance(kind, type) and issubclass(kind, BaseModel):
                found += choices(kind, *here)
            else:
                stack += [it for it in get_args(kind) if not isinstance(it, str)]
    return found


CHOICES = [it for it in choices(Dataset) if it[0][0] in ("periods", "cleaning", "columns")]


def table(*, present: bool, totals: bool, names: bool) -> pd.DataFrame:
    """Count guests at three places on 14 days; one of them may be in A's rows of every day.

    Args:
        present: whether this person is there.
        totals: whether counts are totals to date, with a gap; the person adds 1 a day.
        names: whether A has another name on every second row, and so on every day two rows.
    """
    rows = []
    for day, place in itertools.product(range(14), "ABC"):
        for name in ("A", "a") if names and place == "A" else (place,):
            here = present and place == "A"
            count = 10 + 3 * "ABC".index(place) + (name == "a")
            if totals:
                count = count * (day + 1) + here * (day + 1)
            else:
                count += day % 2 + here
            gap = totals and 8 <= day < 10
            date = pd.Timestamp("2024-01-01") + pd.Timedelta(days=day)
            rows.append((name, str(date.date()), "" if gap else count))
    return pd.DataFrame(rows, columns=["place", "day", "guests"])


def changes(dataset: Dataset, tmp_path, **kind: bool) -> float:
    """Return how far the person moves one cleaned count; 0 if the table cannot be cleaned so."""
    panels = []
    for present in (False, True):
        table(present=present, **kind).to_csv(tmp_path / "t.csv", index=False)
        try:
            panel, _ = clean_table(
                tmp_path / "t.csv", dataset, {"all": Stream(groups=["all"])}, [COUNT]
            )
        except DataError:
            return 0.0
        panels.append(panel.table["count"].to_numpy())
    return float(abs(panels[0] - panels[1]).max())


def steps(tmp_path, *words: str) -> dict[str, bool]:
    """Return the choices with which one person moves one count by more than 1.

    Each with whether dpol then asks for `count_sensitivity`. With words, only those are tried.
    """
    found = {}
    for path, word in [((), None), *CHOICES]:
        if words and word not in words:
            continue
        raw: dict[str, Any] = {
            "source": {"kind": "local", "file": "t.csv"},
            "columns": {"entity": "place", "period": "day", "count": "guests"},
            "periods": {"days": 7 if path[:1] == ("periods",) else 1},
            "cleaning": {
                "entities": "all",
                "identifiers": {"a": "A"},
                "max_carry": 4,
                "checked": ["totals", "cumulative", "rates", "rows"],
            },
        }
        if path:
            place: Any = raw
            for key in path[:-1]:
                place = place.setdefault(key, {})
                if not isinstance(place, dict):
                    break
            if not isinstance(place, dict) or path[-1] == "checked":
                continue
            place[path[-1]] = word
        try:
            dataset = Dataset.model_validate(raw)
        except ValidationError:
            continue
        if [*dataset.problems({"gain": COUNT}, moved=True)]:
            continue
        totals = dataset.cleaning.cumulative is not None
        kinds = [{"totals": totals, "names": it} for it in (False, True)[: 2 - totals]]
        if max(changes(dataset, tmp_path, **kind) for kind in kinds) > 1 + 1e-9:
            asks = [*dataset.problems({"gain": COUNT}, moved=False)]
            found[f"{'.'.join(path)}: {word}"] = bool(asks)
    return found


@pytest.fixture(autouse=True)
def _no_second_look(monkeypatch) -> None:
    """Numbers are added even where dpol would ask about them, and in less time."""
    monkeypatch.setattr("dpol.data.cleaning.second_look", lambda *_: [])
    monkeypatch.setattr("dpol.data.cleaning.understand", lambda *_: {})


def test_every_step_that_sums_is_listed_and_asks(tmp_path) -> None:
    assert steps(tmp_path) == {
        "periods.of: sum": True,
        "cleaning.several_rows: sum": True,
        "cleaning.cumulative: difference": True,
    }


def test_a_planted_sum_is_found(tmp_path, monkeypatch) -> None:
    """A maximum that adds."""
    merge = typed_rows._merge

    def adds(rows: pd.DataFrame, rules: Any) -> pd.DataFrame:
        same = rules.model_copy(update={"several_rows": "sum"})
        return merge(rows, same if rules.several_rows == "max" else rules)

    monkeypatch.setattr(typed_rows, "_merge", adds)
    found = steps(tmp_path, "max", "mean")
    assert [it for it, asks in found.items() if not asks] == [
        "periods.of: max",
        "cleaning.several_rows: max",
    ]


DAILY = {
    "entity": "place",
    "period": "day",
    "count": "guests",
    "gain": {"of": "count", "bound": 400},
    "cleaning": {"entities": "all"},
}


def test_a_sum_of_seven_days_needs_the_answer(tmp_path) -> None:
    """Somebody present on seven days moves the sum by 7."""
    table(present=True, totals=False, names=False).to_csv(tmp_path / "daily.csv", index=False)
    asked = {**DAILY, "periods": {"days": 7, "of": "sum"}}
    with pytest.raises(ConfigError) as refused:
        dpol.read_table(tmp_path / "daily.csv", **asked)
    words = "count_sensitivity: is missing, and periods.of adds counts that may be of one person"
    assert words in str(refused.value)
    stream = dpol.read_table(tmp_path / "daily.csv", **asked, count_sensitivity=7)
    record = dpol.privatize(stream, "isotropic", 0.5, seed=1, replicates=1).guarantee
    assert record.unit == "one person who changes a count of guests by up to 7 in one round"
    for rule in ("mean", "max", "last"):
        of = {**asked, "periods": {"days": 7, "of": rule}}
        assert dpol.read_table(tmp_path / "daily.csv", **of).count_sensitivity == 1
