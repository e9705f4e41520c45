"""Tables of many domains: read right, or refused with what makes them right.

An owner knows the columns, and what the texts in a table mean, but sets a key only when a message
prints it. `TABLES_SEED=7` draws other tables.
"""

from __future__ import annotations

import ast
import os
import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from data.drawn_tables import UNTIDY, WORDS, Answers, Untidy, differences, draw_case, read
from in_process import command

TIDY = [f"{os.environ.get('TABLES_SEED', 'table')}-{number}" for number in range(40)]


def conversation(
    file: str, answers: Answers, given: dict[str, Any], known: dict[str, Any]
) -> tuple[dict[str, Any], str]:
    """Run `dpol new dataset`, setting the keys that its messages print, while they print new ones.

    Returns the keys set, and the last message; it is empty if a config was written.
    """
    keys = dict(given)
    while True:
        code, out, err = command("new", "dataset", file, *answers.options(keys))
        message = out + err
        assert "Traceback" not in message
        assert bool(list(Path().glob("*.yaml"))) == (code == 0), message
        if code == 0:
            return keys, ""
        printed = re.findall(r"--set ['\"]?([a-z_]+\.[a-z_]+)=", message)
        new = {key: known[key] for key in printed if key in known and key not in keys}
        if not new:
            return keys, message
        keys |= new


def snippets(message: str) -> list[str]:
    """Return the lines of pandas that a message prints, as lines or between backquotes."""
    found = []
    for text in [*re.findall(r"`([^`\n]+)`", message), *map(str.strip, message.splitlines())]:
        try:
            names = {node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)}
        except SyntaxError:
            continue
        if names & {"df", "pd"} and text not in found:
            found.append(text)
    return found


def run_lines(lines: list[str], path: Path) -> pd.DataFrame:
    """Run lines of pandas on the table as pandas reads it, and return the last frame."""
    frame = pd.read_csv(path) if path.suffix == ".csv" else pd.read_excel(path)
    names: dict[str, Any] = {"pd": pd, "df": frame, "path": path}
    for line in lines:
        if isinstance(ast.parse(line).body[0], ast.Expr):
            names["df"] = eval(line, names)
        else:
            exec(line, names)
    return names["df"]


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("name", TIDY)
def test_a_command_reads_a_tidy_table_right_after_what_its_messages_ask_for(name, tmp_path):
    case = draw_case(name, tmp_path)
    keys, message = conversation(case.file, case.answers, case.given, case.known)
    assert not message, f"{message}\n{keys}\n{case}"
    (config,) = tmp_path.glob("*.yaml")
    assert not differences(read(config, case.answers, keys), case.truth), keys


@pytest.mark.parametrize("name", TIDY)
@pytest.mark.filterwarnings("ignore")  # what cleaning changed is logged
def test_the_library_reads_a_tidy_table_right_with_its_keys(name, tmp_path):
    case = draw_case(name, tmp_path)
    cells = read(tmp_path / case.file, case.answers, case.known | case.given)
    assert not differences(cells, case.truth), case


@pytest.mark.parametrize("case", UNTIDY, ids=lambda case: case.name)
@pytest.mark.filterwarnings("ignore")
def test_an_untidy_table_is_refused_with_what_makes_it_tidy(case: Untidy, tmp_path):
    path, truth = case.write(tmp_path), case.truth()
    length = WORDS["steps"][case.step]["key"]
    given = {"cleaning.entities": "all", "cleaning.max_zeroed": 0.5}
    asked = Answers(**vars(case.answers) | case.asked)
    keys, message = conversation(path.name, asked, given, length | case.keys)
    if not message:  # keys settled it
        assert case.keys.keys() & keys.keys(), "the table was read as if it were tidy"
        (config,) = tmp_path.glob("*.yaml")
        assert not differences(read(config, asked, keys), truth)
        return
    lines = snippets(message)
    assert lines, message
    for tidy in (run_lines(lines, path), run_lines([case.line], path)):
        assert not differences(read(tidy, case.answers, given | length), truth), lines


def test_a_tidy_frame_is_read_as_its_file(tmp_path):
    case = Untidy(name="tidy", made="df", line="df")
    path, frame = case.write(tmp_path), case.base()
    for table in (path, frame, frame.assign(week=pd.to_datetime(frame["week"]))):
        assert not differences(read(table, case.answers, {"periods.days": 7}), case.truth())
