"""Releases among files that anyone may have sent: what is found, and what is refused unread."""

from __future__ import annotations

import re

import pytest

from dpol.core.errors import DataError
from dpol_weekly.released.read import files_of, find_release
from weekly import agreed, report


@pytest.fixture
def whole(tmp_path):
    """The bytes of a release."""
    made = agreed(tmp_path / "agreed")
    return report(tmp_path / "agreed/x.json", made, [("A", 0, "31.5")]).read_bytes()


@pytest.mark.parametrize(
    "change", [lambda it: it.replace(b", ", b",\r\n"), b"\xef\xbb\xbf".__add__]
)
def test_line_ends_and_marks_that_mail_changed_do_no_harm(tmp_path, whole, change):
    (tmp_path / "a.json").write_bytes(change(whole))
    assert find_release(tmp_path / "a.json")


def test_each_other_file_in_a_folder_is_named(tmp_path, whole):
    inbox = tmp_path / "inbox"
    (inbox / "inner").mkdir(parents=True)
    (inbox / "a.json").write_bytes(whole)
    (inbox / "inner/photo.jpg").write_bytes(b"\xff\xd8")
    (inbox / "other.json").write_text('{"a": 1}')
    (inbox / ".hidden").write_bytes(whole)
    found = list(files_of([inbox, inbox / "a.json", inbox / "none"]))
    assert [(file.name, inside) for file, inside in found] == [
        *(("a.json", True), ("photo.jpg", True), ("other.json", True), ("none", False)),
    ]
    assert [bool(find_release(file)) for file, inside in found if inside] == [True, False, False]


HARMFUL = {
    "a deep file": (lambda it: it[:-1] + b',"x":' + b"[" * 200_000, "nested too deeply"),
    "more behind it": (lambda it: it + b"2024-01-07,31", "damaged or cut short"),
    "a long number": (
        lambda it: it.replace(b'"dpol_release": 4', b'"dpol_release": 4' + b"0" * 9999),
        "damaged or cut short",
    ),
    "a key twice": (
        lambda it: it.replace(b'"dpol_release": 4', b'"dpol_release": 1, "dpol_release": 4'),
        "a key is given twice",
    ),
    "no row": (lambda it: re.sub(rb"\[\[.*\]\]", b"[]", it), "holds no row"),
    "a raw row": (lambda it: it.replace(b'"key"', b'"raw": 7, "key"'), "writes it, at the whole"),
    "no ledger": (lambda it: it.replace(b'release": 4', b'release": 3'), "writes it, at the whole"),
    "another count": (lambda it: it.replace(b"31.5", b"32.5"), "not signed by the key"),
}


@pytest.mark.parametrize("kind", HARMFUL)
def test_harmful_files_are_refused_by_themselves(tmp_path, whole, kind):
    change, message = HARMFUL[kind]
    (tmp_path / "b.json").write_bytes(change(whole))
    with pytest.raises(DataError, match=message):
        find_release(tmp_path / "b.json")
