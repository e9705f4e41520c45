"""The code blocks of the documentation, run as a reader would run them."""

from __future__ import annotations

from pathlib import Path

import pytest

from code_blocks import ROOT, Reader, blocks, copy_project, pages, run_page
from pipeline import run, succeed


def readers() -> dict[str, list[Path]]:
    """Return what each reader reads: one all pages that play the shelters, others a page each."""
    several = {"shelters": [page for page in pages() if plays_shelters(page)]}
    others = {*several["shelters"], ROOT / "README.md"}  # tests/wheel types the README's commands
    alone = [page for page in pages() if blocks(page) and page not in others]
    return several | {str(page.relative_to(ROOT)): [page] for page in alone}


def plays_shelters(page: Path) -> bool:
    """Return whether a reader of a page runs config/shelters.yaml."""
    typed = (block.code for block in blocks(page) if not block.reason)
    return any("run shelters" in code or "config/shelters.yaml" in code for code in typed)


@pytest.mark.workflow
@pytest.mark.parametrize("reader", READERS := readers())
def test_code_blocks_run(reader: str, tmp_path: Path) -> None:
    """What the commands of a page write, git does not show; what a reader pastes, it may show."""
    project = copy_project(tmp_path)
    for words in ("init --quiet", "add --all"):
        succeed(run("git", *words.split(), folder=project))
    for page in READERS[reader]:
        run_page(page, Reader(project))
    pasted = {block.file for page in READERS[reader] for block in blocks(page)}
    shown = succeed(run("git", "ls-files", "--others", "--exclude-standard", folder=project))
    assert {*shown.splitlines()} <= pasted


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of this checkout for short blocks."""
    return copy_project(tmp_path_factory.mktemp("project"))


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
        "```sh\nmkdir new && cd new\n```\n```sh\ncd new\n```",
        "```sh\ncat\n```\n```text\ntyped later\n```",
        "```sh\necho $NO_SUCH_NAME\n```",
        "```sh\nexit 0\n```\n```sh\ntrue\n```",
    ],
)
def test_what_does_not_work_fails(
    text: str, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("code_blocks.ROOT", tmp_path)
    page = tmp_path / "page.md"
    page.write_text(text)
    with pytest.raises(Exception, match=r"page\.md|replicate"):
        run_page(page, Reader(project))
