"""Keys of holders: who signed, and what is no key."""

from __future__ import annotations

from pathlib import Path

import pytest

from dpol.core.errors import OutputError
from dpol_weekly.keys import Key, is_key, make_key, verify
from dpol_weekly.records import signed_text
from releases import A1, put, record, refuse

KEY = Path("north.key")


def test_a_release_is_signed_with_the_holders_key():
    public = make_key(KEY)
    assert KEY.stat().st_mode & 0o777 == 0o600
    put(A1, own={"key": KEY})
    stated = record()
    assert stated["key"] == Key(KEY).public == public
    assert verify(public, stated["signature"], signed_text(stated))


def test_a_key_is_never_written_over():
    make_key(KEY)
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


@pytest.mark.parametrize("text", ["0" * 64, "A" * 64, " " + "a" * 63, "a" * 63, "", "٣" * 64])
def test_what_is_no_key_is_told_apart(text):
    """Zeros are a point of small order: one signature by it fits any text."""
    assert not is_key(text)
    assert is_key(make_key(Path("good.key")))
