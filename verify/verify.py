"""Compare a small subset of the experiments with recorded values: `dpol verify`.

Runs the configs of this folder and config/ledger.yaml from nothing, on two cores and without
network, in a temporary folder. Prints the claims of README.md and docs/ that the values confirm,
the differences with their sizes, and the claims that are not checked here. The exit status is 1 if
anything differs.

Processors round differently, so each value has a tolerance. Where an algorithm chooses, rounding
can turn a near tie; in each check at most one row in `NEAR_TIES` may differ by as much as one other
choice does, and all others only by rounding.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
EXPECTED = HERE / "expected.json"
SPECIFIED: Mapping[str, Any] = yaml.safe_load((HERE / "checks.yaml").read_text(encoding="utf-8"))
CONFIGS = {
    **{name: HERE / f"{name}.yaml" for name in ("small", "hospitals", "simulated")},
    "ledger": ROOT / "config" / "ledger.yaml",
}
"""Configs by the names that checks call them."""
NEAR_TIES = 20
MOST_SHOWN = 5

Values = dict[str, dict[str, Any]]
"""Values of a check by row and column."""


def main() -> int:
    """Run, compare and report."""
    expected = read_expected()
    failed = 0
    for check, found in run_checks():
        wrong = list(differences(check, expected.get(check["check"], {}), found))
        failed += bool(wrong)
        print(f"{'DIFFERS ' if wrong else 'confirmed'} {check['claim']}")
        print("".join(f"    {line}\n" for line in wrong[:MOST_SHOWN]), end="")
        if len(wrong) > MOST_SHOWN:
            print(f"    and {len(wrong) - MOST_SHOWN} more")
    print("\nNot checked here:")
    for claim in SPECIFIED["not_checked"]:
        print(f"  {claim['claim']}\n    {claim['command']}")
    n_values = sum(len(row) for rows in expected.values() for row in rows.values())
    print(f"\n{len(SPECIFIED['checks'])} claims, {n_values:,} values: ", end="")
    print(f"{failed} claims differ" if failed else "all agree")
    return int(failed > 0)


def read_expected() -> dict[str, Values]:
    """Return the expected values by check."""
    written = json.loads(EXPECTED.read_text(encoding="utf-8"))
    return {
        name: {
            key: dict(zip(table["columns"], row, strict=True)) for key, row in table["rows"].items()
        }
        for name, table in written.items()
    }


def run_checks() -> Iterator[tuple[dict[str, Any], Values]]:
    """Yield every check with the values of a new run of its config."""
    with tempfile.TemporaryDirectory() as name:
        for config in CONFIGS:
            print(f"Running {CONFIGS[config].relative_to(ROOT)} ...", flush=True)
            yield from checks_of(config, run_config(config, Path(name)))


def checks_of(config: str, base: Path) -> Iterator[tuple[dict[str, Any], Values]]:
    """Yield the checks of a config with the values in the results of its run."""
    for check in SPECIFIED["checks"]:
        if check["run"] == config:
            parts = [read_result(base / name) for name in as_list(check["result"])]
            yield check, values_of(check, pd.concat(parts))


def differing(config: str, base: Path) -> list[str]:
    """Return all differences in the results of a run of a config."""
    expected = read_expected()
    return [
        f"{check['check']}: {line}"
        for check, found in checks_of(config, base)
        for line in differences(check, expected.get(check["check"], {}), found)
    ]


def run_config(config: str, folder: Path) -> Path:
    """Run a config from nothing and return the folder of its results.

    Raises:
        SystemExit: the run failed; its output is printed.
    """
    if not (tables := folder / "data").exists():
        tables.symlink_to(ROOT / "data")
    command = [sys.executable, "-m", "snakemake", "--snakefile", ROOT / "workflow/Snakefile"]
    where = ["--directory", folder, "--configfile", CONFIGS[config]]
    base = Path("results", yaml.safe_load(CONFIGS[config].read_text(encoding="utf-8"))["run"])
    checks = [check for check in SPECIFIED["checks"] if check["run"] == config]
    names = dict.fromkeys(name for check in checks for name in as_list(check["result"]))
    wanted = [f"{base}/{name}.{'json' if name == 'data/cleaning' else 'parquet'}" for name in names]
    done = subprocess.run(
        [*command, *wanted, *where, "--cores", "2", "--show-failed-logs"],
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(
            f"{done.stdout}\nerror: {CONFIGS[config].relative_to(ROOT)} did not run to its end"
        )
    return folder / base


def read_result(path: Path) -> pd.DataFrame:
    """Read a result, named without its suffix; the cleaning report has a row per stream."""
    if (report := path.with_suffix(".json")).is_file():
        streams = json.loads(report.read_text(encoding="utf-8"))["streams"]
        return pd.DataFrame([{**stream, **stream["cells"]} for stream in streams])
    return pd.read_parquet(path.with_suffix(".parquet"))


def values_of(check: Mapping[str, Any], frame: pd.DataFrame) -> Values:
    """Return the values that a check compares, row by row.

    Raises:
        ValueError: two rows have the same key.
    """
    for column, wanted in check.get("only", {}).items():
        frame = frame[frame[column].isin(as_list(wanted))]
    for column, unwanted in check.get("without", {}).items():
        frame = frame[~frame[column].isin(as_list(unwanted))]
    rows: Values = {}
    for row in frame.to_dict("records"):
        key = ", ".join(str(row[column]) for column in check["key"])
        if key in rows:
            raise ValueError(f"check {check['check']}: two rows of {check['result']} are {key}")
        rows[key] = {column: row[column] for column in check["values"] if column in row}
    return rows


def as_list(value: Any) -> list[Any]:
    """Return a list as it is, and anything else as a list of one."""
    return value if isinstance(value, list) else [value]


def differences(check: Mapping[str, Any], expected: Values, found: Values) -> Iterator[str]:
    """Yield a line for each value that differs: the value, the expected value, the tolerance."""
    if not expected:
        yield "nothing is expected: verify/expected.json has no such check"
    near: dict[str, list[str]] = {}
    for key in sorted(expected.keys() | found.keys()):
        there, here = expected.get(key, {}), found.get(key, {})
        for column, name in check["values"].items():
            tolerance = SPECIFIED["tolerances"][name]
            if column not in here:
                yield f"{key}: {column} is missing"
            elif column not in there:
                yield f"{key}: {column} is new: {here[column]}"
            elif wrong := _difference(there[column], here[column], tolerance):
                of_tie = tolerance.get("near_tie")
                worse = of_tie and _difference(there[column], here[column], of_tie)
                if of_tie and not worse:
                    near.setdefault(key, []).append(f"{key}: {column}: {wrong}")
                else:
                    yield f"{key}: {column}: {worse or wrong}"
    if len(near) > max(1, len(expected) // NEAR_TIES):
        for lines in near.values():
            yield from lines


def _difference(expected: Any, found: Any, tolerance: Mapping[str, Any]) -> str:
    """Return the difference in words, or an empty text."""
    text = f"found {found!r}, expected {expected!r}"
    if type(found) is not type(expected):
        return f"{text}, which is of another type"
    if not isinstance(found, float):
        return "" if found == expected else text
    if found == expected or (math.isnan(found) and math.isnan(expected)):
        return ""
    allowed = tolerance.get("absolute", 0.0) + tolerance.get("relative", 0.0) * abs(expected)
    apart = abs(found - expected)
    if apart <= allowed:
        return ""
    return f"{text}, difference {apart:.3g}, tolerance {allowed:.3g}"


if __name__ == "__main__":
    sys.exit(main())
