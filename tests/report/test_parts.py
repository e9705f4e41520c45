"""Parts of the page: images, tables, data, provenance."""

from __future__ import annotations

from pathlib import Path

import pytest

from dpol.core.files import write_json
from dpol.report.parts import data_part, source_facts
from dpol.report.provenance import commit_of, provenance_of, source_of
from dpol.reruns.notes import Note, loaded_versions
from pipeline import run as run_program
from pipeline import succeed
from report.run_by_hand import CLEANING, PROVENANCE, SVG, config, files_of

NOTE = Note(asked={}, read={}, wrote={}, began=0, ended=1)


def test_the_data_have_what_to_check_in_the_table(tmp_path: Path) -> None:
    write_json(tmp_path / "data/cleaning.json", CLEANING)
    (tmp_path / "data/understood.svg").write_text(SVG)
    files = files_of(tmp_path)
    told = {"files": files, "dataset": config().dataset}
    part = data_part(**told, provenance=CLEANING["provenance"], shown=False)
    assert part.widget == "", "a private table is only linked"
    assert part.files["heat map of what plays"] == "../data/understood.svg"
    part = data_part(**told, provenance=CLEANING["provenance"], shown=True)
    assert 'alt="12 of 34 &lt;b&gt; hold."' in part.widget
    assert part.intro.startswith("4,000 rows read, 12 of them outside the chosen groups")
    best = "weeks in which nobody measured the best number"
    assert (best, "nm: 13 of 148 (9% of the possible gain)") in part.facts
    idle = "Bedless (H8): a count above 0 beside a capacity of 0 or less in 2 periods"
    assert [text for term, text in part.facts if term == "left out"] == [idle], "and no other"
    text = "stream nm: periods missing: 1 between 2021-01-15 and 2021-01-29"
    assert part.facts[-1] == ("check in the table", text)


def test_the_data_say_what_zeros_may_hide(tmp_path: Path) -> None:
    (stream,) = CLEANING["streams"]
    found = stream["unmeasured"] | {"zero_share": 0.19}
    hides = CLEANING | {"streams": [stream | {"unmeasured": found}]}
    write_json(tmp_path / "data/cleaning.json", hides)
    dataset = config().dataset.model_copy(update={"caveat": "Zeros may hide counts."})
    part = data_part(files_of(tmp_path), dataset, hides["provenance"], shown=False)
    said = "9% of the possible gain; with 19%, a zero would be the best if it hid a count"
    assert f"nm: 13 of 148 ({said})" in dict(part.facts).values()
    assert ("what to know", "Zeros may hide counts.") in part.facts


def test_the_source_has_only_recorded_facts() -> None:
    dataset = config().dataset
    assert [term for term, _ in source_facts(CLEANING["provenance"], dataset)] == [
        *("table", "data", "SHA-256", "retrieved", "address"),
    ]
    local = {"file": "t.csv", "sha256": "00", "simulated": True}
    assert source_facts(local, dataset) == (
        ("table", "t.csv"),
        ("data", "simulated, not measured"),
        ("SHA-256", "00"),
    )
    stated = {**local, "fetched": {"licence": "of the endpoint"}}
    assert dict(source_facts(stated, dataset)).items() >= {("licence", "of the endpoint")}
    own = dataset.model_copy(update={"licence": "CC0", "citation": "By us"})
    assert dict(source_facts(stated, own)).items() >= {
        *(("licence", "CC0"), ("citation", "By us")),
    }


def test_the_commit_belongs_to_the_folder_itself(tmp_path: Path) -> None:
    def git(*words: str) -> str:
        identity = ("-c", "user.name=n", "-c", "user.email=e@example.org")
        return succeed(run_program("git", *identity, *words, folder=tmp_path)).strip()

    assert commit_of(tmp_path) is None
    git("init", "--quiet")
    assert commit_of(tmp_path) is None  # nothing committed yet
    (tmp_path / "file").write_text("1")
    git("add", "file")
    git("commit", "--quiet", "--message", "First")
    head = git("rev-parse", "HEAD")
    assert commit_of(tmp_path) == head
    (tmp_path / "other").write_text("not under version control")
    assert commit_of(tmp_path) == head
    (tmp_path / "file").write_text("2")
    assert commit_of(tmp_path) == f"{head}, with changes that are not committed"
    (tmp_path / "below").mkdir()
    assert commit_of(tmp_path / "below") is None


REMOTES = {
    "https://github.com/a/b.git": "https://github.com/a/b/blob/1f",
    "https://user:to%40ken@github.com/a/b": "https://github.com/a/b/blob/1f",
    "http://token@gitlab.com/a/b/c/": "https://gitlab.com/a/b/c/-/blob/1f",
    "git@codeberg.org:a/b.git": "https://codeberg.org/a/b/src/commit/1f",
    "https://github.com@example.org/a/b": "",
    "https://git.example.org/a/b": "",
    "ssh://git@github.com:22/a/b": "",
    "../clone": "",
}


@pytest.mark.parametrize("remote", REMOTES)
def test_code_is_linked_at_a_known_forge_without_credentials(tmp_path: Path, remote: str) -> None:
    succeed(run_program("git", "init", "--quiet", folder=tmp_path))
    assert source_of(tmp_path, "1f") == ""
    succeed(run_program("git", "remote", "add", "origin", remote, folder=tmp_path))
    assert source_of(tmp_path, "1f") == REMOTES[remote]
    assert source_of(tmp_path, "1f, with changes that are not committed") == ""
    assert provenance_of(PROVENANCE.params, [NOTE], tmp_path).source == "", "not this code"


def test_all_versions_of_the_jobs_are_listed(tmp_path: Path) -> None:
    """Two jobs before an upgrade, and one after it."""
    before = {"Python": "3.11.2", "dpol": "0.1.0", "numpy": "2.1.0"}
    jobs = [
        Note(asked={}, read={}, wrote={}, began=began, ended=began + 1, versions=versions)
        for began, versions in enumerate((before | {"numpy": "2.2.0"}, before, before))
    ]
    provenance = provenance_of(PROVENANCE.params, jobs, tmp_path)
    versions = {"Python": "3.11.2", "dpol": "0.1.0", "numpy": "2.1.0 and 2.2.0"}
    assert provenance.by_package == versions
    assert (provenance.began, provenance.ended) == (0, 3)


def test_a_job_records_the_versions_of_the_packages_it_loaded() -> None:
    versions = loaded_versions()
    assert list(versions)[:2] == ["Python", "dpol"]
    assert versions["numpy"] == __import__("numpy").__version__
