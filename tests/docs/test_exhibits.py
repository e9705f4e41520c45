"""The page of exhibits holds the ledger, and names nothing that does not exist."""

from __future__ import annotations

import re
from collections import defaultdict

import exhibits
import pytest

from dpol.studies.ledger.claims.compute import PAPERS, statements


def test_every_row_of_a_paper_is_in_its_table_and_no_other_paper_s() -> None:
    """Rows of ours are there only if they are about an exhibit."""
    titles = "|".join(map(re.escape, PAPERS.values()))
    _, *parts = re.split(rf"^## ({titles})\n", exhibits.page(), flags=re.MULTILINE)
    assert parts[::2] == list(PAPERS.values())
    rows = defaultdict(set)
    for name, row in statements().items():
        rows[row.paper].add((name, row.ours))
    for title, table in zip(parts[::2], parts[1::2], strict=True):
        ledger = re.findall(r"ledger: ([^;\n]+)", table)
        found = {
            (name, bool(ours))
            for line in ledger
            for name, ours in re.findall(r"`(.+?)`( †)?", line)
        }
        assert found <= rows[title]
        assert {name for name, ours in rows[title] if not ours} <= {name for name, _ in found}


@pytest.mark.parametrize(
    ("wrong", "error", "message"),
    [
        ({"computed": ("dpol.experts.nothing",)}, ImportError, "dpol.experts.nothing"),
        ({"computed": ("dpol.experts.meta:Nothing",)}, AttributeError, "Nothing"),
        ({"seen": ("figures/table-2",)}, ValueError, "X: there is no figures/table-2"),
        ({"places": ("section 99",)}, ValueError, "X: there is no section 99"),
    ],
)
def test_what_does_not_exist_is_refused(
    monkeypatch: pytest.MonkeyPatch,
    wrong: dict[str, tuple[str, ...]],
    error: type[Exception],
    message: str,
) -> None:
    broken = {paper: [exhibits.Exhibit(name="X", **wrong)] for paper in PAPERS}
    monkeypatch.setattr(exhibits, "exhibits", lambda: broken)
    with pytest.raises(error, match=message):
        exhibits.page()


def test_a_statement_without_its_exhibit_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exhibits, "numbered", lambda: {"experts": ["Lemmas 6 and 7"]})
    with pytest.raises(ValueError, match="experts: there is no exhibit Lemma 7"):
        exhibits.page()
