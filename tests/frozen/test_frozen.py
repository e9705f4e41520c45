"""Small runs give the values that were frozen, whatever files and columns are named today."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from frozen.values import (
    CONFIGS,
    Names,
    changes,
    differences,
    digests,
    name_today,
    read_names,
    read_result,
    run_config,
)

NAMES = read_names()
NO_NAMES: Names = {"results": {}, "columns": {}, "labels": {}, "changed": {}}


@pytest.mark.workflow
@pytest.mark.parametrize("config", sorted(CONFIGS.keys() - {"simulated"}))
def test_values_are_as_frozen(config: str, tmp_path: Path) -> None:
    """The simulated hospitals are left to test_whole.py, which looks at their run as well."""
    wrong = changes(config, run_config(config, tmp_path), NAMES)
    assert wrong == {}, f"if it is meant: names.yaml; new: tests/frozen/renew.py {config} --new"


def test_every_reason_is_given() -> None:
    fates = [fate for block in NAMES["columns"].values() for fate in block.values()]
    reasons = [fate.get("dropped") for fate in fates if not isinstance(fate, str)]
    reasons += [reason for block in NAMES["changed"].values() for reason in block.values()]
    assert all(isinstance(reason, str) and len(reason.split()) > 2 for reason in reasons)


def example() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "algorithm": ["rw-meta", "rw-meta", "l2p", "l2p"],
            "round": [1, 2, 1, 2],
            "epsilon": [0.1, np.inf, 4.0, np.nan],
            "gain": [1 / 3, 2 / 3, -1e-9, 5e8],
            "runs": [[1.0, 2.0], [3.0], [], [np.nan]],
            "ours": [True, False, True, False],
        }
    )


def put(row: int, column: str, value: Any) -> Callable[[pd.DataFrame], pd.DataFrame]:
    def change(frame: pd.DataFrame) -> pd.DataFrame:
        return frame.assign(**{column: [*frame[column][:row], value, *frame[column][row + 1 :]]})

    return change


@pytest.mark.parametrize(
    ("change", "columns"),
    [
        (put(0, "gain", 1 / 3 + 1e-8), {"gain"}),
        (put(2, "gain", 1e-9), {"gain"}),
        (put(1, "epsilon", np.nan), {"epsilon"}),
        (put(0, "runs", [2.0, 1.0]), {"runs"}),
        (put(3, "ours", True), {"ours"}),
        (lambda frame: frame[:-1], set(example())),
        (lambda frame: frame.assign(gain=frame["gain"].to_numpy()[[1, 0, 2, 3]]), {"gain"}),
        (lambda frame: frame.drop(columns="ours"), {"ours"}),
        (lambda frame: frame.assign(more=1), {"more"}),
    ],
    ids=["value", "sign", "infinity", "list", "bool", "row", "swapped", "lost", "new"],
)
@pytest.mark.parametrize("suffix", ["parquet", "csv"])
def test_changes_are_noticed(
    change: Callable[[pd.DataFrame], pd.DataFrame], columns: set[str], suffix: str, tmp_path: Path
) -> None:
    frames = []
    for name, frame in (("before", example()), ("after", change(example()))):
        path = tmp_path / f"{name}.{suffix}"
        frame.to_parquet(path) if suffix == "parquet" else frame.to_csv(path, index=False)
        frames.append(read_result(path))
    assert set(differences("example", digests(frames[0]), frames[1], NO_NAMES)) == columns


def test_order_names_types_and_last_digits_do_not_count() -> None:
    names = NO_NAMES | {
        "columns": {"*": {"gain": "mean_gain"}, "ex*": {"ours": {"dropped": "nobody reads it"}}},
        "labels": {"algorithm": {"lazy": "l2p"}},
    }
    after = example().rename(columns={"gain": "mean_gain"}).drop(columns="ours")[::-1]
    after["mean_gain"] *= 1 + 1e-13
    after["algorithm"] = after["algorithm"].replace("l2p", "lazy").astype("category")
    after["round"] = after["round"].astype(float)
    after = after[["mean_gain", "runs", "round", "epsilon", "algorithm"]]
    assert differences("example", digests(example()), after, names) == {}
    kept = after.assign(ours=True)
    assert set(differences("example", digests(example()), kept, names)) == {"ours"}


def test_paths_are_found_by_pattern() -> None:
    names = NO_NAMES | {"results": {r"runs/([^/]+)/(.+)": r"plays/\2/\1", r"lazy": "l2p/regret"}}
    found = [name_today(name, names) for name in ("runs/NM/local/mu-1", "lazy", "tables/lazy")]
    assert found == ["plays/local/mu-1/NM", "l2p/regret", "tables/lazy"]
