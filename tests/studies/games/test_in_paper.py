"""Which column of the first paper's Table 2 shows a game."""

from __future__ import annotations

import pytest

from dpol.experts.registry import make_members
from dpol.studies.games.in_paper import places_in_paper
from dpol.studies.games.names import InPaper

TABLE = "paper 1, Table 2"


@pytest.mark.parametrize(
    ("entry", "places"),
    [
        ("rw-meta", [InPaper(TABLE, "rw-meta")]),
        ("tree-ftpl-min-noise", [InPaper(TABLE, "tree-ftpl-min-noise")]),
        ("tree-ftpl-min-regret", [InPaper(TABLE, "tree-ftpl-min-regret")]),
        ("ridge", [InPaper(TABLE, "best-linear-model")] * 12),
        (
            {"algorithm": "rw-meta", "label": "careful", "exploration_floor": 0.5},
            [InPaper(TABLE, "careful", variant=True)],
        ),
        ({"algorithm": "ridge", "windows": [5]}, [InPaper()] * 3),
        ({"algorithm": "rw-ftpl", "label": "rw-meta"}, [InPaper()]),
        ("persistence", [InPaper()]),
    ],
)
def test_the_papers_algorithms_and_their_variants_have_a_column(
    entry: object, places: list[InPaper]
) -> None:
    members = make_members(entry)
    assert places_in_paper(members, "isotropic") == places
    assert places_in_paper(members, "capacity") == [InPaper()] * len(places)
