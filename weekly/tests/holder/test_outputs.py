"""Outputs and records are views of the ledger; what one knows and the other does not is noticed."""

from __future__ import annotations

import copy
from pathlib import Path

import pytest

from dpol.core.errors import DataError
from dpol_weekly.holder.text import warnings_of
from dpol_weekly.keys import make_secret
from dpol_weekly.released.read import read_release
from releases import (
    A1,
    A2,
    B1,
    LEDGER,
    NOISY,
    deployment,
    files,
    newest,
    output,
    put,
    record,
    refuse,
    repack,
    table,
)

B2 = ("B", "2021-01-08", "4")


def weeks(path=NOISY):
    return [(row["entity"], row["period"]) for row in output(path)]


# ---- views ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("refused", [True, False])
@pytest.mark.parametrize(
    "damage",
    [
        lambda: repack(rows=[]),
        lambda: repack(rows=table()[:-1]),
        lambda: repack(agreement=None),
        lambda: newest().write_bytes(b""),
        lambda: newest().write_bytes(newest().read_bytes()[:-30]),
    ],
)
def test_what_is_older_is_written_again_by_any_run(damage, refused):
    """A run whose own rows are refused writes it again, too."""
    put(A2, B1)
    before, whole = files(), table()
    damage()
    if refused:
        refuse("2021-02-05: was not released before", A1, correct=["2021-02-05"])
        assert (before | {str(LEDGER): 0}).items() <= (files() | {str(LEDGER): 0}).items()
    else:
        put(B2, split=True)
        assert table()[: len(whole)] == whole
        assert len(table()) == 3


# ---- several outputs -----------------------------------------------------------------------------


def test_symbolic_links_do_not_split_a_ledger():
    """Every link leads to the one output and its ledger."""
    put(A1)
    Path("to_it").symlink_to(NOISY.absolute())
    Path("to_here").symlink_to(Path().absolute())
    for name in ("to_it", Path("to_here", NOISY), NOISY / ".." / NOISY):
        assert put(A1, to=name, halted=True).skipped == 1
    put(A2, to="to_it")
    assert weeks() == [A1[:2], A2[:2]]
    Path("link.sqlite").symlink_to(LEDGER)
    put(B1, ledger="link.sqlite", split=True)
    assert Path("link.sqlite").is_symlink()
    Path("away").symlink_to("nowhere")
    assert put(B1, to="away", made=deployment(name="e")).file == Path("nowhere/e-2021-01-01.json")


def test_a_moved_folder_is_known_again_and_a_moved_output_is_asked_for():
    put(A1)
    NOISY.rename("moved")
    refuse("in another output; keep that output for these entities", A1, to="moved")
    Path("new").mkdir()
    Path("moved").rename("new/noisy")
    for file in (LEDGER, Path("dpol.key"), Path("dpol.secret")):
        file.rename(f"new/{file}")
    put(A1, B1, to="new/noisy", ledger=f"new/{LEDGER}", split=True)
    assert weeks("new/noisy") == [A1[:2], B1[:2]]


# ---- what a receiver notices ---------------------------------------------------------------------


def leaves(value, path=()):
    """Paths to all that a record states."""
    if isinstance(value, dict | list) and value:
        items = value.items() if isinstance(value, dict) else enumerate(value)
        return [leaf for key, it in items for leaf in leaves(it, (*path, key))]
    return [path]


def test_whatever_is_changed_in_a_record_is_noticed():
    """Any number or text of it, and any part that is left out."""
    put(A1, A2, B1)
    whole = record()
    for path in leaves(whole):
        for cut in (False, True):
            changed = inner = copy.deepcopy(whole)
            for key in path[:-1]:
                inner = inner[key]
            if cut:
                inner.pop(path[-1])
            else:
                inner[path[-1]] = f"{inner[path[-1]]}1"
            repack(**dict.fromkeys(whole) | changed)
            with pytest.raises(DataError, match=r"d-2021-01-08\.json"):
                read_release(newest())
    repack(**whole)
    assert len(read_release(newest()).rows) == 3


# ---- what changed since the release --------------------------------------------------------------


def test_a_count_that_differs_from_what_was_released_is_named():
    """However the same number is written; a correction is what counts from then on."""
    put(A1, A2, B1)
    same = ("A", A1[1], "3.0"), ("A", A2[1], "7.50"), ("B", B1[1], "0,0".replace(",", "."))
    assert put(*same, halted=True).differ == []
    changed = ("A", A1[1], "4"), A2, ("B", B1[1], "1")
    done = put(*changed, halted=True)
    assert [(count.entity, count.period) for count in done.differ] == [("A", A1[1]), ("B", B1[1])]
    told = "\n".join(warnings_of(done, deployment()))
    assert "2 counts differ from what was released (2021-01-01). Only in an emergency" in told
    put(*changed, correct=[A1[1]])
    assert put(*changed, halted=True).differ == []
    Path("dpol.secret").rename("old.secret")
    make_secret(Path("dpol.secret"))
    assert put(A1, A2, B1, halted=True).differ == [], "another secret cannot tell"
