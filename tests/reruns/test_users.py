"""Results of another user: their files may be written, but their times may not be set."""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from dpol.core.errors import OutputError
from dpol.core.files import write_text
from dpol.reruns.job import job_log
from dpol.reruns.lock import hold

RUN = Path("results/r")
FIRST, SECOND = 65533, 65534

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become two users")


@pytest.fixture(autouse=True)
def folder(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A working folder where the second user may write the files of the first."""
    folder = Path(tempfile.mkdtemp())  # pytest's own are of one user only
    monkeypatch.chdir(folder)
    with job_log(RUN / "logs/a.log", outputs=[str(RUN / "a")]):
        write_text(RUN / "a", "1")
    hand_over()
    yield
    os.seteuid(0)
    shutil.rmtree(folder)


def hand_over() -> None:
    """Give every file to the first user, and become the second one."""
    try:
        for path in (Path(), *Path().rglob("*")):
            os.chown(path, FIRST, FIRST)
            path.chmod(0o777 if path.is_dir() else 0o666)
        os.seteuid(SECOND)
    except PermissionError:
        pytest.skip("this root has not its rights")


def test_who_may_write_into_a_folder_may_lock_it_whoever_locked_it_before() -> None:
    hold(RUN, "a.yaml")()
    lock = RUN / "logs/lock"
    lock.touch(0o600)
    os.seteuid(0)
    os.chown(lock, FIRST, FIRST)
    os.seteuid(SECOND)
    with pytest.raises(
        OutputError, match=f"^cannot lock {lock}: permission denied; make its folder"
    ):
        hold(RUN, "b.yaml")
    lock.unlink()
    release = hold(RUN, "b.yaml")
    assert stat.S_IMODE(lock.stat().st_mode) == 0o666
    with pytest.raises(OutputError, match="another run is at work there"):
        hold(RUN, "c.yaml")
    release()
