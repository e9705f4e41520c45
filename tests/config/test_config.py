"""Every mistake in a config is refused, with its key, its value and what is allowed."""

from __future__ import annotations

import copy
import datetime
import math
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, get_args

import pydantic
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from dpol.config.experiment import Experiment, check_local_table, load_experiment, parse_experiment
from dpol.core import settings as models
from dpol.core.errors import ConfigError
from dpol.data.settings import Dataset
from dpol.experts.registry import REGISTRY

Raw = dict[str, Any]
Path_ = tuple[str | int, ...]

SMALL: Raw = yaml.safe_load("""
run: small
seed: 1
dataset:
  source: {kind: simulated, hospitals: {A: 5, B: 6}, weeks: 10}
  columns: {entity: hospital, period: week, group: state, count: patients, capacity: beds}
streams:
  one: {groups: [A]}
  both: {groups: [A, B]}
privacy:
  levels: {none: .inf, high: 0.25}
suites:
  noisy: {algorithms: [rw-ftpl, ridge]}
  trusted: {algorithms: [tree-ftpl-min-noise]}
  open: {algorithms: [follow-the-leader]}
report: {algorithms: [rw-ftpl, follow-the-leader]}
""")
WEB: Raw = {
    "kind": "web",
    "endpoints": [{"kind": "socrata", "url": "https://data.example/resource/abcd-1234.csv"}],
    "file": "data/raw/table.csv.gz",
}
LOCAL: Raw = {"kind": "local", "file": "table.parquet"}
GAINS: Raw = {"kind": "gains", "file": "gains.parquet", "sensitivity": 0.1}
STUDY: Raw = {"n_experts": [2, 10], "mus": [0.5]}
ALGORITHMS = ", ".join(REGISTRY)
*OTHERS, LAST = map(repr, get_args(models.NoiseName))
NOISES = f"{', '.join(OTHERS)} or {LAST}"
DELETED = object()


def changed(*changes: tuple[Path_, object]) -> Raw:
    """The small config with other values at some places."""
    raw = copy.deepcopy(SMALL)
    for path, value in changes:
        inner: Any = raw
        for part in path[:-1]:
            inner = inner.setdefault(part, {}) if isinstance(inner, dict) else inner[part]
        if value is DELETED:
            del inner[path[-1]]
        else:
            inner[path[-1]] = copy.deepcopy(value)
    return raw


def problems(raw: object) -> list[str]:
    """The lines of the message, which has a head and a foot as well."""
    with pytest.raises(ConfigError) as caught:
        parse_experiment(raw, "my.yaml")
    head, *lines, foot = str(caught.value).splitlines()
    count = "1 problem" if len(lines) == 1 else f"{len(lines)} problems"
    assert head == f"my.yaml: {count}"
    assert foot == "config/README.md explains every key."
    assert all(line.startswith("  ") for line in lines)
    return [line[2:] for line in lines]


def at(*path: str | int) -> Path_:
    return path


def in_source(source: Raw, *path: str | int, value: object) -> Raw:
    """The small config with another source that has one value changed."""
    return changed((at("dataset", "source"), source), (("dataset", "source", *path), value))


def test_a_good_config_is_accepted_with_its_values() -> None:
    config = parse_experiment(SMALL, "my.yaml").config
    assert config.privacy.levels == {"none": math.inf, "high": 0.25}
    assert config.dataset.source.kind == "simulated"
    assert config.replicates == 100
    assert config.block_replicates is None
    assert config.job_memory_mb == 1500
    assert config.privacy.count_sensitivity == 1
    assert config.dataset.cleaning.suppressed_value == 2


@pytest.mark.parametrize("source", [WEB, LOCAL], ids=["web", "local"])
def test_every_kind_of_source_is_accepted(source: Raw) -> None:
    config = parse_experiment(changed((at("dataset", "source"), source)), "my.yaml").config
    assert config.raw_file == source["file"]


def test_the_simulated_table_lies_among_the_results() -> None:
    config = parse_experiment(SMALL, "my.yaml").config
    assert config.raw_file == "results/small/data/simulated.csv.gz"


def all_models() -> list[type[models.Settings]]:
    return models.Settings.__subclasses__()


@pytest.mark.parametrize("model", all_models(), ids=lambda model: model.__name__)
def test_every_model_is_frozen_refuses_unknown_keys_and_describes_each_key(
    model: type[models.Settings],
) -> None:
    assert model.model_config["extra"] == "forbid"
    assert model.model_config["frozen"]
    bare = [name for name, field in model.model_fields.items() if not field.description]
    named_after_their_model = {"dataset", "columns", "periods", "cleaning", "privacy", "report"}
    assert not set(bare) - named_after_their_model
    with pytest.raises(pydantic.ValidationError, match="Extra inputs are not permitted"):
        model.model_validate({"no_such_key": 1})


@pytest.mark.parametrize(
    ("source", "path"),
    [
        (None, ()),
        (None, ("dataset",)),
        (None, ("dataset", "source")),
        (WEB, ("dataset", "source")),
        (LOCAL, ("dataset", "source")),
        (WEB, ("dataset", "source", "endpoints", 0)),
        (None, ("dataset", "columns")),
        (None, ("dataset", "periods")),
        (None, ("dataset", "cleaning")),
        (None, ("streams", "both")),
        (None, ("privacy",)),
        (None, ("suites", "noisy")),
        (None, ("report",)),
        (None, ("batching",)),
    ],
    ids=str,
)
def test_an_unknown_key_is_refused_everywhere(source: Raw | None, path: Path_) -> None:
    replaced = [(at("dataset", "source"), source)] if source else []
    study = (at("batching"), STUDY)
    (line,) = problems(changed(*replaced, study, ((*path, "zzz"), 5)))
    key = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in (*path, "zzz"))
    assert line.startswith(f"{key[1:]} = 5: unknown key; known: ")


def test_all_mistakes_are_listed_at_once() -> None:
    raw = changed(
        (at("replicats"), 10),
        (at("seed"), -1),
        (at("dataset", "cleaning", "max_cary"), 3),
        (at("streams", "both", "groups"), []),
        (at("privacy", "levels", "high"), 0),
        (at("suites", "trusted", "algorithms", 0), "tree-ftpl-min-nose"),
    )
    lines = problems(raw)
    assert len(lines) == 6
    found = dict(line.split(" = ", 1) for line in lines)
    assert found["replicats"] == "10: unknown key; did you mean replicates?"
    assert found["seed"] == "-1: must be greater than or equal to 0"
    assert found["dataset.cleaning.max_cary"] == "3: unknown key; did you mean max_carry?"
    assert found["streams.both.groups"].startswith("[]: ")
    assert (
        found["privacy.levels.high"]
        == "0: must lie from 0.001 to 1000; .inf means no privacy noise"
    )
    assert found["suites.trusted.algorithms[0]"] == (
        f"'tree-ftpl-min-nose': algorithm 'tree-ftpl-min-nose' is not one of {ALGORITHMS};"
        " did you mean tree-ftpl-min-noise?"
    )


def test_rules_across_keys_are_listed_together_too() -> None:
    raw = changed(
        (at("privacy", "levels", "low"), 0.25),
        (at("streams", "one", "groups"), ["A", "C"]),
        (at("suites", "noisy", "algorithms", 0), "rw-fptl"),
    )
    keys = [line.split(" = ")[0] for line in problems(raw)]
    assert keys == ["suites.noisy.algorithms[0]", "streams.one.groups", "privacy.levels.low"]


WHOLE_LINES = {
    "typo at the top": (
        changed((at("block_replicate"), 3)),
        "block_replicate = 3: unknown key; did you mean block_replicates?",
    ),
    "renamed": (
        changed((at("distributions"), {})),
        "distributions = {}: unknown key; it is labels now",
    ),
    "typo inside": (
        changed((at("privacy", "leveles"), {})),
        "privacy.leveles = {}: unknown key; did you mean levels?",
    ),
    "typo below a label": (
        changed((at("streams", "both", "titel"), "B")),
        "streams.both.titel = 'B': unknown key; did you mean title?",
    ),
    "typo in a source": (
        in_source(WEB, "attemts", value=3),
        "dataset.source.attemts = 3: unknown key; did you mean attempts?",
    ),
    "typo in a list": (
        in_source(WEB, "endpoints", 0, "kinds", value="file"),
        "dataset.source.endpoints[0].kinds = 'file': unknown key; did you mean kind?",
    ),
    "endpoint kind": (
        in_source(WEB, "endpoints", 0, "kind", value="socrat"),
        "dataset.source.endpoints[0].kind = 'socrat': must be 'socrata' or 'file';"
        " did you mean socrata?",
    ),
    "noise of a suite": (
        changed((at("suites", "noisy", "noises"), ["isotropic", "capacty"])),
        f"suites.noisy.noises[1] = 'capacty': must be {NOISES}; did you mean capacity?",
    ),
    "noise of the report": (
        changed((at("report", "noise"), "isotropc")),
        f"report.noise = 'isotropc': must be {NOISES}; did you mean isotropic?",
    ),
    "algorithm": (
        changed((at("suites", "open", "algorithms", 0), "follow-leader")),
        f"suites.open.algorithms[0] = 'follow-leader': algorithm 'follow-leader' is not one of"
        f" {ALGORITHMS}; did you mean follow-the-leader?",
    ),
    "algorithm of a block": (
        changed((at("suites", "noisy", "algorithms", 0), {"algorithm": "rw-fptl"})),
        "suites.noisy.algorithms[0] = {'algorithm': 'rw-fptl'}: algorithm 'rw-fptl' is not one of"
        f" {ALGORITHMS}; did you mean rw-ftpl?",
    ),
    "report of an algorithm": (
        changed((at("report", "algorithms", 0), "rw-fptl")),
        "report.algorithms[0] = 'rw-fptl': no suite plays it; did you mean rw-ftpl?",
    ),
    "envelope": (
        changed((at("report", "envelope"), "rigde")),
        "report.envelope = 'rigde': no suite plays this family; did you mean ridge?",
    ),
    "envelope that is not given": (
        changed((at("suites", "noisy", "algorithms"), ["rw-ftpl", "rw-meta"])),
        "report.envelope = 'ridge': no suite plays this family; known: rw-ftpl, rw-meta,"
        " tree-ftpl-min-noise, follow-the-leader; play it in a suite, or set report.envelope to a"
        " family that is played",
    ),
    "report of a family": (
        changed(
            (at("suites", "noisy", "algorithms", 1), {"algorithm": "ridge", "windows": [4, 8]}),
            (at("report", "algorithms", 0), "ridge"),
        ),
        "report.algorithms[0] = 'ridge': is not a label but a family; labels in it: ridge-w4-weak,"
        " ridge-w4-medium, ridge-w4-strong, ridge-w8-weak, ridge-w8-medium, ridge-w8-strong;"
        " report.envelope gives the best of them a column",
    ),
    "one group that is no list": (
        changed((at("streams", "both", "groups"), "A")),
        "streams.both.groups = 'A': must be a list, such as [a, b]",
    ),
    "stream that is no block": (
        changed((at("streams", "both"), ["A"])),
        "streams.both = ['A']: must be a block of keys",
    ),
    "levels that are no block": (
        changed((at("privacy", "levels"), [1])),
        "privacy.levels = [1]: must be a block of keys",
    ),
    "marker without quotes": (
        changed((at("dataset", "cleaning", "suppressed_markers"), [-1])),
        "dataset.cleaning.suppressed_markers[0] = -1: must be text; put it in quotes",
    ),
    "who plays as one name": (
        changed((at("dataset", "cleaning"), {"entities": "h1"})),
        "dataset.cleaning.entities = 'h1': must be all, or a list of at least two identifiers",
    ),
    "one that plays": (
        changed((at("dataset", "cleaning"), {"entities": ["h1"]})),
        "dataset.cleaning.entities = ['h1']: must be all, or a list of at least two identifiers",
    ),
    "one that plays twice": (
        changed((at("dataset", "cleaning"), {"entities": ["h1", "h2", " h1"]})),
        "dataset.cleaning.entities = ['h1', 'h2', ' h1']: must not name anything twice",
    ),
    "number that plays": (
        changed((at("dataset", "cleaning"), {"entities": ["h1", 320001]})),
        "dataset.cleaning.entities = ['h1', 320001]: 320001 must be text; put it in quotes",
    ),
    "list and least number of cases": (
        changed((at("dataset", "cleaning"), {"entities": "all", "min_total_cases": 100})),
        "dataset.cleaning.min_total_cases = 100.0: must not be given together with entities, which"
        " says who plays",
    ),
    "list and warm-up": (
        changed(
            (at("dataset", "cleaning"), {"entities": ["a", "b"], "warm_up_last": "2021-01-03"})
        ),
        "dataset.cleaning = {'entities': ['a', 'b'], 'warm_up_last': '2021-01-03'}: entities and"
        " warm_up_last must not be given together: entities says who plays without looking at any"
        " count",
    ),
    "warm-up before the first period": (
        changed(
            (at("dataset", "cleaning"), {"warm_up_last": "2021-01-03"}),
            (at("dataset", "periods"), {"first": "2021-01-04"}),
        ),
        "dataset.cleaning.warm_up_last = '2021-01-03': must not be before dataset.periods.first"
        " (2021-01-04)",
    ),
    "warm-up to the end": (
        changed(
            (at("dataset", "cleaning"), {"warm_up_last": "2021-01-03"}),
            (at("dataset", "periods"), {"last": "2021-01-03"}),
        ),
        "dataset.cleaning.warm_up_last = '2021-01-03': must be before dataset.periods.last"
        " (2021-01-03), or nothing is left to play",
    ),
    "rule for negative counts": (
        changed((at("dataset", "cleaning", "negative_counts"), "mising")),
        "dataset.cleaning.negative_counts = 'mising': must be 'error' or 'missing'; did you mean"
        " missing?",
    ),
    "text that is no text": (
        changed((at("dataset", "columns", "entity"), ["ward"])),
        "dataset.columns.entity = ['ward']: must be text",
    ),
    "seed in words": (changed((at("seed"), "one")), "seed = 'one': must be a whole number"),
    "half a replicate": (
        changed((at("replicates"), 2.5)),
        "replicates = 2.5: must be a whole number",
    ),
    "level without a number": (
        changed((at("privacy", "levels", "high"), None)),
        "privacy.levels.high = None: must be a number",
    ),
    "simulated in words": (
        in_source(LOCAL, "simulated", value="perhaps"),
        "dataset.source.simulated = 'perhaps': must be true or false",
    ),
    "date of another kind": (
        changed((at("dataset", "periods"), {"first": "31.1.2021"})),
        "dataset.periods.first = '31.1.2021': must be a date such as 2021-01-31",
    ),
    "mu zero": (
        changed((at("privacy", "levels", "high"), 0.0)),
        "privacy.levels.high = 0.0: must lie from 0.001 to 1000; .inf means no privacy noise",
    ),
    "mu below zero": (
        changed((at("privacy", "levels", "high"), -0.5)),
        "privacy.levels.high = -0.5: must lie from 0.001 to 1000; .inf means no privacy noise",
    ),
    "mu NaN": (
        changed((at("privacy", "levels", "high"), math.nan)),
        "privacy.levels.high = nan: must lie from 0.001 to 1000; .inf means no privacy noise",
    ),
    "same mu twice": (
        changed((at("privacy", "levels", "other"), 0.25)),
        "privacy.levels.other = 0.25: must differ from the mu of high",
    ),
    "no level without privacy": (
        changed((at("privacy", "levels"), {"high": 0.25})),
        "privacy.levels = {'high': 0.25}: must have a level .inf, because suite open has no"
        " privacy",
    ),
    "periods in the wrong order": (
        changed((at("dataset", "periods"), {"first": "2022-01-02", "last": "2022-01-01"})),
        "dataset.periods = {'first': '2022-01-02', 'last': '2022-01-01'}: first (2022-01-02) must"
        " not be after last (2022-01-01)",
    ),
    "path that escapes": (
        in_source(WEB, "file", value="data/../../table.csv.gz"),
        "dataset.source.file = 'data/../../table.csv.gz': must be a path below the working folder,"
        " like data/raw/table.csv.gz",
    ),
    "absolute path": (
        in_source(WEB, "file", value="/data/table.csv.gz"),
        "dataset.source.file = '/data/table.csv.gz': must be a path below the working folder,"
        " like data/raw/table.csv.gz",
    ),
    "kind of table": (
        in_source(LOCAL, "file", value="table.xlsx"),
        "dataset.source.file = 'table.xlsx': must end in .csv, .csv.gz or .parquet",
    ),
    "fetched as Parquet": (
        in_source(WEB, "file", value="table.parquet"),
        "dataset.source.file = 'table.parquet': must end in .csv.gz",
    ),
    "group that is not simulated": (
        changed((at("streams", "both", "groups"), ["A", "C"])),
        "streams.both.groups = ['C']: must be among dataset.source.hospitals: A, B",
    ),
    "local and central in one suite": (
        changed((at("suites", "trusted", "algorithms"), ["tree-ftpl-min-noise", "rw-meta"])),
        "suites.trusted.algorithms = 'tree-ftpl-min-noise (central), rw-meta (local)': must all be"
        " local, all central or all without privacy",
    ),
    "noise of a central suite": (
        changed((at("suites", "trusted", "noises"), ["capacity"])),
        "suites.trusted.noises = ['capacity']: must be [isotropic] in the central model",
    ),
    "noise of batched noise": (
        changed((at("suites", "batched"), {"algorithms": ["rw-adabatch"]})),
        "suites.batched.noises = ['isotropic']: must be [isotropic-constant], because"
        " rw-adabatch needs constant noise",
    ),
    "round beyond the last": (
        changed((at("batching"), {**STUDY, "n_rounds": 10, "rounds": [5, 11]})),
        "amplification = {'n_experts': [2, 10], 'mus': [0.5], 'n_rounds': 10, 'rounds': [5, 11]}:"
        " rounds must be at most n_rounds (10)",
    ),
    "switching bound": (
        changed((at("batching"), {**STUDY, "bounds": ["reflexion"]})),
        "amplification.bounds[0] = 'reflexion': must be 'borell-tis' or 'reflection';"
        " did you mean reflection?",
    ),
    "label twice in a suite": (
        changed((at("suites", "open", "algorithms"), ["follow-the-leader"] * 2)),
        "suites.open.algorithms = 'follow-the-leader': is already played by suite open;"
        " give it a label",
    ),
    "label twice in two suites": (
        changed((at("suites", "more"), {"algorithms": ["rw-ftpl"]})),
        "suites.more.algorithms = 'rw-ftpl': is already played by suite noisy; give it a label",
    ),
    "noise no suite uses": (
        changed((at("report", "noise"), "capacity")),
        "report.noise = 'capacity': no local suite uses it; used: isotropic",
    ),
    "parameter out of range": (
        changed(
            (at("suites", "extra"), {"algorithms": [{"algorithm": "rw-meta", "label": "x"}]}),
            (at("suites", "extra", "algorithms", 0, "exploration_floor"), -1),
        ),
        "suites.extra.algorithms[0] = {'algorithm': 'rw-meta', 'label': 'x', 'exploration_floor':"
        " -1}: exploration_floor must be a number from 0 to 1e6, got -1",
    ),
}


@pytest.mark.parametrize("case", WHOLE_LINES)
def test_one_mistake_gives_one_line_that_says_it_all(case: str) -> None:
    raw, expected = WHOLE_LINES[case]
    assert problems(raw) == [expected]


BEGINNINGS = {
    "seed below zero": (at("seed"), -1),
    "seed too large": (at("seed"), 2**63),
    "seed with a fraction": (at("seed"), 1.5),
    "seed as a word": (at("seed"), "one"),
    "no replicates": (at("replicates"), 0),
    "no replicates in a block": (at("block_replicates"), 0),
    "memory that does not hold Python": (at("job_memory_mb"), 499),
    "delta of 0": (at("privacy", "delta"), 0),
    "delta of 1": (at("privacy", "delta"), 1),
    "count sensitivity of 0": (at("privacy", "count_sensitivity"), 0),
    "infinite count sensitivity": (at("privacy", "count_sensitivity"), math.inf),
    "mu as a word": (at("privacy", "levels", "high"), "strong"),
    "no level": (at("privacy", "levels"), {}),
    "suppressed below zero": (at("dataset", "cleaning", "suppressed_value"), -1),
    "carry below zero": (at("dataset", "cleaning", "max_carry"), -1),
    "carry with a fraction": (at("dataset", "cleaning", "max_carry"), 0.5),
    "huge suppressed value": (at("dataset", "cleaning", "suppressed_value"), 1e308),
    "infinite cases": (at("dataset", "cleaning", "min_total_cases"), math.inf),
    "share above 1": (at("dataset", "cleaning", "max_clipped"), 1.01),
    "share below 0": (at("dataset", "cleaning", "max_clipped"), -0.01),
    "no share": (at("dataset", "cleaning", "max_clipped"), math.nan),
    "first period before 1900": (at("dataset", "periods", "first"), "0001-01-01"),
    "last period after 2100": (at("dataset", "periods", "last"), "9999-12-31"),
    "warm-up after 2100": (at("dataset", "cleaning", "warm_up_last"), "2101-01-01"),
    "endless period": (at("dataset", "periods", "days"), 10**9),
    "NaN cases": (at("dataset", "cleaning", "min_total_cases"), math.nan),
    "factor of 0": (at("dataset", "cleaning", "case_factor"), 0),
    "marker that is a number": (at("dataset", "cleaning", "missing_markers"), "NA"),
    "period of no days": (at("dataset", "periods", "days"), 0),
    "no such month": (at("dataset", "periods", "first"), "2021-13-01"),
    "one hospital": (at("dataset", "source", "hospitals", "A"), 1),
    "no hospital": (at("dataset", "source", "hospitals"), {}),
    "one week": (at("dataset", "source", "weeks"), 1),
    "source that is no block": (at("dataset", "source"), "table.csv"),
    "stream that is no block": (at("streams", "both"), ["A", "B"]),
    "no stream": (at("streams"), {}),
    "empty streams": (at("streams"), None),
    "list of suites": (at("suites"), [1]),
    "suite that is no block": (at("suites", "noisy"), 3),
    "no algorithm": (at("suites", "open", "algorithms"), []),
    "algorithm without a list": (at("suites", "open", "algorithms"), "follow-the-leader"),
    "full confidence": (at("report", "confidence"), 1),
    "confidence of a coin": (at("report", "confidence"), 0.5),
    "no reported algorithm": (at("report", "algorithms"), []),
    "run with a slash": (at("run"), "a/b"),
    "run above": (at("run"), ".."),
    "empty run": (at("run"), ""),
    "long run": (at("run"), "x" * 65),
    "run with a newline": (at("run"), "x\n"),
}


@pytest.mark.parametrize("case", BEGINNINGS)
def test_a_value_out_of_range_is_refused_with_its_key_and_value(case: str) -> None:
    path, value = BEGINNINGS[case]
    (line,) = problems(changed((path, value)))
    assert line.startswith(f"{'.'.join(map(str, path))} = {value!r}: ")


@pytest.mark.parametrize(
    ("change", "value"),
    [
        ({"n_experts": [2, 1]}, "n_experts[1] = 1"),
        ({"n_experts": []}, "n_experts = []"),
        ({"mus": [0.5, 0]}, "mus[1] = 0"),
        ({"mus": [math.inf]}, "mus[0] = inf"),
        ({"n_rounds": 0}, "n_rounds = 0"),
        ({"rounds": [0]}, "rounds[0] = 0"),
        ({"alpha": -0.1}, "alpha = -0.1"),
        ({"replicates": 1}, "replicates = 1"),
    ],
    ids=str,
)
def test_a_study_out_of_range_is_refused_with_its_key_and_value(change: Raw, value: str) -> None:
    (line,) = problems(changed((at("batching"), {**STUDY, **change})))
    assert line.startswith(f"amplification.{value}: ")


@pytest.mark.parametrize("path", [("seed",), ("dataset", "columns", "entity"), ("suites",)])
def test_a_missing_key_is_named(path: Path_) -> None:
    (line,) = problems(changed((path, DELETED)))
    assert re.fullmatch(rf"{'.'.join(path)}( = None)?: is missing and has no default", line)


def test_a_missing_kind_of_source_is_named_with_the_kinds() -> None:
    (line,) = problems(changed((at("dataset", "source", "kind"), DELETED)))
    expected = r"dataset\.source\.kind( = None)?: is missing: web, local, simulated or gains"
    assert re.fullmatch(expected, line)


def test_an_empty_block_lists_all_keys_that_are_missing() -> None:
    keys = {re.split(r"[ :]", line)[0] for line in problems({})}
    assert keys == {"run", "seed", "dataset", "streams", "privacy", "suites", "report"}


def test_streams_without_a_group_column_have_the_one_group_all() -> None:
    no_column = (at("dataset", "columns", "group"), DELETED)
    source = (at("dataset", "source"), LOCAL)
    allowed = "must be [all] because dataset.columns.group is not given"
    assert problems(changed(no_column, source)) == [
        f"streams.one.groups = ['A']: {allowed}",
        f"streams.both.groups = ['A', 'B']: {allowed}",
    ]
    parse_experiment(changed(no_column, source, (at("streams"), {"x": {"groups": ["all"]}})), "x")


def test_an_unknown_kind_of_source_is_told_in_one_sentence() -> None:
    (line,) = problems(changed((at("dataset", "source", "kind"), "simulatd")))
    assert line.startswith("dataset.source.kind = 'simulatd': must be ")
    assert line.endswith("did you mean simulated?")
    assert "must be one of;" not in line


def of_gains(*changes: tuple[Path_, object], **keys: object) -> Raw:
    """The small config with a table of gains."""
    return changed(
        (at("dataset"), {"source": {**GAINS, **keys}}),
        (at("streams"), {"all": {"groups": ["all"]}}),
        *changes,
    )


def test_a_table_of_gains_is_accepted() -> None:
    keys = {"period": "day", "experts": ["a", "b"], "sensitivity": "moves", "gain_range": 2}
    config = parse_experiment(of_gains(**keys), "my.yaml").config
    assert config.raw_file == "gains.parquet"
    assert not config.dataset.simulated
    with pytest.raises(ValueError, match=r"has no dataset\.columns"):
        _ = config.dataset.needed_columns


@pytest.mark.parametrize(
    ("change", "start"),
    [
        ((("dataset", "columns"), SMALL["dataset"]["columns"]), "dataset.columns = "),
        ((("dataset", "cleaning"), {}), "dataset.cleaning = "),
        ((("dataset", "periods"), {"days": 7}), "dataset.periods = "),
        ((("privacy", "count_sensitivity"), 2), "privacy.count_sensitivity = 2.0: "),
        (
            (("suites", "noisy", "noises"), ["isotropic", "capacity"]),
            "suites.noisy.noises = ['isotropic', 'capacity']: must not hold capacity ",
        ),
        (
            (
                ("suites", "trusted", "algorithms", 0),
                {"algorithm": "tree-ftpl-min-noise", "noise": "capacity"},
            ),
            "suites.trusted.algorithms = 'tree-ftpl-min-noise': must not have the noise ",
        ),
        (
            (("labels",), {"patients_per_week": 5}),
            "labels.patients_per_week = 5: ",
        ),
    ],
    ids=lambda it: it if isinstance(it, str) else "",
)
def test_what_does_not_go_with_a_table_of_gains_is_refused(
    change: tuple[Path_, object], start: str
) -> None:
    (line,) = problems(of_gains(change))
    assert line.startswith(start)
    assert "because dataset.source.kind is gains" in line


def test_a_table_of_gains_has_the_one_group_all() -> None:
    line = "streams.all.groups = ['NM']: must be [all] because dataset.columns.group is not given"
    assert problems(of_gains((at("streams", "all", "groups"), ["NM"]))) == [line]


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("replicates",), 50_000_000_000),
        (("dataset", "source", "hospitals", "A"), 1_000_000_000),
        (("privacy", "levels", "high"), 1e-320),
        (("privacy", "levels", "high"), 1e4),
        (("privacy", "count_sensitivity"), 1e300),
        (("job_memory_mb",), 10**12),
        (("suites", "noisy", "algorithms", 1), {"algorithm": "ridge", "windows": [10**12]}),
        (("suites", "noisy", "algorithms", 0), {"algorithm": "rw-meta", "exploration_floor": 1e30}),
    ],
    ids=str,
)
def test_what_would_make_a_job_explode_is_refused(path: Path_, value: object) -> None:
    (line,) = problems(changed((path, value)))
    assert line.startswith(".".join(map(str, path[:2])))


@pytest.mark.parametrize(
    "path",
    [("replicates",), ("privacy", "levels", "high"), ("privacy", "delta"), ("seed",)],
    ids=str,
)
@pytest.mark.parametrize("value", [True, False])
def test_true_and_false_are_no_numbers(path: Path_, value: bool) -> None:
    (line,) = problems(changed((path, value)))
    assert line == f"{'.'.join(map(str, path))} = {value}: must not be true or false"


def test_more_jobs_than_can_be_planned_are_refused() -> None:
    raw = changed((("replicates",), 1_000_000), (("block_replicates",), 1))
    (line,) = problems(raw)
    assert line.startswith("block_replicates = 1: makes 10,000,000 jobs, at most 20,000")
    assert len(problems(changed((("replicates",), 0)))) == 1
    raw = changed((("replicates",), 1000), (("block_replicates",), 1))
    assert parse_experiment(raw, "my.yaml").count_jobs() == 10_000


@pytest.mark.parametrize("value", [0, -1, math.inf, math.nan, "", None, [0.1]], ids=str)
def test_a_sensitivity_that_is_neither_positive_nor_a_column_is_refused(value: object) -> None:
    (line,) = problems(of_gains(sensitivity=value))
    assert re.fullmatch(
        r"dataset\.source\.sensitivity = .*: must be a number above 0, or the name of a column",
        line,
    )


def test_a_column_of_a_table_of_gains_has_one_meaning() -> None:
    (line,) = problems(of_gains(sensitivity="x", period="day", experts=["x", "day", "a"]))
    assert line.endswith("column day, x is named twice among period, sensitivity and experts")


@pytest.mark.parametrize("source", [WEB, LOCAL, SMALL["dataset"]["source"]], ids=str)
def test_a_table_of_counts_needs_its_columns(source: Raw) -> None:
    raw = changed((at("dataset"), {"source": source}))
    lines = [line for line in problems(raw) if not line.startswith("streams.")]
    assert lines == [
        "dataset.columns = None: is missing: what the table calls entity, period, count and"
        " capacity"
    ]


@pytest.mark.parametrize("source", [LOCAL, GAINS], ids=["local", "gains"])
def test_a_made_up_table_may_be_declared(source: Raw) -> None:
    for simulated in (False, True):
        dataset = Dataset.model_validate({"source": {**source, "simulated": simulated}})
        assert dataset.simulated is simulated
    assert Dataset.model_validate({"source": SMALL["dataset"]["source"]}).simulated
    assert not Dataset.model_validate({"source": WEB}).simulated


def test_a_missing_table_of_gains_is_told_with_the_key(tmp_path: Path) -> None:
    config = parse_experiment(of_gains(file=str(tmp_path / "no.csv")), "my.yaml").config
    with pytest.raises(ConfigError, match=r"dataset\.source\.file = .*no\.csv: no such file"):
        check_local_table(config)


def test_a_wrong_address_is_told_in_plain_words() -> None:
    (line,) = problems(in_source(WEB, "endpoints", 0, "url", value="ftp://data.example/x.csv"))
    assert line.startswith("dataset.source.endpoints[0].url = 'ftp://data.example/x.csv': ")
    assert "http" in line
    assert "uRL" not in line


LABELLED = {
    ("streams",): {"groups": ["A"]},
    ("privacy", "levels"): 2.0,
    ("suites",): {"algorithms": ["multiplicative-weights"]},
    ("dataset", "source", "hospitals"): 3,
}


@pytest.mark.parametrize("label", ["a/b", "a b", "../a", "", ".a", "x" * 65, 7, "é"], ids=repr)
@pytest.mark.parametrize("path", LABELLED, ids=".".join)
def test_a_label_unfit_for_a_file_name_is_refused(path: Path_, label: str | int) -> None:
    (line,) = problems(changed(((*path, label), LABELLED[path])))
    assert line.startswith(".".join(map(str, path)))


@pytest.mark.parametrize("path", LABELLED, ids=".".join)
def test_a_label_unfit_for_a_file_name_is_shown_as_a_person_wrote_it(path: Path_) -> None:
    (line,) = problems(changed(((*path, "a/b"), LABELLED[path])))
    assert "a/b" in line
    assert "[key]" not in line
    assert "= None" not in line, "the value that is wrong is the label itself"


@pytest.mark.parametrize("label", ["a/b", ".."], ids=repr)
def test_the_label_of_an_algorithm_is_a_label_too(label: str) -> None:
    extra = {"algorithms": [{"algorithm": "rw-meta", "label": label}]}
    (line,) = problems(changed((at("suites", "extra"), extra)))
    assert line.startswith("suites.extra.algorithms[0]")


@pytest.mark.parametrize(
    "spec",
    [3, None, True, ["rw-ftpl"], {}, {"label": "x"}, {"algorithm": ["rw-ftpl"]}, {3: "rw-ftpl"}],
    ids=repr,
)
def test_what_is_no_algorithm_is_refused_once_and_in_plain_words(spec: object) -> None:
    (line,) = problems(changed((at("suites", "open", "algorithms", 0), spec)))
    assert line.startswith("suites.open.algorithms[0]")
    assert "dict[" not in line
    assert line.count("multiplicative-weights") <= 1, "the known names are listed once"


def test_an_unknown_parameter_of_an_algorithm_is_told_in_plain_words() -> None:
    spec = {"algorithm": "rw-meta", "exploration_flor": 0}
    (line,) = problems(changed((at("suites", "extra"), {"algorithms": [spec]})))
    assert "exploration_flor" in line
    assert "__init__" not in line


@pytest.mark.parametrize("kind", ["web", "local", "simulated"])
def test_a_key_named_like_the_kind_of_source_does_not_confuse_the_places(kind: str) -> None:
    source = {"kind": kind, kind: "table.csv"}
    keys = {
        re.split(r"[ :]", line)[0] for line in problems(changed((("dataset", "source"), source)))
    }
    needed = {"web": {"endpoints", "file"}, "local": {"file"}, "simulated": {"hospitals", "weeks"}}
    assert keys == {f"dataset.source.{key}" for key in needed[kind] | {kind}}


@pytest.mark.parametrize("label", ["groups", "title", "algorithms", "kind", "web", "levels"])
def test_a_label_named_like_a_key_does_not_confuse_the_places(label: str) -> None:
    raw = changed(
        (at("streams", label), {"groups": ["A"], "titel": "x"}),
        (at("suites", label), {"algorithms": ["rw-meta"], "noizes": []}),
        (at("privacy", "levels", label), 0),
    )
    assert sorted(problems(raw)) == [
        f"privacy.levels.{label} = 0: must lie from 0.001 to 1000; .inf means no privacy noise",
        f"streams.{label}.titel = 'x': unknown key; did you mean title?",
        f"suites.{label}.noizes = []: unknown key; did you mean noises?",
    ]


def test_a_long_value_is_shown_cut_short() -> None:
    (line,) = problems(changed((at("run"), "x" * 500)))
    assert len(line) < 200
    assert "..." in line


def test_the_same_noise_twice_in_a_suite_is_refused() -> None:
    (line,) = problems(changed((at("suites", "noisy", "noises"), ["isotropic"] * 2)))
    assert line.startswith("suites.noisy.noises")


def test_a_local_suite_without_a_noise_is_refused() -> None:
    extra = {"algorithms": ["rw-meta"], "noises": []}
    (line,) = problems(changed((at("suites", "extra"), extra)))
    assert line.startswith("suites.extra.noises")


@pytest.mark.parametrize("learners", [["ridge"], [{"learner": "ridge"}]], ids=repr)
def test_the_learners_of_rw_meta_can_be_named_in_a_config(learners: list[Any]) -> None:
    spec = {"algorithm": "rw-meta", "label": "small", "learners": learners}
    experiment = parse_experiment(changed((at("suites", "extra"), {"algorithms": [spec]})), "x")
    assert [member.label for member in experiment.members["extra"]] == ["small"]


class TestFiles:
    """What can be wrong with the file itself."""

    @pytest.fixture
    def refused(self, tmp_path: Path) -> Callable[[bytes], str]:
        def message(content: bytes) -> str:
            path = tmp_path / "my.yaml"
            path.write_bytes(content)
            with pytest.raises(ConfigError) as caught:
                load_experiment(path)
            assert str(caught.value).startswith(f"{path}: ")
            return str(caught.value).removeprefix(f"{path}: ")

        return message

    def test_a_good_file_is_loaded(self, tmp_path: Path) -> None:
        (tmp_path / "my.yaml").write_text(yaml.safe_dump(SMALL), encoding="utf-8")
        assert load_experiment(tmp_path / "my.yaml").config == parse_experiment(SMALL, "x").config

    @pytest.mark.parametrize("content", [b"", b"# nothing\n", b"- run\n", b"run\n", b"3\n"])
    def test_a_file_without_keys_is_refused(
        self, refused: Callable[[bytes], str], content: bytes
    ) -> None:
        assert refused(content) == "holds no keys; config/demo.yaml shows a whole config"

    def test_brackets_without_end_are_refused(self, refused: Callable[[bytes], str]) -> None:
        assert refused(b"run: " + b"[" * 3000).startswith("is nested too deeply")

    def test_a_syntax_error_is_told_with_its_line(self, refused: Callable[[bytes], str]) -> None:
        message = refused(b"run: x\nseed: [1\nreplicates: 3\n")
        assert message.startswith("is not YAML: line 3: ")

    @pytest.mark.parametrize(
        ("content", "expected"),
        [
            (b"run: x\n\tseed: 1\n", "line 2: a tab; indent with spaces\n"),
            (b"run:x\nseed: 1\n", "line 2: a key where none can be; is a space missing"),
            (b"run: x\nrun: y\n", "line 2: key run is given twice\n"),
        ],
    )
    def test_the_mistakes_made_most_are_told_with_a_remedy(
        self, refused: Callable[[bytes], str], content: bytes, expected: str
    ) -> None:
        assert refused(content).startswith(f"is not YAML: {expected}")

    @pytest.mark.parametrize(
        "content",
        [
            b"run: M\xfcnchen\n",
            b"run: !!python/name:os.sep\n",
            b"run: !!timestamp x\n",
            b"? [run]\n: x\n",
            b"run: !!int x\n",
            b"seed: " + b"9" * 5000 + b"\n",
        ],
    )
    def test_what_is_not_plain_yaml_is_refused(
        self, refused: Callable[[bytes], str], content: bytes
    ) -> None:
        assert refused(content).startswith("is not YAML: ")

    def test_a_day_that_does_not_exist_is_refused(self, refused: Callable[[bytes], str]) -> None:
        assert "2021-02-30" in refused(b"dataset: {periods: {first: 2021-02-30}}\n")

    def test_a_key_given_twice_is_refused(self, refused: Callable[[bytes], str]) -> None:
        text = yaml.safe_dump(SMALL) + "seed: 2\n"
        assert "seed" in refused(text.encode())

    def test_a_missing_file_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(ConfigError) as caught:
            load_experiment(tmp_path / "no.yaml")
        expected = f"{tmp_path / 'no.yaml'}: cannot be read: No such file or directory"
        assert str(caught.value) == expected

    def test_a_local_table_that_is_not_there_is_refused(self, tmp_path: Path) -> None:
        path = tmp_path / "table.csv"
        config = parse_experiment(in_source(LOCAL, "file", value=str(path)), "x").config
        with pytest.raises(ConfigError) as caught:
            check_local_table(config)
        assert str(caught.value) == (
            f"dataset.source.file = {path}: no such file; put the table of run small there, or try"
            " config/demo.yaml, which needs none"
        )
        path.write_text("a\n1\n")
        check_local_table(config)

    @pytest.mark.parametrize("source", [WEB, SMALL["dataset"]["source"]], ids=["web", "simulated"])
    def test_only_a_local_table_has_to_be_there(self, source: Raw) -> None:
        check_local_table(parse_experiment(changed((at("dataset", "source"), source)), "x").config)


def places(value: Any, path: Path_ = ()) -> Iterator[Path_]:
    """Every place in a config."""
    if path:
        yield path
    items = value.items() if isinstance(value, dict) else ()
    for key, inner in enumerate(value) if isinstance(value, list) else items:
        yield from places(inner, (*path, key))


def lies_in(raw: Raw, key: str) -> bool:
    """Whether the block is there that a key such as a.b[0].c belongs to."""
    inner: Any = raw
    try:
        for index, name in re.findall(r"\[(\d+)\]|([^.\[\]]+)", key)[:-1]:
            inner = inner[int(index) if index else name]
    except (KeyError, IndexError, TypeError):
        return False
    return isinstance(inner, dict | list)


JUNK = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=8),
    st.dates(),
    st.recursive(
        st.none() | st.integers(-2, 5) | st.sampled_from(["rw-ftpl", "A", "web", "isotropic"]),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.text("abk", min_size=1, max_size=4), inner, max_size=3)
        ),
        max_leaves=5,
    ),
)


@settings(max_examples=300)
@given(place=st.sampled_from(list(places(SMALL))), junk=JUNK)
def test_junk_anywhere_is_accepted_or_refused_where_it_is(place: Path_, junk: object) -> None:
    raw = changed((place, junk))
    try:
        found = parse_experiment(raw, "my.yaml")
    except ConfigError as error:
        lines = str(error).splitlines()[1:-1]
        lost = [line for line in lines if not lies_in(raw, line.strip().split(" = ")[0])]
        assert lines
        assert not lost
    else:
        assert isinstance(found, Experiment)


def test_dates_may_be_written_without_quotes() -> None:
    periods = yaml.safe_load("{first: 2021-01-01, last: '2021-12-31'}")
    config = parse_experiment(changed((at("dataset", "periods"), periods)), "x").config
    assert config.dataset.periods.first == datetime.date(2021, 1, 1)
    assert config.dataset.periods.last == datetime.date(2021, 12, 31)


def test_parsing_leaves_the_raw_config_alone() -> None:
    raw = changed((at("suites", "extra"), {"algorithms": [{"algorithm": "rw-meta", "label": "x"}]}))
    before = copy.deepcopy(raw)
    parse_experiment(raw, "x")
    assert raw == before
