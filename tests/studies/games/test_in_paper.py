"""Which column of the first paper's Table 2 shows a game."""

from __future__ import annotations

import pytest

from dpol.experts.registry import make_members
from dpol.studies.games.settings import columns_in_paper

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
