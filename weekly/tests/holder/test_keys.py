"""Keys of holders: who signed, and what is no key."""

from __future__ import annotations

from pathlib import Path

import pytest

from dpol.core.errors import OutputError
from dpol_weekly.keys import make_key
from releases import A1, put, refuse

KEY = Path("north.key")


def test_a_key_is_never_written_over():
    make_key(KEY)
    assert KEY.stat().st_mode & 0o777 == 0o600
    before = KEY.read_bytes()
    with pytest.raises(OutputError, match=r"north.key: cannot be written \(File exists\)"):
        make_key(KEY)
    assert KEY.read_bytes() == before


def test_a_file_that_others_can_read_or_that_is_no_key_signs_nothing():
    put(A1)
    Path("dpol.key").chmod(0o640)
    refuse("others on this machine can read this key; chmod 600", A1)
    Path("text.key").write_text("no key")
    Path("text.key").chmod(0o600)
    refuse("text.key: is not a key of dpol", A1, own={"key": "text.key"})
    refuse("none.key: the key cannot be read", A1, own={"key": "none.key"})
