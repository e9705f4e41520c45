"""A table comes out of an archive whole, or there is an error that says what to do."""

from __future__ import annotations

import io
import json
import tarfile
import zipfile
from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpol.core.errors import DataError
from dpol.data import archives
from dpol.data.archives import extract_table
from dpol.data.panel import provenance_of
from grids import each_and_corners

TEXT = b"week,cases\n" + b"".join(b"2021-%02d-01,%d\n" % (month, month) for month in range(1, 13))
MEMBER = "data/cases.csv"
FILES = {"data/README": b"about", MEMBER: TEXT, "data/case-numbers.csv": b"other"}


def zipped() -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.mkdir("folder.csv")
        link = zipfile.ZipInfo("link.csv")
        link.create_system, link.external_attr = 3, 0o120777 << 16
        archive.writestr(link, MEMBER)
        for name, text in FILES.items():
            archive.writestr(name, text)
    return packed.getvalue()


def tarred(packing: str = "", root: str = "") -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode=f"w:{packing}") as archive:
        for name, kind in (("folder.csv", tarfile.DIRTYPE), ("link.csv", tarfile.SYMTYPE)):
            member = tarfile.TarInfo(root + name)
            member.type, member.linkname = kind, MEMBER
            archive.addfile(member)
        for name, text in FILES.items():
            member = tarfile.TarInfo(root + name)
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text))
    return packed.getvalue()


def debian(packing: str) -> bytes:
    """Return a Debian package; its first part has an odd length, so a byte of padding follows."""
    parts = {"debian-binary": b"2.0", f"data.tar.{packing}": tarred(packing, "./")}
    return b"!<arch>\n" + b"".join(
        b"%-16s%-12d%-6d%-6d%-8s%-10d`\n%s%s"
        % (name.encode(), 0, 0, 0, b"100644", len(data), data, b"\n" * (len(data) % 2))
        for name, data in parts.items()
    )


MADE: dict[str, Callable[[], bytes]] = {
    "t.zip": zipped,
    "t-1.0-py3-none-any.whl": zipped,
    "t.tar": tarred,
    "t.tar.gz": lambda: tarred("gz"),
    "t.tgz": lambda: tarred("gz"),
    "t.tar.bz2": lambda: tarred("bz2"),
    "t.tar.xz": lambda: tarred("xz"),
    "xz.deb": lambda: debian("xz"),
    "gz.deb": lambda: debian("gz"),
}
every_kind = pytest.mark.parametrize("name", MADE)


def made(folder: Path, name: str) -> Path:
    archive = folder / name
    archive.write_bytes(MADE[name]())
    return archive


@every_kind
def test_a_table_comes_out_as_it_was_put_in_and_its_origin_is_kept(
    tmp_path: Path, name: str
) -> None:
    archive, table = made(tmp_path, name), tmp_path / "out/cases.csv"
    digest = sha256(archive.read_bytes()).hexdigest()
    fetched = {"url": "https://data.example/t", "sha256": digest}
    Path(f"{archive}.provenance.json").write_text(json.dumps(fetched))
    extract_table(archive, MEMBER, table, pinned=digest)
    assert table.read_bytes() == TEXT
    assert sorted(path.name for path in table.parent.iterdir()) == [
        *("cases.csv", "cases.csv.member.json")
    ]
    assert provenance_of(table, simulated=False)["fetched"] == {
        "url": "https://data.example/t",
        "archive": name,
        "archive_sha256": digest,
        "member": MEMBER,
        "sha256": sha256(TEXT).hexdigest(),
    }


@pytest.mark.parametrize(
    ("name", "member"),
    each_and_corners([*MADE], ["data/case.csv", "cases.csv", "folder.csv", "link.csv"]),
)
def test_what_is_no_file_of_the_archive_is_refused_with_those_that_are(
    tmp_path: Path, name: str, member: str
) -> None:
    with pytest.raises(DataError) as error:
        extract_table(made(tmp_path, name), member, tmp_path / "out.csv")
    start, _, names = str(error.value).partition("; it has ")
    assert start.endswith(f"{name}: has no file {member}")
    names = names.removesuffix(". Name one of them in dataset.source.member")
    assert sorted(names.split(", ")) == sorted(FILES)
    if member.startswith("data") or member == "cases.csv":
        assert names.startswith(MEMBER), "the nearest first"
    assert not (tmp_path / "out.csv").exists()


@every_kind
def test_an_archive_cut_anywhere_gives_the_whole_table_or_none(tmp_path: Path, name: str) -> None:
    whole = MADE[name]()
    archive, table = tmp_path / name, tmp_path / "out.csv"
    outcomes = set()
    for length in range(0, len(whole), max(1, len(whole) // 97)):
        archive.write_bytes(whole[:length])
        table.unlink(missing_ok=True)
        with suppress(DataError):
            extract_table(archive, MEMBER, table)
        outcomes.add(table.read_bytes() if table.exists() else None)
    assert None in outcomes
    assert outcomes <= {None, TEXT}


@given(junk=st.binary(max_size=300), name=st.sampled_from([*MADE]))
def test_junk_is_refused(tmp_path_factory: pytest.TempPathFactory, junk: bytes, name: str) -> None:
    archive = tmp_path_factory.mktemp("junk") / name
    archive.write_bytes(junk)
    with pytest.raises(DataError):
        extract_table(archive, MEMBER, archive.with_suffix(".csv"))


def test_another_archive_and_a_huge_table_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive, table = made(tmp_path, "t.zip"), tmp_path / "out.csv"
    with pytest.raises(DataError, match=r"has SHA-256 .* instead of 00; correct dataset\.source"):
        extract_table(archive, MEMBER, table, pinned="00")
    monkeypatch.setattr(archives, "LARGEST", len(TEXT) - 1)
    with pytest.raises(
        DataError, match=rf"has {len(TEXT)} bytes, more than {len(TEXT) - 1}; unpack"
    ):
        extract_table(archive, MEMBER, table)
    assert not table.exists()


def test_a_way_of_packing_that_python_lacks_is_named(tmp_path: Path) -> None:
    archive = made(tmp_path, "t.zip")
    # Each entry of the list at the end of a zip file names its method in byte 10.
    packed = archive.read_bytes().split(b"PK\x01\x02")
    changed = b"PK\x01\x02".join(
        [packed[0], *(entry[:6] + b"\x63" + entry[7:] for entry in packed[1:])]
    )
    archive.write_bytes(changed)
    with pytest.raises(DataError, match="compression method is not supported; unpack it by hand"):
        extract_table(archive, MEMBER, tmp_path / "out.csv")
