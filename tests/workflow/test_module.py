"""The workflow as a module of another one, with results in a storage, and without dpol."""

from __future__ import annotations

import os
import re
import shutil
import sys
import sysconfig
import venv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest
from moto.server import ThreadedMotoServer

import dpol
from dpol.show.panels import save_figure
from pipeline import MODULE, ROOT, TEST, Done, fail, import_it, run, succeed, write_config

pytestmark = pytest.mark.workflow


def start(
    folder: Path,
    *options: str,
    snakefile: Path = MODULE,
    python: str = sys.executable,
    **variables: str,
) -> Done:
    """Run snakemake in a folder, by default with the Snakefile that others import.

    The working folder is this checkout, so its default profile is found.
    """
    words = ("--snakefile", str(snakefile), "--directory", str(folder), "--cores", "2", *options)
    return run(python, "-m", "snakemake", *words, **variables)


@pytest.fixture(scope="module")
def imported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a real run by an importer."""
    folder = tmp_path_factory.mktemp("imported")
    shutil.copytree(ROOT / ".test/config", folder / "config")
    succeed(start(folder, snakefile=ROOT / ".test/Snakefile"))
    return folder


def test_jobs_order_sets_of_texts_alike(tmp_path: Path) -> None:
    """A job that Python would order by a random hash has the order of every other run."""
    rest = """
rule seed:
    output: "seed.txt"
    shell: "echo $PYTHONHASHSEED > {output}"
"""
    snakefile = import_it(tmp_path, rest, one={**TEST, "run": "one"})
    succeed(start(tmp_path, "seed", snakefile=snakefile, PYTHONHASHSEED="random"))
    assert (tmp_path / "seed.txt").read_text() == "0\n"


def test_a_rule_of_the_importer_takes_a_result(imported: Path) -> None:
    """The jobs equal the jobs of the workflow run by itself, down to the hash of their code."""
    assert "rw-meta" in (imported / "results/best.csv").read_text().splitlines()[1]
    page = (imported / "results/test/report/index.html").read_text()
    assert "Config: module dpol" in page
    assert re.search(r"Python [\d.]+, dpol ", page)  # its logs are found
    run = dpol.open_run(imported / "results/test")
    save_figure(run.plot(), [imported / "again.svg"])
    drawn = run.folder / "figures/privacy-utility.svg"
    assert (imported / "again.svg").read_bytes() == drawn.read_bytes()
    with pytest.raises(dpol.DataError, match="no figure privacy; did you mean privacy-utility"):
        run.plot("privacy")
    planned = succeed(start(imported, "--dry-run"))
    # The page names the config file, which the module did not have.
    assert set(re.findall(r"^(\w+) +\d+$", planned, re.M)) == {"render_report", "results", "total"}


SHARED = {
    "kind": "web",
    "file": "table.csv.gz",
    "endpoints": [{"kind": "file", "url": "http://x/"}],
}


def on_the_web(name: str, *groups: str) -> dict[str, Any]:
    """A config that reads a table which others read too."""
    streams = {"it": {"groups": list(groups)}}
    dataset = {**TEST["dataset"], "source": SHARED}
    return {**TEST, "run": name, "streams": streams, "dataset": dataset}


def test_two_configs_share_a_workflow_and_a_table(tmp_path: Path) -> None:
    goal = 'rule all:\n    default_target: True\n    input: "own.txt", rules.b_results.input\n'
    data = 'rule data:\n    input: rules.a_results.input\n    output: "own.txt"\n    shell: "x"\n'
    snakefile = import_it(tmp_path, goal + data, a=on_the_web("x", "A"), b=on_the_web("y", "A"))
    said = succeed(start(tmp_path, "--dry-run", snakefile=snakefile))
    both = (f"{name}_{rule} +1" for name in "ab" for rule in ("games_point", "render_report"))
    for line in (*both, "a_fetch_dataset +1", "data +1"):
        assert re.search(f"^{line}$", said, re.M), line
    assert "b_fetch_dataset" not in said


@pytest.mark.parametrize(
    ("configs", "message"),
    [
        (
            {"a": on_the_web("x", "A"), "b": on_the_web("y", "B")},
            "module a fetches other groups, columns or periods into it",
        ),
        ({"a": {**TEST, "sede": 1}}, "config of module a: "),
    ],
    ids=["table", "mistake"],
)
def test_what_two_imports_or_a_config_get_wrong_is_told(
    tmp_path: Path, configs: dict[str, Any], message: str
) -> None:
    said = fail(start(tmp_path, "--dry-run", snakefile=import_it(tmp_path, **configs)))
    assert message in said
    assert "replicats" not in said


def test_a_rule_of_the_importer_makes_the_table(tmp_path: Path) -> None:
    local = {**TEST["dataset"], "source": {"kind": "local", "file": "table.csv"}}
    make = 'rule make:\n    output: "table.csv"\n    shell: "touch {output}"\n'
    snakefile = import_it(tmp_path, make, a={**TEST, "dataset": local})
    planned = succeed(start(tmp_path, "a_data", "--dry-run", snakefile=snakefile))
    assert re.search(r"^make +1$", planned, re.M)
    assert "localrules" not in planned  # these would be rules of the importer that have the names


def rules_in(said: str) -> list[str]:
    """The rules of a plan that make files: an overridden target is a job by itself."""
    targets = "a_results", "total"
    return [it for it in re.findall(r"^(\w+) +\d+$", said, re.M) if it not in targets]


def test_an_importer_overrides_the_threads_of_each_rule(tmp_path: Path) -> None:
    """Each override includes the rules once more, and all of them together lock the run once."""
    tiny = {"lazy": {"n_rounds": [50], "n_experts": [2], "epsilons": [4], "replicates": 2}}
    configs = {"a": {**TEST, **tiny}}
    call = "a_results", "--cores", "2"
    planned = start(tmp_path, *call, "-n", snakefile=import_it(tmp_path, **configs))
    names = rules_in(succeed(planned))
    assert {"a_games_point", "a_lazy_point", "a_lazy_results", "a_render_report"} <= {*names}
    overrides = [
        f"use rule {name.removeprefix('a_')} from a as {name} with:\n    threads: 2\n"
        for name in names
    ]
    snakefile = import_it(tmp_path, "".join(overrides), **configs)
    succeed(start(tmp_path, *call, snakefile=snakefile))
    assert (tmp_path / "results/test/report/index.html").exists()
    assert "Nothing to be done" in succeed(start(tmp_path, *call, snakefile=snakefile))


def test_an_importer_overrides_logs_and_all_else_that_changes_no_number(tmp_path: Path) -> None:
    """Logs in any folder, with or without the wildcards of a rule; the notes stay with the run."""
    overrides = {
        "render_report": 'log: "mine.log"\n    benchmark: "mine.tsv"',
        "games_point": 'log: "far/{stream}-{level}-{suite}-{block}"\n    threads: 2',
        "clean_stream": 'log: "results/test/logs/own/{stream}.log"',
        "games_results": f'log: "{tmp_path}/far/results.txt"\n    resources: mem_mb=500',
        "league_point": 'benchmark: "far/{place}.tsv"\n    priority: 7',
    }
    rest = "".join(
        f"use rule {name} from a as a_{name} with:\n    {lines}\n"
        for name, lines in overrides.items()
    )
    snakefile = import_it(tmp_path, rest, a=TEST)
    succeed(start(tmp_path, "a_results", snakefile=snakefile))
    assert (tmp_path / "results/test/report/index.html").exists()
    theirs = "mine.log", "mine.tsv", "far/A-mu-1-local-0-2", "far/results.txt", "far/standings.tsv"
    assert [it for it in theirs if not (tmp_path / it).is_file()] == []
    again = start(tmp_path, "a_results", "--forcerun", "a_games_results", snakefile=snakefile)
    assert "a_games_point" not in succeed(again)
    assert "Nothing to be done" in succeed(start(tmp_path, "a_results", snakefile=snakefile))


@pytest.fixture
def stranger(tmp_path: Path) -> dict[str, str]:
    """A Python, for `start`, with the packages of this one except dpol."""
    venv.create(tmp_path / "python", symlinks=True)
    # dpol is installed by a .pth file, which is read in the folder of an environment only.
    path = os.pathsep.join([str(tmp_path), sysconfig.get_path("purelib")])
    return {"python": str(tmp_path / "python/bin/python"), "PYTHONPATH": path}


@pytest.mark.parametrize(
    ("option", "snakefile", "installed", "named"),
    [
        ("--dry-run", ROOT / "Snakefile", "0.0.9", "dpol 0.0.9"),
        ("--lint", ROOT / "Snakefile", None, "none"),
        ("--dry-run", MODULE, None, "none"),
        ("--lint", MODULE, "0.0.9", "dpol 0.0.9"),
    ],
)
def test_a_package_that_does_not_belong_to_the_workflow_is_refused(
    tmp_path: Path,
    stranger: dict[str, str],
    option: str,
    snakefile: Path,
    installed: str | None,
    named: str,
) -> None:
    if installed:
        (tmp_path / "dpol.py").write_text(f'__version__ = "{installed}"')
    said = fail(start(tmp_path, option, snakefile=snakefile, **stranger))
    assert f" has {named}. Install that release into it: " in said
    assert "condition" not in said


def test_a_release_on_a_host_names_its_image(tmp_path: Path) -> None:
    """As the catalog of workflows deploys it; the address leads to a repository here."""
    home = tmp_path / "home"
    shutil.copytree(ROOT / "workflow", home / "workflow")
    git = "git", "-C", str(home), "-c", "user.name=dpol", "-c", "user.email=dpol@example.org"
    for words in ("init", "add .", "commit --message=release", "tag v0.1.0"):
        succeed(run(*git, *words.split()))
    (tmp_path / "Snakefile").write_text(
        f"""module dpol:
    snakefile: github("Someone/dpol", path="workflow/Snakefile", tag="v0.1.0")
    config: {TEST}
use rule * from dpol
print(*{{rule.container_img for rule in workflow.rules}})
"""
    )
    here = {
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": f"url.file://{home}.insteadOf",
        "GIT_CONFIG_VALUE_0": "https://github.com/Someone/dpol",
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
    }
    said = succeed(start(tmp_path, "--lint", snakefile=tmp_path / "Snakefile", **here))
    assert "docker://ghcr.io/someone/dpol:v0.1.0\n" in said
    assert "your workflow is in a good condition" in said


@pytest.fixture
def bucket() -> Iterator[Any]:
    """A bucket of an S3 server on this machine."""
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    url = "http://{}:{}".format(*server.get_host_and_port())
    keys = {"aws_access_key_id": "key", "aws_secret_access_key": "key"}
    s3 = boto3.resource("s3", endpoint_url=url, region_name="us-east-1", **keys)
    yield s3.create_bucket(Bucket="dpol")
    s3.meta.client.close()
    server.stop()


def test_results_may_be_in_a_storage(imported: Path, bucket: Any, tmp_path: Path) -> None:
    """A simulated table that is placed by hand gives the results of its simulation."""
    plain = imported / "results/test"
    shutil.copy(plain / "data/simulated.csv.gz", tmp_path)
    source = {"kind": "local", "file": "simulated.csv.gz", "simulated": True}
    write_config(tmp_path, TEST, dataset={**TEST["dataset"], "source": source})
    flags = ["--default-storage-provider=s3", "--default-storage-prefix=s3://dpol"]
    flags += ["--storage-s3-endpoint-url", bucket.meta.client.meta.endpoint_url]
    keys = {f"SNAKEMAKE_STORAGE_S3_{kind}_KEY": "key" for kind in ("ACCESS", "SECRET")}
    given = "--configfile", str(tmp_path / "config.yaml")
    succeed(start(tmp_path, *flags, *given, **keys))
    objects = {file.key: file.get()["Body"].read() for file in bucket.objects.all()}
    # The page has what it reads in logs, which stay here.
    assert re.search(rb"Python [\d.]+, dpol ", objects["results/test/report/index.html"])
    assert objects.pop("results/test/data/rows.parquet")  # it names the path of its table
    held = [
        it for it in objects if it.endswith(".parquet") or "/figures/" in it or "/tables/" in it
    ]
    assert {"results/test/summary.parquet", "results/test/tables/league.csv"} <= {*held}
    assert {it: objects[it] for it in held} == {it: (imported / it).read_bytes() for it in held}
    assert "Nothing to be done" in succeed(start(tmp_path, *flags, *given, "--dry-run", **keys))
    # A table that a job makes stays here, too.
    shutil.copytree(ROOT / ".test/config", tmp_path / "config")
    succeed(start(tmp_path, "data", *flags, **keys))
    assert (tmp_path / "results/test/data/simulated.csv.gz").exists()
    rows = bucket.Object("results/test/data/rows.parquet").get()["Body"].read()
    assert rows == (plain / "data/rows.parquet").read_bytes()
