"""Values that a config may hold, its file, the jobs that it stands for; and shipped configs."""

import datetime
import json
import math
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from jsonschema import Draft202012Validator

from dpol.__main__ import main
from dpol.config.experiment import check_local_table, load_experiment, parse_experiment
from dpol.core.errors import ConfigError
from dpol.core.settings import Settings
from dpol.core.yaml_files import read_yaml
from dpol.data.settings import Dataset
from dpol.studies.games import study
from dpol.studies.games.settings import GamePoint
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
        parse_experiment(changed({"dataset.source": WEB}, *more), "my.yaml").dataset.of_stream
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


# ---- jobs, and configs that are shipped ----------------------------------------------------------


CONFIG = Path(__file__).parents[2] / "config"
SHIPPED = sorted(CONFIG.glob("*.yaml"))
SIMULATED = yaml.safe_load((CONFIG / "simulated.yaml").read_text(encoding="utf-8"))


def experiment(**changes):
    """The config of simulated hospitals with some blocks replaced."""
    return parse_experiment(changed(changes, of=SIMULATED), "simulated")


def tiny(**changes):
    """One stream, one local suite of two noises, one without privacy, two levels."""
    blocks = {
        "streams": {"NM": {"groups": ["NM"]}},
        "privacy": {"levels": [math.inf, 0.25]},
        "suites": {
            "noisy": {"noises": ["isotropic", "capacity"], "algorithms": ["rw-ftpl", "ridge"]},
            "open": {"algorithms": ["follow-the-leader"]},
        },
        "report": {"algorithms": ["rw-ftpl"]},
    }
    return experiment(**{**blocks, **changes})


def jobs(made):
    """The jobs of games: stream, level, suite and block, each with its points."""
    found = study.jobs(made.games, made.facts)
    return {tuple(place.split("/")): job for place, job in found.items()}


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.name)
def test_every_shipped_config_is_good_for_editors_too_and_is_shown_as_a_whole(path, capsys):
    """The shown config makes the same run."""
    loaded = load_experiment(path)
    assert 0 < len(jobs(loaded)) < 2_000
    schema = json.loads((CONFIG / "schema.json").read_text(encoding="utf-8"))
    written = json.loads(json.dumps(read_yaml(path), default=str))  # dates as texts
    assert not [*Draft202012Validator(schema).iter_errors(written)]
    main(["config", "show", str(path)])
    whole = yaml.safe_load(capsys.readouterr().out)
    assert "like" not in str(whole)
    assert parse_experiment(whole, "shown") == loaded


def test_a_dataset_is_completed_from_that_of_another_config():
    own = {"like": "states", "cleaning": {"capacity_zero": "error"}}
    made = experiment(dataset=own, streams={"like": "states", "NM": {"title": "ours"}})
    states = load_experiment(CONFIG / "states.yaml")
    assert made.dataset.cleaning.capacity_zero == "error"
    assert made.dataset.cleaning.case_factor == states.dataset.cleaning.case_factor
    assert made.dataset.columns == states.dataset.columns
    assert list(made.streams) == list(states.streams)
    assert made.streams["NM"].groups == ["NM"]
    assert made.streams["NM"].title == "ours"


def test_a_dataset_like_that_of_no_config_is_refused():
    with pytest.raises(ConfigError, match="dataset.*no config state comes with dpol; did you mean"):
        experiment(dataset={"like": "state"})


def test_jobs_come_in_the_order_of_the_config():
    """A suite without privacy runs once, at the level without noise, whatever noises it names."""
    suites = tiny().model_dump()["suites"]
    suites["open"]["noises"] = ["isotropic", "capacity"]
    assert list(jobs(tiny(privacy={"levels": [2, math.inf, 0.25]}, suites=suites))) == [
        ("NM", "mu-2", "noisy", "0-99"),
        ("NM", "mu-inf", "noisy", "0-99"),
        ("NM", "mu-0.25", "noisy", "0-99"),
        ("NM", "mu-inf", "open", "0-99"),
    ]


def test_a_job_holds_just_what_it_depends_on():
    made = tiny(replicates=10)
    job = jobs(made)["NM", "mu-0.25", "noisy", "0-9"]
    isotropic, capacity = job.points
    assert replace(isotropic, noise="capacity") == capacity
    assert capacity == GamePoint(
        suite="noisy",
        algorithms=("rw-ftpl", "ridge"),
        noise="capacity",
        mu=0.25,
        block=(0, 9),
        memory="designed",
        keep_rounds=False,
    )
    assert job.inputs == {"stream": "streams/NM.parquet"}
    assert {"dpol.experts.ftpl", "dpol.experts.learners.ridge"} <= {*job.code}


def test_each_stream_is_played_under_each_question():
    questions = {"share": {}, "large": {"min_capacity": 50, "title": "of the large"}}
    streams = {state: {"groups": [state], "reported_as": state} for state in ("NM", "PA")}
    made = tiny(streams=streams, questions=questions)
    assert list(made.played) == ["NM-share", "NM-large", "PA-share", "PA-large"]
    large = made.played["PA-large"]
    assert (large.stream, large.title, large.gain.min_capacity) == ("PA", "PA, of the large", 50)
    assert made.facts.reported == {"NM": "NM", "PA": "PA"}
    assert not made.facts.asks_the_papers
    assert {stream for stream, *_ in jobs(made)} == set(made.played)
    assert list(tiny().played) == ["NM"]


PAPERS = yaml.safe_load((CONFIG / "paper.yaml").read_text(encoding="utf-8"))


def papers_with(**changes):
    """The config of the paper's states, with other values at some places."""
    return parse_experiment(changed(changes, of=PAPERS), "paper.yaml")


@pytest.mark.parametrize(
    "changes",
    [
        {"gain": {"of": "count", "bound": 300}},
        {"gain": {"min_capacity": 20}},
        {"gain": {"at_most": 2}},
        {"questions": {"one": {}, "two": {"min_capacity": 20}}},
        {"dataset.columns.count": "adult_patients"},
        {"dataset.columns.capacity": "adult_beds"},
        {"dataset.columns.cases": None},
        {"dataset.cleaning.min_total_cases": 50},
        {"dataset.cleaning.case_factor": 7},
        {"privacy.count_sensitivity": 4},
        {"privacy.count_sensitivity": 0.5},
        {"privacy.unit.weeks": 4, "suites": {"local": {"algorithms": ["rw-ftpl"]}}, "report": {}},
    ],
)
def test_another_question_is_not_the_papers(changes):
    assert papers_with().facts.asks_the_papers
    same = {"gain": {"title": "Fullest"}, "dataset.cleaning.max_carry": 1}
    assert papers_with(**same).facts.asks_the_papers
    assert not papers_with(**changes).facts.asks_the_papers


@pytest.mark.parametrize(
    "spec",
    [
        {"algorithm": "l2p", "label": "l2p-one-round", "largest_batch": 1},
        {"algorithm": "rw-meta", "label": "rw-meta-floor-0", "exploration_floor": 0},
        {"algorithm": "mf-window", "label": "mf-window", "window": 2},
        {"algorithm": "rw-meta", "label": "someone-alone"},
    ],
    ids=lambda spec: spec["label"],
)
def test_a_label_may_say_what_is_played(spec):
    config = parse({"suites.more.noises": ["isotropic"], "suites.more.algorithms": [spec]})
    assert [it.label for it in config.suites["more"].members] == [spec["label"]]
