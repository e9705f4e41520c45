"""`dpol new dataset` asks four questions, and writes a config once the table was read."""

from __future__ import annotations

import io
import re
import shlex
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml

from dpol.config.experiment import load_experiment
from dpol.data.cleaning import clean_table
from dpol.data.settings import Dataset, Stream
from in_process import command
from pipeline import ROOT

HHS = ROOT / "data/hospitals/hospitals-central-texas-2020-08-09--2023-06-04.parquet"
SCHOOLS = """Absent pupils by week

school;week;absent;pupils
North;8.1.2024;4;120
North;15.1.2024;<3;120
North;22.1.2024;-;120
North;29.1.2024;9;
South;8.1.2024;11;310
South;15.1.2024;8;310
South;22.1.2024;14;310
South;29.1.2024;20;305
"""
KEYS = {
    "read.sep": ";",
    "read.skiprows": "2",
    "periods.format": "%d.%m.%Y",
    "cleaning.missing_markers": '["", "-"]',
    "cleaning.suppressed_markers": '["<3"]',
}

SETS = [f"--set={key}={value}" for key, value in KEYS.items()]
SCHOOL = ["--entity=school", "--period=week", "--count=absent", "--capacity=pupils"]


@pytest.fixture(autouse=True)
def _schools(empty_folder: Path) -> None:
    Path("schools.csv").write_text(SCHOOLS)


def written(*words: str) -> str:
    """Return what the command prints that writes a config."""
    code, out, err = command("new", "dataset", *words)
    assert code == 0, err
    return out


def refused(*words: str) -> str:
    """Return the message of the command, which writes no config."""
    code, _, err = command("new", "dataset", *words)
    assert (code, list(Path().glob("*.yaml"))) == (2, [])
    return err


def test_each_refusal_prints_the_command_that_goes_on() -> None:
    """An owner who fills in what only he knows comes to an end."""
    words = ["new", "dataset", "schools.csv"]
    for _ in range(9):
        code, out, err = command(*words)
        if code == 0:
            break
        assert not Path("schools.yaml").exists()
        words = shlex.split(err.splitlines()[-1].partition("dpol ")[2])
        for key, value in KEYS.items():
            words = [re.sub(f"{key}=.*VALUE.*", f"{key}={value}", it) for it in words]
        answers = {"ENTITY": "school", "PERIOD": "week", "COUNT": "absent", "CAPACITY": "pupils"}
        words = [answers.get(it, it) for it in words]
        if "cleaning.missing_markers" in err:  # one message may need two keys
            words += ["--set", f"cleaning.suppressed_markers={KEYS['cleaning.suppressed_markers']}"]
        words = [it for k, it in enumerate(words) if "VALUE" not in it and words[k : k + 1]]
    assert code == 0, err
    assert "8 of 8 rows play, of 2 entities: North and South" in out
    assert "'8.1.2024' in row 4 is Mon 8 Jan 2024; 4 periods of 7 days" in out
    assert out.endswith("Written: schools.yaml. Now: dpol run schools.yaml --cores 2\n")
    text = Path("schools.yaml").read_text()
    assert shlex.split(text.splitlines()[0])[1:] == ["dpol", *words]
    config = load_experiment("schools.yaml")
    assert (config.dataset.columns.entity, config.dataset.periods.days) == ("school", 7)


def test_a_refusal_prints_the_separator_that_it_sees() -> None:
    Path("tabs.csv").write_text(SCHOOLS.partition("\n\n")[2].replace(";", "\t"))
    words = shlex.split(refused("tabs.csv").splitlines()[-1].partition("dpol ")[2])
    assert "tabs.csv has these columns:\n  school (text)" in command(*words)[1]


def test_the_columns_are_shown_and_only_what_is_open_is_asked() -> None:
    code, out, err = command("new", "dataset", "schools.csv", *SETS)
    assert code == 2
    assert "week (date): '8.1.2024', '15.1.2024' and '22.1.2024'" in out
    assert re.findall(r"^  --(\w+): ", err, re.M) == ["entity", "count", "capacity"]
    assert "--period week --entity ENTITY" in err
    err = refused("schools.csv", *SETS, "--capacity", "none")
    assert re.findall(r"^  --([\w-]+): ", err, re.M) == ["entity", "count", "at-most"]


def test_in_a_terminal_the_answers_are_typed(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = ["400", "none", "absent", "school"]

    def typed(_: str) -> str:
        if not answers:
            raise EOFError
        return answers.pop()

    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
    monkeypatch.setattr("builtins.input", typed)
    written("schools.csv", *SETS)
    config = Path("schools.yaml")
    assert yaml.safe_load(config.read_text())["gain"] == {"of": "count", "bound": 400}
    config.unlink()
    assert "these answers are missing" in refused("schools.csv", *SETS), "the answers ended"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["none.csv"], "none.csv: no such file"),
        (["schools.csv", "--set", "read.sep"], "read.sep = '': must have at least 1 character"),
        (["schools.csv", "--set", "read.sep=ab"], "read.sep = 'ab': must have at most 1 character"),
        (["schools.csv", "--set", "read.sep=ab"], "schools.csv --set read.sep=VALUE"),
        (["schools.csv", "--set", "read.seps=;"], "read.seps = ';': unknown key; did you mean sep"),
        (["schools.csv"], "has one column, 'Absent pupils by week'. Set read.sep or read.skiprows"),
        (
            ["schools.csv", *SETS, "--set=columns=[week]"],
            "unknown key; known: entity, period, count",
        ),
        (["schools.csv", "--set=read=;", "--set=read.sep=ab"], "must have at most 1 character"),
        (
            ["schools.csv", *SETS, *SCHOOL, "--set=periods=7"],
            "dataset.periods = 7: must be a block",
        ),
        (
            ["schools.csv", *SETS, *SCHOOL, "--set=periods.first=2030-01-01"],
            "Change dataset.periods. Periods in the table: 2024-01-08 to 2024-01-29",
        ),
        (["schools.csv", *SETS, *SCHOOL, "--set=periods.months=1"], "the first day of a month"),
    ],
)
def test_a_wrong_answer_is_refused(words: list[str], message: str) -> None:
    sets = ["--set=read.sep=;"] if words == ["schools.csv"] else []
    assert message in refused(*words, *sets)


WARDS = """place,week,patients,beds
A,2024-01-01,3,9
A,2024-01-08,4,9
A,2024-01-15,5,9
B,2024-01-01,3,9
B,2024-01-08,5,9
B,2024-01-15,2,9
"""
NAMED = ["--entity=place", "--period=week", "--count=patients", "--capacity=beds"]


@pytest.mark.parametrize(
    "keys",
    [
        ["dataset.read.sep=,", "read.thousands= "],
        ["read.thousands=\u00a0", "columns.group=place", "streams.both.groups=[A, B]"],
        ["read.thousands=\u2009", "gain={at_most: 2}"],
        ["read.thousands=\u202f"],
    ],
)
def test_a_key_is_taken_as_an_owner_types_it(keys: list[str]) -> None:
    text = WARDS.replace(",5,9", ",1\u00a0205,2\u202f000").replace(",2,9", ",2,9\u2009000")
    Path("wards.csv").write_text(text, encoding="utf-8")
    written("wards.csv", *NAMED, *(f"--set={it}" for it in keys))


def test_the_command_that_goes_on_keeps_what_was_answered() -> None:
    Path("wards.csv").write_text(WARDS)
    said = refused("wards.csv", *NAMED, "--set=periods.of=sum")
    assert said.endswith(" --set periods.of=sum --set privacy.count_sensitivity=VALUE\n")
    said = refused("wards.csv", *NAMED, "--set=read.thousands=.")
    assert said.endswith(" --set read.thousands=. --set read.decimal=VALUE\n")
    for text, asked in {
        WARDS.replace(",5,", ",*,"): """'cleaning.missing_markers=["", "NA", "VALUE"]'""",
        "Wards, by week\n" + WARDS: "read.skiprows=VALUE",
        WARDS + "Source: wards\n": "read.skipfooter=VALUE",
        '"Wards, by week"\n' + WARDS: "read.sep=VALUE",
    }.items():
        Path("wards.csv").write_text(text)
        assert refused("wards.csv", *NAMED).endswith(f" --set {asked}\n")
    Path("wards.tsv").write_text(WARDS)
    assert refused("wards.tsv", *NAMED).endswith(""" --set 'read.sep=","'\n""")
    shares = enumerate([(1, 9), (5, 2), (3, 4), (7, 7), (2, 8), (6, 1)])
    rows = [
        f"{place},2024-01-0{day + 1},{count},20"
        for day, (one, other) in shares
        for place, count in {"A": one, "B": other, "all": one + other, "none": 0}.items()
    ]
    Path("wards.csv").write_text("\n".join(["place,week,patients,beds", *rows]))
    said = refused("wards.csv", *NAMED, "--set=cleaning.drop_where={place: none}")
    assert said.endswith(""" --set 'cleaning.drop_where={"place": ["none", "all"]}'\n""")


def test_a_sheet_may_be_named_by_a_number() -> None:
    with pd.ExcelWriter("wards.xlsx") as book:
        for name in ("2022", "2023"):
            frame = pd.read_csv(io.StringIO(WARDS))
            frame.to_excel(book, sheet_name=name, index=False)
            book.sheets[name].sheet_state = "hidden"
        frame["place"].to_excel(book, sheet_name="notes", index=False)
    assert "--set read.sheet_name=VALUE" in refused("wards.xlsx", *NAMED)
    written("wards.xlsx", *NAMED, "--set=read.sheet_name=2023")


@pytest.mark.parametrize("own", [{"entities": "all"}, {"min_total_cases": 0}])
def test_who_plays_is_said_once_beside_like(own: dict[str, Any]) -> None:
    rules = Dataset.model_validate({"like": "paper", "cleaning": own}).cleaning
    assert not {"entities", "min_total_cases"} - {*own} & rules.model_fields_set


def test_a_name_is_one_however_its_letters_are_composed() -> None:
    whole, parts = "K\u00f6ln", "Ko\u0308ln"
    text = WARDS.replace("A,2024-01-08", f'"{whole}\r\nAB",2024-01-08')
    text = text.replace("A,", f'"{parts}\nAB\u200b",').replace("patients", '"-Fa\u0308lle\nall"')
    rows = [f"{parts} total,2024-01-{day},6,18" for day in ("01", "08", "15")]
    Path("wards.csv").write_text("\n".join([text.strip(), *rows]), encoding="utf-8")
    drop = f"--set=cleaning.drop_where={{place: {parts} total}}"
    told = written("wards.csv", *NAMED, "--count=-F\u00e4lle\nall", drop)
    assert f"6 of 9 rows play, of 2 entities: B and {whole} AB" in told
    assert load_experiment("wards.yaml").dataset.needed_columns.count == "-F\u00e4lle\nall"
    assert " '--count=-F\u00e4lle\n# all'" in Path("wards.yaml").read_text(encoding="utf-8")


def test_a_config_that_exists_stays() -> None:
    Path("schools.yaml").write_text("mine")
    code, _, err = command("new", "dataset", "schools.csv")
    assert (code, Path("schools.yaml").read_text()) == (1, "mine")
    assert "schools.yaml: exists already" in err


def test_an_hhs_table_is_read_as_the_papers_config_reads_it() -> None:
    Path("hhs.parquet").write_bytes(HHS.read_bytes())
    written("hhs.parquet")
    Path("hhs.yaml").unlink()
    written("hhs.parquet", "--set", "cleaning.min_total_cases=3")
    config = load_experiment("hhs.yaml")
    own, _ = clean_table("hhs.parquet", config.dataset, config.streams)
    keys: Any = yaml.safe_load((ROOT / "config/paper.yaml").read_text())["dataset"]
    keys["cleaning"] |= {"min_total_cases": 3}
    streams = {label: Stream(groups=[label]) for label in config.streams}
    papers, _ = clean_table("hhs.parquet", Dataset.model_validate(keys), streams)
    pd.testing.assert_frame_equal(own, papers)
    assert config.dataset.private
    weeks = config.dataset.periods  # those of the table, written out
    assert HHS.stem.endswith(f"{weeks.first}--{weeks.last}")
