"""Values that a config may hold, reading its file, and messages that say where junk is."""

from __future__ import annotations

import datetime
from pathlib import Path

import pytest
import yaml

from dpol.config.experiment import check_local_table, load_experiment, parse_experiment
from dpol.core.errors import ConfigError
from dpol.core.settings import Settings
from dpol.core.yaml_files import read_yaml
from dpol.data.settings import Dataset
from small_config import DELETED, GAINS, LOCAL, SMALL, WEB, changed


def parse(*changes):
    return parse_experiment(changed(*changes), "my.yaml")


def test_a_table_of_gains_is_accepted():
    keys = {"period": "day", "sensitivity": 0.5, "gain_range": 2}
    config = parse(GAINS, {f"dataset.source.{key}": value for key, value in keys.items()})
    assert config.raw_file == "gains.parquet"
    assert parse({"dataset.source": WEB}).raw_file == WEB["file"]
    with pytest.raises(ValueError, match=r"has no columns of counts"):
        _ = config.dataset.needed_columns


def test_streams_without_a_group_column_have_the_one_group_all():
    parse({"dataset.columns.group": DELETED, "dataset.source": LOCAL, "streams": GAINS["streams"]})


def test_a_made_up_table_may_be_declared():
    def simulated(source, **declared):
        return Dataset.model_validate({"source": {**source, **declared}}).simulated

    assert simulated(SMALL["dataset"]["source"])
    assert not simulated(WEB)
    for source in (LOCAL, GAINS["dataset"]["source"]):
        assert [simulated(source, simulated=it) for it in (False, True)] == [False, True]


def test_every_block_is_frozen_and_refuses_unknown_keys():
    for model in Settings.__subclasses__():
        assert (model.model_config["extra"], model.model_config["frozen"]) == ("forbid", True)


@pytest.mark.parametrize("changes", [{"dataset.source": LOCAL}, GAINS], ids=["local", "gains"])
def test_a_local_table_that_is_not_there_is_refused(changes, tmp_path):
    path = tmp_path / "table.csv"
    config = parse(changes, {"dataset.source.file": str(path)})
    with pytest.raises(ConfigError) as caught:
        check_local_table(config)
    assert str(caught.value) == (
        f"dataset.source.file = {path}: no such file; put the table of run small there, or try"
        " config/config.yaml, whose table comes with dpol"
    )
    path.write_text("a\n1\n")
    check_local_table(config)
    check_local_table(parse({"dataset.source": WEB}))


def test_a_table_of_dpol_that_was_deleted_is_named_with_the_way_to_restore_it():
    table = "data/hospitals/deleted.parquet"
    with pytest.raises(ConfigError, match="no such file; it comes with dpol: .* git restore") as it:
        check_local_table(parse({"dataset.source": {"kind": "local", "file": table}}))
    assert str(it.value).count(table) == 2


def test_a_table_that_comes_with_dpol_is_found_unless_the_folder_has_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table = "data/examples/shelters.csv"
    config = parse({"dataset.source": {"kind": "local", "file": table}})
    check_local_table(config)
    assert Path(config.raw_file).samefile(Path(__file__).parents[2] / table)
    Path(table).parent.mkdir(parents=True)
    Path(table).write_text("a\n1\n")
    assert config.raw_file == table


# ---- files ---------------------------------------------------------------------------------------


@pytest.fixture
def refused(tmp_path):
    def message(content):
        path = tmp_path / "my.yaml"
        path.write_bytes(content)
        with pytest.raises(ConfigError) as caught:
            load_experiment(path)
        assert str(caught.value).startswith(f"{path}: ")
        return str(caught.value).removeprefix(f"{path}: ")

    return message


BOMB = b"a: &a [%s]\nb: &b [%s]\nc: [%s]\n" % (b"x," * 99, b"*a," * 99, b"*b," * 99)


UNREADABLE = {
    "has no keys; config/config.yaml is an example": (b"", b"- run\n", b"3\n"),
    "is nested too deeply": (b"run: " + b"[" * 3000,),
    "is not YAML: line 3: ": (b"run: x\nseed: [1\nreplicates: 3\n",),
    "is not YAML: line 2: a tab; indent with spaces\n": (b"run: x\n\tseed: 1\n",),
    "is not YAML: line 2: a key is not allowed here; is a space missing": (b"run:x\nseed: 1\n",),
    "is not YAML: line 2: key run is given twice\n": (b"run: x\nrun: y\n",),
    "is not YAML: line 1: aliases make this block endless or far": (b"run: &a [*a]\n",),
    "is not YAML: ": (
        b"run: M\xfcnchen\n",
        b"run: !!python/name:os.sep\n",
        b"run: !!int x\n",
        b"? [run]\n: x\n",
        b"seed: " + b"9" * 5000 + b"\n",
        BOMB,
    ),
}
"""How messages begin, and contents of files that have them."""


@pytest.mark.parametrize("start", UNREADABLE)
def test_what_is_not_plain_yaml_is_refused(refused, start):
    for content in UNREADABLE[start]:
        assert refused(content).startswith(start)


def test_dates_in_a_file_need_no_quotes_and_must_exist(refused, tmp_path):
    text = yaml.safe_dump(changed({"dataset.periods.first": datetime.date(2021, 2, 28)}))
    assert "first: 2021-02-28" in text
    told = refused(text.replace("2021-02-28", "2021-02-30").encode())
    assert "2021-02-30 is not a date" in told
    (tmp_path / "my.yaml").write_text(text)
    assert read_yaml(tmp_path / "my.yaml") == yaml.safe_load(text), "as Snakemake reads it"
    periods = load_experiment(tmp_path / "my.yaml").dataset.periods
    assert periods.first == datetime.date(2021, 2, 28)


def test_cleaning_does_not_depend_on_where_a_table_comes_from_nor_on_titles():
    there = {**WEB["endpoints"][0], "version": "2024"}
    texts = [
        parse_experiment(changed({"dataset.source": WEB}, *more), "my.yaml").dataset.of_stream("")
        for more in (
            (),
            ({"dataset.source.endpoints[0]": there},),
            ({"dataset.columns.titles": {"entity": "clinic"}},),
            ({"dataset.public": True},),
            ({"dataset.periods.days": 1},),
        )
    ]
    assert texts[0] == texts[1] == texts[2] == texts[3] != texts[4]


# ---- the report that follows from what is played -------------------------------------------------


RIDGE = {"algorithm": "ridge", "windows": [4]}


@pytest.mark.parametrize(
    ("changes", "algorithms"),
    [
        ({}, ["rw-ftpl", "tree-ftpl-min-noise", "follow-the-leader"]),
        ({"report": {}}, ["rw-ftpl", ..., "follow-the-leader"]),
        ({"suites.noisy.algorithms": ["rw-meta", "rw-ftpl"]},
         ["rw-meta", "rw-ftpl", "tree-ftpl-min-noise", "follow-the-leader"]),
        ({"suites": {"a": {"algorithms": [RIDGE], "noises": ["capacity"]}}},
         ["ridge-w4-weak", "ridge-w4-medium", "ridge-w4-strong"]),
        ({"report": {"algorithms": ["follow-the-leader"]}}, ["follow-the-leader"]),
        ({"report": {"algorithms": None}}, ["rw-ftpl", ..., "follow-the-leader"]),
    ],
)  # fmt: skip
def test_what_the_report_does_not_say_follows_from_the_suites(changes, algorithms):
    found = parse({"report": DELETED}, changes).games.report
    shown = found.algorithms
    assert (shown[:1], shown[-1:]) == (algorithms[:1], algorithms[-1:])
    assert ... in algorithms or shown == algorithms
    assert type(found).model_validate(found.model_dump(mode="json")) == found, "as jobs get it"


def test_null_stands_for_a_key_that_is_not_given():
    nulls = dict.fromkeys(["questions", "lazy", "dataset.columns.cases"])
    assert parse(nulls) == parse()
    assert "cases" not in parse(nulls).dataset.columns.model_fields_set
