"""The code blocks of the documentation, run as a reader would run them."""

from __future__ import annotations

from pathlib import Path

import pytest

from code_blocks import ROOT, Reader, blocks, copy_project, matches, pages, run_page


@pytest.mark.workflow
@pytest.mark.parametrize(
    "page",
    [page for page in pages() if blocks(page)],
    ids=lambda page: str(page.relative_to(ROOT)),
)
def test_code_blocks_run(page: Path, tmp_path: Path) -> None:
    run_page(page, Reader(copy_project(tmp_path)))


def write(folder: Path, text: str) -> Path:
    page = folder / "page.md"
    page.write_text(text)
    return page


@pytest.mark.parametrize(
    "text",
    [
        "```sh\nfalse\n```",
        "```sh\nfalse | true\n```",
        "<!-- code: not run: a reason for it -->\n```sh\nif\n```",
        "```python\nraise SystemExit(1)\n```",
        "```python\nimport warnings\nwarnings.warn('old')\n```",
        "```sh\necho one two\n```\n```text\none three\n```",
        "```yaml\nreplicates: none\n```",
        "```yaml\nreplicate: 3\n```",
        "```diff\n--- a/README.md\n+++ b/README.md\n@@ -1 +1 @@\n-no such line\n+another\n```",
        "```yaml\n# mine.yaml\nrun: mine\n```\n```sh\ndpol config check mine.yaml\n```",
        "```sh\nmkdir weekly && cd weekly\n```\n```sh\ncd weekly\n```",
        "```sh\ncat\n```\n```text\ntyped later\n```",
        "```sh\necho $NO_SUCH_NAME\n```",
        "```sh\nexit 0\n```\n```sh\ntrue\n```",
    ],
)
def test_what_does_not_work_fails(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = copy_project(tmp_path / "project")
    monkeypatch.setattr("code_blocks.ROOT", tmp_path)
    page = write(tmp_path, text)
    with pytest.raises(Exception, match=r"page\.md|replicate"):
        run_page(page, Reader(project))


def test_blocks_that_are_left_out_for_a_reason_are_run_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = copy_project(tmp_path / "project")
    monkeypatch.setattr("code_blocks.ROOT", tmp_path)
    text = "<!-- code: not run: needs a cluster -->\n```sh\ntouch one\n```\n```sh\ntouch two\n```"
    run_page(write(tmp_path, text), Reader(project), left_out="needs a cluster")
    assert (project / "one").exists()
    assert not (project / "two").exists()


def test_directives_hold_for_the_next_block_only(tmp_path: Path) -> None:
    run, plan, left = (
        "```sh\n{}\n```",
        "<!-- code: plan -->",
        "<!-- code: not run: it takes weeks -->",
    )
    parts = plan, run.format(1), left, run.format(2), plan, "Words.", run.format(3)
    found = [(it.code, it.plan, it.reason) for it in blocks(write(tmp_path, "\n\n".join(parts)))]
    assert found == [("1\n", True, ""), ("2\n", False, "it takes weeks"), ("3\n", False, "")]


def test_dots_stand_for_anything() -> None:
    assert matches("one ... four\n", "one two\nthree four\n")
    assert not matches("one ... five\n", "one two three four\n")
