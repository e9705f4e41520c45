"""Releases among files that anyone may have sent: what is found, and what is refused unread."""

from __future__ import annotations

import io
import json
import os
import struct
import zipfile

import pytest

from dpol.core.errors import DataError
from dpol_weekly.released.find import Parts, find_releases, read_parts
from dpol_weekly.released.format import HEADER, RECORD, TABLE, checksum, pack

TEXT = f"{HEADER}\nn,2024-01-07,31.5,120,0.2625,0.5,1,0.02357,0.2163,0.3087\n".encode()


def record(table=TEXT, **facts):
    facts = {"deployment": {"name": "v"}, **facts}
    return json.dumps(facts | {"sha256": checksum(table, facts)}).encode()


def released(path, **members):
    path.write_bytes(pack({TABLE: TEXT, RECORD: record(), **members}))
    return path


def test_a_release_is_found_whatever_its_file_is_called(tmp_path):
    for name in ("a.zip", "download (1).zip", "x.dat"):
        ((_, found),) = find_releases([released(tmp_path / name)])
        assert isinstance(found, Parts)
        assert found.table == TEXT


def test_line_ends_that_mail_changed_do_no_harm(tmp_path):
    path = released(tmp_path / "a.zip", **{TABLE: TEXT.replace(b"\n", b"\r\n")})
    assert read_parts(path).table == TEXT


def test_each_other_file_in_a_folder_is_named(tmp_path):
    released(tmp_path / "a.zip")
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner/photo.jpg").write_bytes(b"\xff\xd8")
    (tmp_path / "more.zip").write_bytes(pack({"a.zip": (tmp_path / "a.zip").read_bytes()}))
    found = list(find_releases([tmp_path]))
    assert isinstance(found[0][1], Parts)
    assert [(file.name, it) for file, it in found[1:]] == [("photo.jpg", None), ("more.zip", None)]


def test_a_file_that_is_named_and_no_release_is_refused(tmp_path):
    (tmp_path / "counts.csv").write_text("period,count\n2024-01-07,31\n")
    ((_, why),) = find_releases([tmp_path / "counts.csv"])
    assert "may hold raw counts" in why


@pytest.mark.parametrize("content", [TEXT, b"\xef\xbb\xbf" + TEXT, record()])
def test_a_part_that_was_unpacked_is_refused(tmp_path, content):
    (tmp_path / "part").write_bytes(content)
    with pytest.raises(DataError, match="was unpacked; ask for the .zip"):
        read_parts(tmp_path / "part")


def bomb(path, name, size, packed=zipfile.ZIP_DEFLATED):
    with zipfile.ZipFile(path, "w", packed) as archive:
        for member, content in ((TABLE, TEXT), (RECORD, record())):
            archive.writestr(member, b" " * size if member == name else content)


HARMFUL = {
    "a large file": (
        lambda it: it.write_bytes(released(it).read_bytes() + bytes(65 << 20)),
        "64|cut",
    ),
    "a table of 17 MiB": (lambda it: bomb(it, TABLE, 17 << 20, zipfile.ZIP_STORED), "16 MiB"),
    "a record of 2 MiB": (lambda it: bomb(it, RECORD, 2 << 20, zipfile.ZIP_STORED), "1 MiB"),
    "a table of blanks": (lambda it: bomb(it, TABLE, 4 << 20), "200 times"),
    "a record of blanks": (lambda it: bomb(it, RECORD, 900_000), "200 times"),
    "a record that is no object": (lambda it: released(it, **{RECORD: b"[1]"}), "damaged"),
    "a record that is deep": (lambda it: released(it, **{RECORD: b"[" * 200_000}), "damaged"),
    "a long number": (
        lambda it: released(it, **{RECORD: b'{"sha256": 1' + b"0" * 9999}),
        "damaged",
    ),
    "another table": (
        lambda it: released(it, **{TABLE: TEXT.replace(b"31", b"32")}),
        "was changed",
    ),
    "half a zip": (lambda it: it.write_bytes(released(it).read_bytes()[:200]), "cut short"),
}


@pytest.mark.parametrize("kind", HARMFUL)
def test_harmful_files_are_refused_by_themselves(tmp_path, kind):
    make, message = HARMFUL[kind]
    make(tmp_path / "b.zip")
    released(tmp_path / "a.zip")
    released(tmp_path / "c.zip")
    (_, first), (_, second), (_, third) = find_releases([tmp_path])
    assert isinstance(first, Parts)
    assert isinstance(third, Parts)
    assert isinstance(second, str)
    with pytest.raises(DataError, match=message):
        read_parts(tmp_path / "b.zip")


@pytest.mark.parametrize("count", [9, 70_000])
def test_a_zip_of_many_files_is_no_release_and_its_directory_is_not_read(tmp_path, count):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        for name in (TABLE, RECORD, *map(str, range(count - 2))):
            archive.writestr(zipfile.ZipInfo(name), b"")
    assert read_parts(tmp_path / "a.zip") is None


def test_a_size_that_lies_is_a_damaged_file(tmp_path):
    """The directory says 100 bytes, and more come out."""
    bomb(tmp_path / "a.zip", TABLE, 4 << 20)
    whole = bytearray((tmp_path / "a.zip").read_bytes())
    for mark, offset in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        place = whole.find(mark)
        whole[place + offset : place + offset + 4] = struct.pack("<L", 100)
    (tmp_path / "a.zip").write_bytes(whole)
    with pytest.raises(DataError, match="damaged"):
        read_parts(tmp_path / "a.zip")


def test_what_is_no_file_is_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "gone.zip").symlink_to(tmp_path / "nowhere")
    (tmp_path / "folder.zip").mkdir()
    found = list(find_releases([tmp_path]))
    assert [file.name for file, _ in found] == ["gone.zip", "pipe"]
    assert all("is not a file" in why for _, why in found)


def test_equal_contents_are_packed_into_equal_bytes():
    assert pack({TABLE: TEXT}) == pack({TABLE: TEXT})
    with zipfile.ZipFile(io.BytesIO(pack({TABLE: TEXT}))) as archive:
        assert archive.read(TABLE) == TEXT
