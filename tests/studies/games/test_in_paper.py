"""Which column of the first paper's Table 2 shows a game."""

from __future__ import annotations

import pandas as pd
import pytest

from dpol.config.experiment import parse_experiment
from dpol.experts.registry import make_members
from dpol.studies.games.collect import with_columns
from dpol.studies.games.names import TABLE_2
from dpol.studies.games.settings import columns_in_paper
from small_config import DELETED, changed

NONE = ("", False)


@pytest.mark.parametrize(
    ("entry", "columns"),
    [
        ("rw-meta", [("rw-meta", False)]),
        ("tree-ftpl-min-noise", [("tree-ftpl-min-noise", False)]),
        ("tree-ftpl-min-regret", [("tree-ftpl-min-regret", False)]),
        ("ridge", [("best-linear-model", False)] * 12),
        (
            {"algorithm": "rw-meta", "label": "careful", "exploration_floor": 0.5},
            [("careful", True)],
        ),
        ({"algorithm": "ridge", "windows": [5]}, [NONE] * 3),
        ({"algorithm": "rw-ftpl", "label": "rw-meta"}, [NONE]),
        ("persistence", [NONE]),
    ],
)
def test_the_papers_algorithms_and_their_variants_have_a_column(
    entry: object, columns: list[tuple[str, bool]]
) -> None:
    members = make_members(entry)
    assert columns_in_paper(members, "isotropic") == columns
    assert columns_in_paper(members, "capacity") == [NONE] * len(columns)


@pytest.mark.parametrize(
    ("changes", "beside"),
    [
        ({}, []),
        ({"mine": ["persistence", "rw-adabatch"]}, ["persistence", "rw-adabatch"]),
        ({"local": ["rw-meta", "ridge", "rw-ftpl"]}, ["rw-meta", "rw-ftpl"]),
    ],
)
def test_what_a_config_plays_itself_is_beside_the_paper(
    changes: dict[str, list[str]], beside: list[str]
) -> None:
    noises = ["isotropic-constant"]
    own = {label: {"noises": noises, "algorithms": names} for label, names in changes.items()}
    suites = {"local": None, "central": None} if "mine" not in changes else {"central": None}
    config = parse_experiment(changed({"suites": suites | own, "report": DELETED}), "x").config
    assert config.games.beside == beside
    again = parse_experiment(config.whole(), "x").config
    assert again.games.beside == beside, "also of a config whose defaults are written out"
    named = config.whole() | {"report": {"algorithms": ["tree-ftpl-min-noise"]}}
    assert parse_experiment(named, "x").config.games.beside == ["tree-ftpl-min-noise"]


def test_an_algorithm_without_the_papers_noise_has_a_column_that_names_its_own() -> None:
    rows = [
        ("rw-meta", "isotropic", "rw-meta", 1.0),
        ("both", "isotropic", "", 1.0),
        ("both", "capacity", "", 1.0),
        ("other", "capacity", "", 1.0),
        ("weak", "isotropic", "", 2.0),
        ("unnamed", "isotropic", "", 1.0),
    ]
    cells = pd.DataFrame(rows, columns=["algorithm", "noise", "column", "guaranteed_mu"])
    cells = cells.assign(mu=1.0, exhibit="", variant=False)
    made = with_columns(cells, ["rw-meta", "both", "other", "weak"])
    assert made["column"].tolist() == ["rw-meta", "both", "", "other, capacity noise", "", ""]
    assert made["variant"].tolist() == [False, True, False, True, False, False]
    assert made["exhibit"].eq(TABLE_2).tolist() == made["variant"].tolist()
