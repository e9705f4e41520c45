"""`make verify` notices what differs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import expect
import pandas as pd
import pytest
import verify

from pipeline import ROOT

CHECK = {
    "check": "example",
    "key": ["stream", "mu"],
    "only": {"noise": "capacity", "mu": [1.0, 0.5]},
    "values": {"rounds": "exact", "gain": "rounding", "mean": "choices", "verdict": "exact"},
}


def example(changed: int = 0, **values: Any) -> pd.DataFrame:
    """Two rows that are compared, and two that are not; one of them with other values."""
    rows = [
        {"stream": "NM", "mu": mu, "noise": noise, "rounds": 7, "gain": 1 / 3, "mean": 10.0}
        | {"verdict": "holds"}
        for noise, mu in (("capacity", 1.0), ("capacity", 0.5), ("capacity", 2.0), ("other", 1.0))
    ]
    rows[changed] |= values
    return pd.DataFrame(rows)


def compare(frame: pd.DataFrame) -> list[str]:
    expected = json.loads(json.dumps(verify.values_of(CHECK, example())))
    return list(verify.differences(CHECK, expected, verify.values_of(CHECK, frame)))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"rounds": 8}, "NM, 1.0: rounds: found 8, expected 7"),
        ({"gain": 1 / 3 + 1e-8}, "difference 1e-08, tolerance 3.33e-10"),
        ({"gain": float("nan")}, "found nan"),
        ({"gain": float("inf")}, "found inf"),
        ({"mean": 10.03}, "found 10.03, expected 10.0, difference 0.03, tolerance 0.02"),
        ({"verdict": "does not hold"}, "found 'does not hold', expected 'holds'"),
        ({"stream": "PA"}, "NM, 1.0: rounds is missing"),
    ],
)
def test_a_changed_value_is_noticed(changes: Mapping[str, Any], said: str) -> None:
    wrong = compare(example(**changes))
    assert any(said in line for line in wrong), wrong


def test_what_lies_within_its_tolerance_or_is_not_compared_agrees() -> None:
    assert compare(example()) == []
    assert compare(example(gain=1 / 3 + 1e-12, mean=10.01)) == []
    assert compare(example(changed=3, gain=0.0)) == []


def test_a_missing_column_row_or_check_and_a_second_near_tie_are_noticed() -> None:
    """Two rows of two differ as one other choice does."""
    tied = example(mean=10.01)
    tied.loc[1, "mean"] = 9.99
    lines = [len(compare(it)) for it in (tied, example().drop(columns="gain"))]
    assert [*lines, len(compare(example().drop(index=1)))] == [2, 2, 4]
    assert len(list(verify.differences(CHECK, {}, verify.values_of(CHECK, example())))) == 9


@pytest.mark.parametrize("values", [{"rounds": 7.0}, {"gain": "0.3333"}, {"verdict": True}])
def test_a_value_of_another_type_is_noticed(values: Mapping[str, Any]) -> None:
    frame = example().astype(object)
    frame.loc[0, next(iter(values))] = next(iter(values.values()))
    assert any("of another type" in line for line in compare(frame))


def test_two_rows_with_one_key_are_refused() -> None:
    with pytest.raises(ValueError, match="two rows of summary are NM, 1.0"):
        verify.values_of(CHECK | {"result": "summary"}, example(changed=1, mu=1.0))


def test_values_are_written_as_they_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    values = verify.values_of(CHECK, example(gain=float("inf")))
    monkeypatch.setattr(verify, "EXPECTED", tmp_path / "expected.json")
    verify.EXPECTED.write_text(expect.written({"one": values, "two": values}))
    assert list(verify.read_expected()) == ["one", "two"]
    assert list(verify.differences(CHECK, verify.read_expected()["two"], values)) == []


def test_every_check_has_values_tolerances_and_a_page() -> None:
    expected = verify.read_expected()
    checks = verify.SPECIFIED["checks"]
    in_order = sorted(checks, key=lambda check: [*verify.CONFIGS].index(check["run"]))
    assert list(expected) == [check["check"] for check in in_order]
    for check in checks:
        assert {"relative", "absolute"} & set().union(
            *(verify.SPECIFIED["tolerances"][value] for value in check["values"].values())
        )
        columns = {column for row in expected[check["check"]].values() for column in row}
        assert columns == set(check["values"])
        pages = check["claim"].split(": ")[0].replace(" and ", ", ").split(", ")
        assert all((ROOT / page).is_file() for page in pages), check["claim"]
