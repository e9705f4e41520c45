"""What leaves `results/` knows whether a table is private: every door is listed, and asks."""

from __future__ import annotations

import ast
import base64
import io
import json
import re
import secrets
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from matplotlib import colormaps
from matplotlib.image import imread

import dpol
from dpol.core.errors import DataError
from dpol.data.leaving import COMPUTED, HOLDS, warning_of
from dpol.data.stream import PUBLIC
from in_process import command
from pipeline import ROOT, run, succeed
from report.test_compare import write
from streams_by_hand import stream

WRITERS = {
    *("write_text", "write_bytes", "write_json", "write_frame", "write_table", "write_stream"),
    *("atomic_path", "save_figure", "savefig", "to_csv", "to_parquet", "to_json", "write_rows"),
    "answer",
}
"""Calls that write a file, or print what may be sent (`answer`: --json)."""
ASKS = {
    "dpol.report.rows.write_rows": "refuses",
    "dpol.cli.league._league": "refuses to record before it plays; prints the league's warning",
    "dpol.cli.dataset.new_dataset": "prints the warning; the picture goes below results/",
    "dpol.cli.compare._compare": "lines and JSON",
    "dpol.report.page.write_report": "page and crate",
    "dpol.report.run.Run.plot": "below the figure",
    "dpol.report.league.League.plot": "below the figure",
}
"""Doors that ask `warning_of`, and what comes of it."""
NO_COUNTS = {
    "dpol.cli.account": "promises",
    "dpol.cli.choose": "names of periods and places; the answer from released numbers",
    "dpol.core": "writes what its caller gives",
    "dpol.report.decision.release_ended": "noisy counts, which are made to be shown",
    "dpol.cli.compare._plain": "for its only caller, _compare",
    "dpol.cli.config": "a config that comes with dpol",
    "dpol.cli.extensions": "a template of a package; verdicts on simulated games",
    "dpol.config.league": "a config",
    "dpol.show": "draws and writes what its caller gives",
    "dpol.data.stream.write_stream": "writes what its caller gives, as a user's own call does",
    "dpol.data.fetch": "a public table that it fetched",
    "dpol.data.tables.raw_table": "the table itself, simulated or fetched",
    "dpol.plan": "a time",
    "dpol.reruns.lock": "who is at work",
    "dpol.reruns.code_hashes": "hashes of code",
}
BELOW_RESULTS = {
    "dpol.data.panel.write_panel",
    "dpol.reruns.notes.write_note",
    "dpol.studies.jobs",
    "dpol.studies.showing",
}
"""What jobs write into the folder of their run, which has the warning."""


def doors(source: str, module: str) -> set[str]:
    """Return the functions of a module that write, or return a figure of a run or a league."""
    found = set[str]()

    def look(node: ast.AST, name: str) -> None:
        for child in ast.iter_child_nodes(node):
            inner = name
            if isinstance(child, ast.ClassDef | ast.FunctionDef) and name.count(".") < 4:
                inner = f"{name}.{child.name}"
            if isinstance(child, ast.Call):
                called = child.func
                called = getattr(called, "attr", getattr(called, "id", ""))
                if called in WRITERS:
                    found.add(name)
            returned = ast.unparse(getattr(child, "returns", None) or ast.Constant(None))
            if returned == "Figure" and module.startswith("dpol.report."):
                found.add(inner)
            look(child, inner)

    look(ast.parse(source), module)
    return found


def all_doors() -> set[str]:
    folder = ROOT / "src"
    files = sorted((folder / "dpol").rglob("*.py"))
    named = {it: ".".join(it.relative_to(folder).with_suffix("").parts) for it in files}
    return {door for file, name in named.items() for door in doors(file.read_text(), name)}


def unlisted(found: set[str]) -> set[str]:
    listed = (*ASKS, *NO_COUNTS, *BELOW_RESULTS)
    return {it for it in found if not any(f"{it}.".startswith(f"{one}.") for one in listed)}


def test_every_door_is_listed_and_a_new_one_is_found() -> None:
    found = all_doors()
    assert not unlisted(found)
    assert {*ASKS} <= found
    for planted, name in (
        ("def out(run, path):\n    run.table('totals').to_csv(path)", "dpol.report.new.out"),
        ("class It:\n    def draw(self) -> Figure: ...", "dpol.report.new.It.draw"),
        ("def said(options):\n    answer(options, [], {})", "dpol.report.new.said"),
    ):
        assert unlisted(doors(planted, "dpol.report.new")) == {name}


def test_the_one_function_warns_or_refuses() -> None:
    assert warning_of(False, HOLDS, never="never") == ""
    assert warning_of(True, HOLDS) == "This folder holds your raw counts. Share nothing of it."
    with pytest.raises(DataError, match=r"A row, which gives it away\. .* write public: true"):
        warning_of(True, "A row", never="which gives it away")


def test_lines_json_and_figures_of_a_private_run_carry_the_warning(tmp_path: Path) -> None:
    """Page and crate: tests/workflow/test_own_table.py."""
    said = f"{COMPUTED}. Share nothing of it."
    open_table, own = (stream(label="nm", provenance={PUBLIC: it}) for it in (True, False))
    local = {"source": {"kind": "local"}}
    first = write(tmp_path / "first", dataset={**local, "public": True})
    for name, warning in (("public", ""), ("private", said)):
        second = write(tmp_path / name, dataset={**local, "public": name == "public"})
        assert (said in command("compare", first, second)[1]) is bool(warning)
        told = json.loads(command("compare", first, second, "--json")[1])
        assert told["warning"] == warning
    for data in (open_table, own):
        league = dpol.league(["persistence"], data, replicates=2, levels=[1.0])
        texts = [it.get_text() for it in league.plot().texts]
        assert (said in texts, said in league._repr_html_()) == (data.private, data.private)


# ---- a whole run ---------------------------------------------------------------------------------

_WEEKS = 24
_COLOURS = colormaps["viridis"](np.arange(256))[:, :3]


def tokens(rng: np.random.Generator) -> pd.DataFrame:
    """Make a table whose names and counts occur nowhere else, with one count above its bound."""
    names = [secrets.token_hex(6) for _ in range(6)]
    days = pd.date_range("2022-01-03", periods=_WEEKS, freq="7D").strftime("%Y-%m-%d")
    rows = [(name, day) for day in days for name in names]
    table = pd.DataFrame(rows, columns=["ward", "week"])
    table["patients"] = rng.choice(np.arange(100_003, 899_999), len(table), replace=False)
    table.loc[7, "patients"] = 987_123
    return table.assign(beds=900_000)


def held(file: Path, table: pd.DataFrame) -> list[str]:
    """Return the names that a file holds as text, and the counts that stand there by themselves.

    A time or a hash, of which Snakemake notes many, may have the digits of a count in it.
    """
    text = file.read_bytes().decode("latin-1")
    numbers = {*re.findall(r"(?<![\w.])\d+(?!\w)", text)}
    return [
        *(it for it in table["ward"].unique() if it in text),
        *{*map(str, table["patients"])} & numbers,
    ]


def inverted(picture: Path) -> list[np.ndarray]:
    """Return the numbers from 0 to 1 behind the colours of the images of a picture."""
    if picture.suffix == ".svg":
        coded = re.findall(r"data:image/png;base64,\s*([A-Za-z0-9+/=\s]+)", picture.read_text())
        images = [imread(io.BytesIO(base64.b64decode(it))) for it in coded]
    else:
        images = [imread(picture)]
    found = []
    for image in images:
        apart = np.abs(image[..., None, :3] - _COLOURS).sum(axis=-1)
        found.append(
            np.where(apart.min(axis=-1) < 0.02, (apart.argmin(axis=-1) / 255) ** 2, np.nan)
        )
    return found


def shown_in(picture: Path, table: pd.DataFrame) -> float:
    """Return which share of the counts of a table a picture shows, a row for each place."""
    wide = table.pivot(index="ward", columns="week", values="patients").to_numpy() / 900_000
    wide = np.fmin(wide, 1) / np.fmin(wide, 1).max()
    best = 0.0
    for numbers in inverted(picture):
        if min(numbers.shape) < len(wide):
            continue
        cells = [
            numbers[int((i + 0.5) * len(numbers) / len(wide))][
                ((np.arange(_WEEKS) + 0.5) * numbers.shape[1] / _WEEKS).astype(int)
            ]
            for i in range(len(wide))
        ]
        near = [max((abs(row - own) < 0.02).mean() for own in wide) for row in cells]
        best = max(best, float(np.mean(near)))
    return best


@pytest.mark.workflow
def test_no_count_and_no_name_leaves_results(tmp_path: Path) -> None:
    """Also of a run that warns, and of one that fails; the search finds what results/ holds."""
    table = tokens(np.random.default_rng(1))
    table.to_csv(tmp_path / "wards.csv", index=False)
    dpol_ = lambda *words: run(sys.executable, "-m", "dpol", *words, folder=tmp_path)  # noqa: E731
    asked = ("--entity", "ward", "--period", "week", "--count", "patients", "--capacity", "beds")
    said = succeed(dpol_("new", "dataset", "wards.csv", *asked))
    assert "results/wards: This folder holds your raw counts. Share nothing of it." in said
    config = tmp_path / "wards.yaml"
    made = yaml.safe_load(config.read_text()) | {"replicates": 2}
    made["privacy"]["levels"] = [1]
    made["suites"] = {"local": {"algorithms": ["window-mean", "persistence"]}}
    config.write_text(yaml.safe_dump(made))
    assert shown_in(tmp_path / "results/wards/data/understood.svg", table) > 0.9
    mine = "{algorithm: persistence, label: mine}", "--on", "wards.yaml", "--cores", "2"
    said = succeed(dpol_("league", *mine))
    assert "987123" in said, "the warning quotes a count, on the terminal"
    refused = dpol_("league", *mine, "--write", "ann.parquet")
    assert refused.returncode == 1
    assert "a row has the choices and the seed, which gives the table away" in refused.stderr
    broken = table.assign(patients=table["patients"].astype(str).where(table.index != 9, "123456x"))
    broken.to_csv(tmp_path / "wards.csv", index=False)
    assert "123456x" in dpol_("run", "wards.yaml", "--cores", "1").stderr
    table = pd.concat([table, table.iloc[:1].assign(patients="123456x")])

    files = [it for it in tmp_path.rglob("*") if it.is_file() and it.name != "wards.csv"]
    outside = [it for it in files if "results" not in it.relative_to(tmp_path).parts[:1]]
    assert len(outside) > 20
    assert not {it.name: found for it in outside if (found := held(it, table))}
    assert not [it for it in outside if it.suffix in (".png", ".svg", ".pdf")]
    inside = [it for it in files if it not in outside]
    assert any(held(it, table) for it in inside)
