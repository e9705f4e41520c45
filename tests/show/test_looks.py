"""File of looks: mistakes are refused with their place."""

from __future__ import annotations

import copy
import re
from pathlib import Path
from typing import Any

import pytest

from dpol.core.yaml_files import read_yaml
from dpol.show import looks
from dpol.show.looks import Look, looks_from, looks_of

FILE: Any = read_yaml(Path(looks.__file__).with_suffix(".yaml"))


def test_a_line_has_the_colour_dashes_marker_and_width_of_the_file() -> None:
    content = copy.deepcopy(FILE)
    content["algorithms"] = {
        "mine": {"colour": "grey", "dashes": "short", "marker": "s", "width": 2.5},
        "plain": {"colour": "#123ABC"},
    }
    assert looks_from(content).algorithms == {
        "mine": Look(FILE["colours"]["grey"], (2.2, 1.2), "s", width=2.5),
        "plain": Look("#123ABC", (), "", width=1.2),
    }


@pytest.mark.parametrize(
    ("section", "label", "block", "wrong"),
    [
        ("algorithms", "rw-meta", {"colour": "blue"}, "colour 'blue' must be written as #RRGGBB"),
        ("algorithms", "rw-meta", {"marker": "o"}, "'colour' is missing"),
        ("rivals", "dp-ftrl", {"colour": "grey", "dashes": "dased"}, "dashes 'dased' are none of"),
        ("rivals", "dp-ftrl", {"colour": "grey", "color": "grey"}, "argument 'color'"),
        ("label_learners", "wma", {"colour": "grey", "marker": "ov"}, "marker 'ov' is not"),
        ("label_learners", "wma", "grey", "string indices"),
        ("references", "uniform-random", {"colour": "grey", "width": 0}, "width 0 is not above 0"),
        ("references", "uniform-random", {"colour": "grey", "width": "wide"}, "not supported"),
        ("colours", "grid", "#E3E3E", "colour '#E3E3E' must be written as #RRGGBB"),
        ("dashes", "short", [2.2], "dashes (2.2,) are not pairs"),
        ("dashes", "short", [2.2, 0.0], "dashes (2.2, 0.0) are not pairs"),
    ],
)
def test_an_invalid_look_is_refused_with_its_label(
    section: str, label: str, block: object, wrong: str
) -> None:
    content = copy.deepcopy(FILE)
    content[section][label] = block
    place = re.escape(f"looks.yaml: {section}: {label}: ")
    with pytest.raises(ValueError, match=place + ".*" + re.escape(wrong)):
        looks_from(content)


def test_a_section_that_is_missing_or_unknown_is_named() -> None:
    content = {**FILE, "algorithm": FILE["algorithms"]}
    del content["algorithms"]
    with pytest.raises(ValueError, match="unknown: algorithm, algorithms$"):
        looks_from(content)


def test_a_label_of_another_package_keeps_its_look_in_every_figure() -> None:
    alone = looks_of(["theirs"])["theirs"]
    assert alone in looks.OTHERS
    assert looks_of(["rw-meta", "theirs", "mf-ftpl"])["theirs"] == alone
