"""Outputs and records are views of the ledger; what one knows and the other does not is noticed."""

from __future__ import annotations

import copy
from pathlib import Path

import pytest

from dpol.core.errors import DataError
from dpol_weekly.released.read import read_release
from releases import (
    A1,
    A2,
    B1,
    COLUMNS,
    LEDGER,
    NOISY,
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


SWAPPED = {**COLUMNS, "count": "beds", "capacity": "covid"}


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
        refuse("was, released with noise", A1, own={"columns": SWAPPED})
        assert (before | {str(LEDGER): 0}).items() <= (files() | {str(LEDGER): 0}).items()
    else:
        put(B2, split=True)
        assert table()[: len(whole)] == whole
        assert len(table()) == 3


# ---- several outputs -----------------------------------------------------------------------------


def test_links_and_moved_folders_do_not_split_a_ledger():
    """Every link leads to the one ledger, and files are written where the holder says."""
    put(A1)
    Path("to_it").symlink_to(NOISY.absolute())
    assert put(A1, to="to_it", halted=True).skipped == 1
    put(A2, to="to_it")
    assert weeks() == [A1[:2], A2[:2]]
    Path("link.sqlite").symlink_to(LEDGER)
    put(B1, ledger="link.sqlite", split=True)
    assert Path("link.sqlite").is_symlink()
    Path("new").mkdir()
    for file in (LEDGER, Path("dpol.key"), Path("dpol.secret")):
        file.rename(f"new/{file}")
    done = put(A1, B1, to="other", ledger=f"new/{LEDGER}", halted=True)
    assert (done.added, weeks("other")) == (0, [A1[:2], A2[:2], B1[:2]])


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
