"""A reader sees the old file or the whole new one, and a failed write says what to do."""

import errno
import os
import stat
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from dpol.core.errors import OutputError
from dpol.core.files import atomic_path, check_writable, locked, write_json, write_text

REMEDIES = {
    errno.ENOSPC: "the disk is full; free some space and run again",
    errno.EROFS: "the file system is read-only; choose another folder",
    errno.EFBIG: "the file exceeds the limit on file size; raise it (ulimit -f) and run again",
    errno.ENXIO: "No such device or address; choose another folder",  # as any other
}


@pytest.fixture
def target(tmp_path):
    """Write a file that is there already."""
    path = tmp_path / "table.csv.gz"
    path.write_text("old")
    return path


def failing(error):
    def fail(*_, **__):
        raise error

    return fail


def write_half(path, then):
    with atomic_path(path) as temporary:
        temporary.write_text("half")
        then()


def only(folder, *names):
    return sorted(path.name for path in folder.iterdir()) == sorted(names)


def test_the_old_file_stays_until_the_new_one_is_whole_and_on_the_disk(target, monkeypatch):
    seen = []
    monkeypatch.setattr(os, "fsync", lambda _: seen.append(target.read_text()))
    with atomic_path(target) as temporary:
        assert temporary.parent == target.parent
        assert temporary.name.startswith(".")
        assert temporary.name.endswith(".csv.gz"), "writers look at the suffixes"
        temporary.write_text("new")
        assert target.read_text() == "old"
    assert seen == ["old"]
    assert target.read_text() == "new"
    assert only(target.parent, target.name)


@pytest.mark.parametrize(
    "error",
    [ValueError(), KeyboardInterrupt(), FileNotFoundError(errno.ENOENT, "gone", "elsewhere")],
    ids=repr,
)
def test_another_error_in_the_block_passes_unchanged_and_leaves_the_old_file(target, error):
    with pytest.raises(type(error)) as caught:
        write_half(target, failing(error))
    assert caught.value is error
    assert target.read_text() == "old"
    assert only(target.parent, target.name)


@pytest.mark.parametrize("umask", [0o022, 0o077, 0o002], ids=oct)
def test_permissions_honour_the_umask(tmp_path, umask):
    before = os.umask(umask)
    try:
        write_text(tmp_path / "x.txt", "text")
    finally:
        assert os.umask(before) == umask, "writing must not change the umask"
    assert stat.S_IMODE((tmp_path / "x.txt").stat().st_mode) == 0o666 & ~umask


@pytest.mark.parametrize("number", REMEDIES, ids=errno.errorcode.get)
@pytest.mark.parametrize("place", ["mkdir", "mkstemp", "block", "fsync", "replace"])
def test_a_write_that_the_system_refuses_names_the_path_and_the_remedy(
    target, monkeypatch, number, place
):
    owner = {"mkdir": Path, "mkstemp": tempfile, "fsync": os, "replace": Path}
    refuse = failing(OSError(number, os.strerror(number)))
    if place in owner:
        monkeypatch.setattr(owner[place], place, refuse)
    with pytest.raises(OutputError) as caught:
        write_half(target, refuse if place == "block" else str)
    assert str(caught.value) == f"cannot write {target}: {REMEDIES[number]}"
    assert isinstance(caught.value.__cause__, OSError)
    assert target.read_text() == "old"
    assert only(target.parent, target.name)


IN_THE_WAY = "a part of the path is a file, or a link to nothing, and no folder; rename it or"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("file/y.txt", IN_THE_WAY),
        ("file/a/y.txt", IN_THE_WAY),
        ("link/y.txt", IN_THE_WAY),
        ("folder", "a folder has that name; rename it or choose another name"),
    ],
)
def test_what_stands_in_the_way_is_told_with_the_remedy_and_stays(tmp_path, name, message):
    (tmp_path / "file").write_text("here")
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    with pytest.raises(OutputError) as caught:
        write_text(tmp_path / name, "text")
    assert str(caught.value).startswith(f"cannot write {tmp_path / name}: {message}")
    assert (tmp_path / "file").read_text() == "here"
    assert only(tmp_path, "file", "folder", "link")


def test_whether_a_folder_can_be_written_is_found_without_making_it(tmp_path, monkeypatch):
    check_writable(tmp_path)
    check_writable(tmp_path / "a" / "b")
    assert only(tmp_path)
    (tmp_path / "file").write_text("here")
    with pytest.raises(OutputError, match=r"file/run: .*/file is a file, not a folder; rename it"):
        check_writable(tmp_path / "file" / "run")
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path) != tmp_path)
    with pytest.raises(OutputError, match=f"^cannot write .*/run: no permission .* in {tmp_path};"):
        check_writable(tmp_path / "run")


def test_one_block_at_a_time_holds_the_lock(tmp_path):
    inside = threading.Lock()

    def enter_often(_):
        for _ in range(20):
            with locked(tmp_path / "new" / "count.txt"):
                assert inside.acquire(blocking=False), "two blocks at a time"
                time.sleep(1e-4)
                inside.release()

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(enter_often, range(6)))


def test_json_is_utf8_sorted_indented_and_ends_with_a_newline(tmp_path):
    path = tmp_path / "x.json"
    write_json(path, {"b": [1, 0.1], "a": "Peña"})
    assert path.read_bytes() == '{\n  "a": "Peña",\n  "b": [\n    1,\n    0.1\n  ]\n}\n'.encode()
