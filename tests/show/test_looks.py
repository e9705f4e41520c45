"""File of looks: mistakes are refused with their place."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

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


def test_a_label_of_another_package_keeps_its_look_in_every_figure() -> None:
    alone = looks_of(["theirs"])["theirs"]
    assert alone in looks.OTHERS
    assert looks_of(["rw-meta", "theirs", "mf-ftpl"])["theirs"] == alone
