"""The numbers of the interactive figure of gains."""

from __future__ import annotations

import json
import re
from typing import Any

import pandas as pd

from dpol.studies.hospitals.gain_widget import gain_data, gain_widget
from dpol.studies.looks import looks_of
from tables_by_hand import INF, cumulative, main, summary

LEVELS = [INF, 1.0]


def data(
    curves: pd.DataFrame | None = None, title: str = "New Mexico", **cells: Any
) -> dict[str, Any]:
    frames = {
        "cumulative": cumulative() if curves is None else curves,
        "summary": summary().assign(**cells),
    }
    return gain_data(frames, main().report, {"nm": title}, LEVELS)


def test_curves_are_first_values_and_steps_in_whole_units() -> None:
    found = data()
    (stream,) = found["streams"]
    assert (found["unit"], stream["title"]) == (0.001, "New Mexico (n = 24)")  # 4 has four digits
    assert stream["rounds"] == [1, 2, 3, 4]
    assert stream["dates"] == ["2020-12-20", "2020-12-27", "2021-01-03", "2021-01-10"]
    assert stream["bounds"] == {
        "foresight": [1000] * 4,
        "best-static-expert": [500] * 4,
        "chance": [250] * 4,
    }
    assert stream["curves"] == {
        "rw-meta, isotropic, 0": [[750] * 4, [126, 0, 0, 0]],
        "rw-meta, isotropic, 1": [[625] * 4, None],  # a single run
        "rw-meta, capacity, 1": [[700] * 4, [1, 0, 0, 0]],  # narrow is not exact
        "tree-ftpl-min-noise, isotropic, 1": [[500] * 4, [250, 0, 0, 0]],
        "follow-the-leader, none, 0": [[500] * 4, 0],
        "range, isotropic, 1": [[375] * 4, [875] * 4],
    }


def test_lines_have_the_names_and_looks_of_the_picture() -> None:
    found = data()
    assert found["noises"] == ["isotropic", "capacity †"]
    lines = {it["label"]: it for it in found["lines"]}
    assert list(lines)[:3] == main().report.algorithms
    assert list(lines)[3:] == ["foresight", "best-static-expert", "chance", "range"]
    for label in main().report.algorithms:
        look, line = looks_of([label])[label], lines[label]
        drawn = (line["colour"], line["dashes"], line["width"])
        assert drawn == (look.colour, look.dashes, look.width)
    tree = lines["tree-ftpl-min-noise"]
    assert tree["names"] == ["tree-ftpl-min-noise", "tree-ftpl-min-noise (isotropic)"]
    assert tree["noises"] == ["isotropic", "isotropic"]
    assert lines["range"]["names"][0] == "range of the 2 ridge learners"


def test_long_curves_are_thinned_and_end_where_they_end() -> None:
    (stream,) = data(cumulative(250))["streams"]
    assert stream["rounds"][:2] == [1, 4]
    assert stream["rounds"][-1] == 250
    assert len(stream["rounds"]) <= 100
    mean, half = stream["curves"]["rw-meta, isotropic, 0"]
    assert (len(mean), len(half)) == (len(stream["rounds"]),) * 2
    assert sum(mean) * data(cumulative(250))["unit"] == 187.5


def test_without_privacy_there_is_no_line_with_noise_of_its_own() -> None:
    curves = data(guaranteed_mu=0.5)["streams"][0]["curves"]
    assert "rw-meta, isotropic, 0" not in curves
    assert "rw-meta, isotropic, 1" in curves


def test_rounds_without_dates_have_numbers_only() -> None:
    (stream,) = data(cumulative().assign(period=pd.NaT))["streams"]
    assert (stream["dates"], stream["rounds"]) == ([], [1, 2, 3, 4])


def test_a_title_does_not_end_the_element_of_the_numbers() -> None:
    nasty = "</script><script>alert(1)</script>"
    markup = gain_widget(data(title=nasty))
    assert markup.count("<script") == markup.count("</script>") == 1
    (text,) = re.findall(r'application/json">(.+)</script>', markup)
    assert json.loads(text)["streams"][0]["title"].startswith(nasty)
