"""Tables of many domains: read right, or refused with what makes them right.

An owner knows the columns, and what the texts in a table mean, but sets a key only when a message
prints it. `TABLES_SEED=7` draws other tables.
"""

from __future__ import annotations

import contextlib
import os
import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import dpol
from data.drawn_tables import UNTIDY, WORDS, Answers, Keys, Untidy, differences, draw_case, read
from in_process import command

pytestmark = pytest.mark.usefixtures("empty_folder")
TIDY = [f"{os.environ.get('TABLES_SEED', 'drawn')}-{number}" for number in range(40)]


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
        printed = re.findall(r"[a-z]+\.[-.\w]+\w", message)
        new = {key: known[key] for key in printed if key in known and key not in keys}
        if not new:
            return keys, message
        keys |= new


def is_made_tidy(case: Untidy, table: pd.DataFrame, message: str, keys: Keys, steps: int) -> bool:
    """Run each line of pandas of a message, and those of the refusals of what comes out."""
    (file,) = Path().glob("wards.*[vx]")
    for line in map(str.strip, message.splitlines()):
        for old, new in case.words.items():
            line = line.replace(old, new)
        if not line.startswith("table"):
            continue
        names = {"pd": pd, "FILE": file, "table": table.copy()}
        if "beds.csv" in case.line:
            names["capacities"] = pd.read_csv("beds.csv")
        with contextlib.suppress(KeyError, NameError, ValueError, AttributeError, TypeError):
            exec(line, names)
        try:
            if not differences(read(names["table"], case.answers, keys), case.truth()):
                return True
        except dpol.DpolError as error:
            asked = {key: case.keys[key] for key in case.keys if key in str(error)}
            if steps and is_made_tidy(case, names["table"], str(error), keys | asked, steps - 1):
                return True
    return False


@pytest.mark.parametrize("name", TIDY)
def test_a_command_reads_a_tidy_table_right_after_what_its_messages_ask_for(name, tmp_path):
    case = draw_case(name, tmp_path)
    keys, message = conversation(case.file, case.answers, case.given, case.known)
    assert not message, f"{message}\n{keys}\n{case}"
    (config,) = tmp_path.glob("*.yaml")
    assert not differences(read(config, case.answers, keys), case.truth), keys


@pytest.mark.parametrize("case", UNTIDY, ids=lambda case: case.name)
@pytest.mark.filterwarnings("ignore")
def test_an_untidy_table_is_refused_with_what_makes_it_tidy(case: Untidy, tmp_path):
    path, length = case.write(tmp_path), WORDS["steps"][case.step]["key"]
    given = {"cleaning.entities": "all", "cleaning.max_zeroed": 0.5}
    asked = Answers(**vars(case.answers) | case.asked)
    keys, message = conversation(path.name, asked, given, length | case.keys)
    if not message:  # keys settled it
        assert case.keys.keys() & keys.keys(), "the table was read as if it were tidy"
        (config,) = tmp_path.glob("*.yaml")
        assert not differences(read(config, asked, keys), case.truth())
        return
    table = pd.read_csv(path) if path.suffix == ".csv" else pd.read_excel(path)
    tidy = eval(case.line, {"pd": pd, "table": table, "path": path})
    assert not differences(read(tidy, case.answers, given | length), case.truth())
    assert is_made_tidy(case, table, message, keys | length, steps=2), message


def test_a_tidy_frame_is_read_as_its_file(tmp_path):
    case = Untidy(name="tidy", made="table", line="table")
    path, frame = case.write(tmp_path), case.base()
    typed = frame.assign(week=pd.to_datetime(frame["week"]))
    for table in (path, frame, typed, typed.set_index(["place", "week"])):
        assert not differences(read(table, case.answers, {"periods.days": 7}), case.truth())
