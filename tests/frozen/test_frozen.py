"""Small runs give the values that were frozen, whatever files and columns are named today."""

from __future__ import annotations

import re
from collections.abc import Callable
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from frozen.values import (
    CONFIGS,
    Names,
    block_of,
    differences,
    digests,
    missing_extract,
    name_today,
    read_digests,
    read_names,
    read_result,
    run_config,
)

FROZEN = {config: read_digests(config) for config in CONFIGS}
NAMES = read_names()
NO_NAMES: Names = {"results": {}, "columns": {}, "labels": {}, "changed": {}}
RENEW = "if it is meant, run `python tests/frozen/renew.py {} --new`"
Runs = dict[str, dict[str, Path]]


@pytest.fixture(scope="module")
def runs() -> Runs:
    """The runs made so far."""
    return {}


@pytest.fixture
def made(config: str, runs: Runs, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The files of the one run of a config, by result."""
    if reason := missing_extract(config):
        pytest.skip(reason)
    if config not in runs:
        runs[config] = {}  # what fails is not tried again
        runs[config] = run_config(config, tmp_path_factory.mktemp(config))
    assert runs[config], f"the run of {config} failed: see the first error"
    return runs[config]


def named(result: str) -> dict[str, str]:
    """The reasons of the named exceptions of a result, by column."""
    return block_of(NAMES, "changed", result)


@pytest.mark.workflow
@pytest.mark.parametrize(
    ("config", "result"),
    [pytest.param(c, result, id=f"{c}-{result}") for c in FROZEN for result in FROZEN[c]],
)
def test_values_are_as_frozen(made: dict[str, Path], config: str, result: str) -> None:
    exceptions, today = named(result), name_today(result, NAMES)
    if "*" in exceptions:
        return
    assert today in made, f"{result} is lost: there is no {today}; say its new path in names.yaml"
    wrong = differences(result, FROZEN[config][result], read_result(made[today]), NAMES)
    found = {column: what for column, what in wrong.items() if column not in exceptions}
    assert found == {}, f"{result} of {config} ({today} today); new: {RENEW.format(config)}"


@pytest.mark.workflow
@pytest.mark.parametrize("config", CONFIGS)
def test_every_result_is_frozen(made: dict[str, Path], config: str) -> None:
    known = {name_today(result, NAMES) for result in FROZEN[config]}
    assert sorted(made.keys() - known) == [], RENEW.format(config)


def test_every_new_name_is_in_use() -> None:
    results = [result for frozen in FROZEN.values() for result in frozen]
    columns = {
        (result, name) for frozen in FROZEN.values() for result in frozen for name in frozen[result]
    }
    patterns = {
        next((pattern for pattern in NAMES["results"] if re.fullmatch(pattern, result)), None)
        for result in results
    }
    stale = [pattern for pattern in NAMES["results"] if pattern not in patterns]
    for section in ("columns", "changed"):
        for glob, block in NAMES[section].items():
            hit = {name for result, name in columns if fnmatch(result, glob)}
            stale += [
                f"{section}: {glob}: {name}" for name in block if name not in hit | {"*"} or not hit
            ]
    assert stale == [], "remove these from names.yaml"


@pytest.mark.workflow
def test_every_label_and_exception_is_in_use(runs: Runs) -> None:
    if len(runs) < len(CONFIGS):
        pytest.skip("needs the runs of all configs, in the tests above")
    unused = {("labels", name, label) for name, block in NAMES["labels"].items() for label in block}
    unused |= {
        ("changed", glob, name) for glob, block in NAMES["changed"].items() for name in block
    }
    everything = [(config, result) for config in FROZEN for result in FROZEN[config]]
    for config, result in everything if unused else []:
        today = runs[config].get(name_today(result, NAMES))
        frozen, frame = FROZEN[config][result], read_result(today) if today else pd.DataFrame()
        wrong = differences(result, frozen, frame, NAMES) if today else dict.fromkeys(frozen)
        fates = block_of(NAMES, "columns", result)
        for section, key, value in sorted(unused):
            fate = fates.get(key, key)
            here = fate if isinstance(fate, str) else key
            labelled = section == "labels" and here in frame and value in set(frame[here])
            differs = section == "changed" and (value in wrong or (value == "*" and wrong))
            if labelled or (differs and fnmatch(result, key)):
                unused.discard((section, key, value))
    assert unused == set(), "remove these from names.yaml"


def test_every_reason_is_given() -> None:
    blocks = list(NAMES["columns"].values())
    dropped = [fate for block in blocks for fate in block.values() if not isinstance(fate, str)]
    reasons = [fate.get("dropped") for fate in dropped]
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
