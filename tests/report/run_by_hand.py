"""A whole hand-made run: small files of every kind that the page needs."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Sequence
from html.parser import HTMLParser
from itertools import chain
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pandas as pd
import yaml
from rocrate.rocrate import ROCrate

from claims_by_hand import claim_by_hand, ledger_of
from dpol.config.models import WHOLE, Config
from dpol.core.files import write_json, write_text
from dpol.core.schemas import Schema, write_frame
from dpol.data.cleaning import IDLE
from dpol.data.stream import write_stream
from dpol.report.crate import WORKFLOW, Provenance, build_crate
from dpol.report.door import CONFIG, CRATE, RunFiles
from dpol.report.lead import Answer, answer_of
from dpol.report.page import build_page
from dpol.reruns.notes import Note, checksums, write_note
from dpol.show.rendering import render
from dpol.show.table import Group, Table, TableCell, TableSection
from dpol.studies.paper1.table_2 import Verdict
from dpol.studies.registry import load_studies
from dpol.studies.showing import frames_of
from dpol.studies.study import Section, schemas_in
from replays import replay_of, stream_of
from standings_by_hand import standings_of
from tables_by_hand import LEVELS, STREAM, rows, summary

ODD = "a < b & \"c\" <script>alert('d')</script>"

NAMES = ODD, "South", "North"
SVG = """<?xml version="1.0" encoding="utf-8" standalone="no"?>
<svg xmlns="http://www.w3.org/2000/svg" width="72pt" height="36pt" viewBox="0 0 72 36">
 <title>12 of 34 &lt;b&gt; hold.</title>
 <g id="figure_1"><rect width="72" height="36" fill="#eee"/></g>
</svg>
"""

STUDIES: dict[str, Any] = {
    "batching": {"n_experts": [2], "mus": [1]},
    "lazy": {"n_rounds": [10], "n_experts": [2], "epsilons": [1]},
    "convex": {"n_rounds": [10], "dimensions": [2], "epsilons": [1]},
    "labels": {"patients_per_week": 1, "sweeps": {"rounds": [10], "labels": [4]}},
    "audits": {},
    "claims": {},
}
FALSE = {"kind": "false", "root": "Theorem 3", "mend": "n = 1", "witness": "n = 2"}
CLAIMS = (
    claim_by_hand(2.0, "<=", 1.5),
    claim_by_hand(9.0, "<=", 3.0, place="Theorem 2"),
    claim_by_hand(1.0, "<=", 3.0, place="Theorem 3", statement=ODD, **FALSE),
    claim_by_hand(1.0, "<=", 3.0, paper="Two", place="against mf-ftpl", on_data=True),
    claim_by_hand(1.0, "=", 1.0, paper="Two", place="Lemma 5"),
)
AUDITS = (
    {"mechanism": "noise", "variant": "isotropic", "claimed": 1.0, "lower_bound": 0.9},
    {"mechanism": "response", "variant": ODD, "claimed": 1.0, "lower_bound": 1.25},
)
MADE = "league", "claims", "audits"
"""Tables that are made from the frames of the run, as a browser reads them."""
CLEANING = {
    "provenance": {
        "file": "table.csv.gz",
        "sha256": "ab" * 32,
        "simulated": False,
        "fetched": {"retrieved": "2024-01-31T12:00:00+00:00", "url": "https://example.org/t.csv"},
    },
    "rows_read": 4000,
    "rows_outside": 12,
    "rows_dropped": 0,
    "warnings": ["stream nm: periods missing: 1 between 2021-01-15 and 2021-01-29"],
    "streams": [
        {
            "stream": "nm",
            "dropped": [
                {"entity": "H9", "name": ODD, "reason": "0 cases"},
                {"entity": "H8", "name": "Bedless", "reason": f"{IDLE} in 2 periods"},
            ],
            "entities": 24,
            "changed": 7,
            "periods": 148,
            "unmeasured": {"periods": 13, "share": 0.0893},
        }
    ],
}


def config(*studies: str, **changes: Any) -> Config:
    """Return the config of the run with these studies."""
    columns = {"entity": "e", "period": "p", "count": "c", "capacity": "k", "group": "g"}
    return WHOLE.model_validate(
        {
            "run": "hand",
            "seed": 7,
            "dataset": {
                "source": {"kind": "local", "file": "t.csv"},
                "public": True,
                "columns": columns,
            },
            "streams": {"nm": STREAM.model_dump()},
            "privacy": {"levels": [*LEVELS]},
            "suites": {
                "local": {"algorithms": ["rw-meta", "ridge"]},
                "central": {"algorithms": ["tree-ftpl-min-noise", "tree-ftpl-min-regret"]},
                "open": {"algorithms": ["follow-the-leader"]},
            },
            "report": {"algorithms": ["rw-meta", "tree-ftpl-min-noise", "follow-the-leader"]},
        }
        | {name: STUDIES[name] for name in studies}
        | changes
    )


ASKED = config().model_dump(mode="json", exclude_none=True)
PROVENANCE = Provenance(
    config_name="config.yaml",
    config_text=f"# {ODD}\n{yaml.safe_dump(ASKED)}",
    versions=(("Python", "3.11.0"), ("dpol", "0.1.0")),
    commit="0123abc",
    began=10**18 - 20_500_000_000,
    ended=10**18 + 20_000_000_000,
)


def complete(frame: pd.DataFrame, schema: Schema) -> pd.DataFrame:
    """Add the columns that a table lacks; the page shows none of them."""
    nothing = {"text": "", "whole": 0, "number": 0.0, "truth": False, "date": pd.Timestamp(0)}
    lacking = {name: nothing[own.kind] for name, own in schema.columns.items() if name not in frame}
    return frame.assign(**lacking)[list(schema.columns)]


def audits() -> pd.DataFrame:
    shared = {
        "unit": "one person in one round",
        "parameter": "mu",
        "confidence": 0.95,
        "runs": 3000,
        "method": "event",
        "recorded": 1.0,
    }
    frame = pd.DataFrame([shared | audit for audit in AUDITS])
    broken = frame["lower_bound"] > frame["claimed"]
    verdict = broken.map({True: "violated", False: "consistent"})
    schema = schemas_in("dpol.studies.ledger.audits")["audits"]
    return complete(frame.assign(verdict=verdict), schema)


def replay() -> pd.DataFrame:
    """Return six weeks of three hospitals, with the choices of rw-ftpl in the name of rw-meta."""
    rows = replay_of(stream_of(6, 3, names=NAMES))
    return rows.assign(chosen_by=rows["chosen_by"].str.replace("rw-ftpl", "rw-meta"))


def write_run(folder: Path) -> None:
    """Write all files for a page with every section."""
    for name in ("tables", "figures", "data", "streams"):
        (folder / name).mkdir(parents=True)
    write_stream(stream_of(6, 3, names=NAMES), folder / "streams/nm.parquet")
    frames = {
        "summary": summary(),
        "replay": replay(),
        "standings": standings_of(rows()),
        "claims": ledger_of(*CLAIMS),
        "audits": audits(),
    }
    written = frames | dict.fromkeys(("cumulative", "switches", "totals"), pd.DataFrame(index=[0]))
    for study in load_studies().values():
        for name, schema in schemas_in(study.package).items():
            if name in written:
                write_frame(complete(written[name], schema), folder / f"{name}.parquet")
    (folder / "data/cleaning.json").write_text(json.dumps(CLEANING))
    (folder / "data/understood.svg").write_text(SVG)
    facts = config(*STUDIES).facts
    for section in sections_shown():
        for figure in section.figures:
            (folder / f"figures/{figure.name}.svg").write_text(SVG)
        for table in section.tables:
            real = table.name in MADE
            made = table.function(frames, facts) if real else table_by_hand(table.name)
            (folder / f"tables/{table.name}.html").write_text(render(made, ".html"))


def sections_shown() -> list[Section]:
    """Return the sections of a page with every study."""
    whole = config(*STUDIES)
    shown = (study.sections_of(block, whole.facts) for study, block in whole.studies())
    return [*chain.from_iterable(shown)]


def table_by_hand(name: str) -> Table:
    group = Group("", (("μ = 1", (TableCell(ODD, ("note",)),)),))
    return Table(
        caption=f"Of {name}",
        corner=("stream", "privacy"),
        headers=("gain",),
        sections=(TableSection("New Mexico", "n = 2", (group,)),),
        footers=(ODD,),
        numbers=pd.DataFrame(),
    )


def page(folder: Path, *studies: str, verdict: Verdict | None = None, **changes: Any) -> str:
    files, settings = files_of(folder), config(*studies, **changes)
    return build_page(files, settings, PROVENANCE, answered(folder, settings, verdict))


def answered(folder: Path, settings: Config, verdict: Verdict | None = None) -> Answer:
    """Return the answer of a run."""
    files = {name: files_of(folder).file(f"{name}.parquet") for name in ("standings", "summary")}
    frames = frames_of("dpol.studies.league", files)
    return answer_of(frames, settings.facts, settings, verdict)


def files_of(folder: Path) -> RunFiles:
    """Return all files of a run as if its jobs had just written them."""
    return RunFiles(folder=folder, files=checksums(folder, folder.rglob("*.*")))


def record(run: Path, *, answer: Sequence[str] = (), **changes: Any) -> Path:
    """Write the crate of a run, which lists all its files, and note their checksums.

    `changes` are of the config that the crate describes.
    """
    (run / CRATE).unlink(missing_ok=True)
    shutil.rmtree(run / "logs", ignore_errors=True)
    made = sorted(it for it in run.rglob("*") if it.is_file() and it.parent.name != "provenance")
    write_text(run / WORKFLOW, "rule all:\n")
    write_text(run / CONFIG, PROVENANCE.config_text)
    crate = build_crate(run, config(**changes), PROVENANCE, checksums(run, made), answer)
    write_json(run / CRATE, crate)
    for file in (*made, run / WORKFLOW, run / CONFIG, run / CRATE):
        note = Note(asked="", read={}, wrote=checksums(run, [file]), began=0, ended=1)
        write_note(run, str(file.relative_to(run)), note)
    return run


def checked_crate(folder: Path) -> list[dict[str, Any]]:
    """Assert that all files match the crate of a run, and return its entities."""
    crate = ROCrate(folder)
    for file in crate.get_by_type("File"):
        found = hashlib.sha256((folder / unquote(file.id)).read_bytes()).hexdigest()
        assert found == file["sha256"], file.id
        of_table = file["encodingFormat"] == "application/vnd.apache.parquet"
        assert of_table == file.id.endswith(".parquet")
    run = crate.get("#run")
    assert run["instrument"] is crate.mainEntity
    assert {file.id for file in run["result"]} < {file.id for file in crate.root_dataset["hasPart"]}
    entities: list[dict[str, Any]] = json.loads(
        (folder / "ro-crate-metadata.json").read_text(encoding="utf-8")
    )["@graph"]
    ids = [entity["@id"] for entity in entities]
    assert len(ids) == len(set(ids))
    return entities


class Elements(HTMLParser):
    """Every element with its attributes, in order."""

    VOID = frozenset({"meta", "link", "br", "img", "source", "input", "hr"})

    def __init__(self, markup: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str]]] = []
        self._open: list[str] = []
        self.feed(markup)
        self.close()
        assert self._open == [], "an element is not closed"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, {name: value or "" for name, value in attrs}))
        if tag not in self.VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def of(self, wanted: str) -> list[dict[str, str]]:
        """Return the attributes of all elements with this tag."""
        return [attrs for tag, attrs in self.found if tag == wanted]

    def values(self, name: str, wanted: str = "") -> list[str]:
        """Return all values of an attribute, of elements with the wanted tag if given."""
        return [attrs[name] for tag, attrs in self.found if name in attrs and wanted in ("", tag)]
