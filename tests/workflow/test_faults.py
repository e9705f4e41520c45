"""Configs that can be planned; and faults: the errors name the remedy, and nothing is lost."""

from __future__ import annotations

import contextlib
import functools
import gzip
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from config.test_every_key import BASES, Place, blocks_in, places_in
from dpol.config.experiment import parse_experiment
from dpol.core import plugins
from dpol.core.errors import ConfigError
from dpol.core.files import sha256, write_json
from dpol.studies.registry import STUDIES
from pipeline import ROOT, fail, plan_pages, snakemake, succeed, write_config, written_as_before
from small_config import changed

WHOLE: dict[str, Any] = yaml.safe_load((ROOT / "verify/small.yaml").read_text())
# Without the other studies, whose results depend on nothing else in the config.
PLAIN = {key: value for key, value in WHOLE.items() if key not in STUDIES}
CONFIGS = sorted((ROOT / "config").glob("*.yaml"))

pytestmark = pytest.mark.workflow


def test_every_config_can_be_planned(tmp_path: Path) -> None:
    """All in one dry run, each as a module of its own."""
    configs = {f"of_{it.stem}".replace("-", "_"): yaml.safe_load(it.read_text()) for it in CONFIGS}
    rules = "import json\ntold = {it.name: it.docstring for it in workflow.rules}\n"
    rules += 'json.dump(told, open("told.json", "w"))\n'
    plan_pages(tmp_path, rules, **{name: raw | {"run": name} for name, raw in configs.items()})
    told = json.loads((tmp_path / "told.json").read_text())
    assert len(told) >= 13 * len(CONFIGS)
    sentence = re.compile(r"\w.+?\.( Makes .+)?")
    silent = [name for name, it in told.items() if not sentence.fullmatch(it or "")]
    assert silent == [], "each rule says what it does"


# ---- texts with braces, which plain in a rule would be wildcards of Snakemake ----


def texts(number: int) -> Iterator[object]:
    """Texts with braces; each place has its own, since columns must differ."""
    text = f"{{x}}{{stream}}{number}"
    yield from (text, [text], {text: [text]})


def braced(base: str) -> tuple[dict[str, Any], set[Place]]:
    """Return a good config with braces wherever a text may have them, and these places."""
    raw, taken = changed(BASES[base]), set[Place]()
    blocks = blocks_in(parse_experiment(raw, base))
    keys = ((*path, name) for path, block in blocks for name in type(block).model_fields)
    for number, place in enumerate(dict.fromkeys([*keys, *places_in(raw)])):
        for text in texts(number):
            with contextlib.suppress(ConfigError, AttributeError, LookupError, TypeError):
                other = changed({place: text}, of=raw)
                parse_experiment(other, base)
                raw = other
                taken.add(place)
                break
    return raw, taken


def test_every_text_of_a_config_may_have_braces(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All in one dry run, each as a module of its own."""
    found = functools.cache(plugins.metadata.entry_points)  # a look at every package takes long
    monkeypatch.setattr(plugins.metadata, "entry_points", found)
    made = {base: braced(base) for base in BASES}
    where = {place[-1] for _, taken in made.values() for place in taken}
    assert where >= {"title", "licence", "count", "entity", "groups"}
    plan_pages(tmp_path, **{base: raw | {"run": base} for base, (raw, _) in made.items()})


def test_so_may_the_name_of_a_config(tmp_path: Path) -> None:
    write_config(tmp_path)
    (tmp_path / "config.yaml").rename(tmp_path / "{x}{stream}.yaml")
    succeed(snakemake(tmp_path, "--dry-run", config="{x}{stream}.yaml"))


# ---- bad input, no place for results, no network ----


def one_table(folder: Path, **source: Any) -> None:
    """Write a config whose streams are of one table, and which asks for a long study too."""
    dataset = {
        "source": source,
        "columns": {"entity": "id", "period": "week", "count": "sick", "capacity": "beds"},
        "cleaning": {"min_total_cases": 0},
    }
    streams = {"all": {"groups": ["all"]}}
    write_config(folder, PLAIN, lazy=WHOLE["lazy"], dataset=dataset, streams=streams)


HEADER = "id,week,sick,beds\n"
GOOD = HEADER + "a,2021-01-01,1,10\nb,2021-01-01,2,10\na,2021-01-08,1,10\nb,2021-01-08,2,10\n"


def begun(folder: Path) -> set[str]:
    """Return the rules that left a log."""
    return {path.stem for path in (folder / "results/verify-small/logs").glob("*.log")}


def test_a_bad_table_is_told_before_the_long_studies_begin_and_is_left_alone(
    tmp_path: Path,
) -> None:
    text = GOOD.replace("a,2021-01-08,1,10", "a,2021-01-08,-1,10")
    (tmp_path / "table.csv").write_text(text)
    one_table(tmp_path, kind="local", file="table.csv")
    everything = fail(snakemake(tmp_path, "--cores", "1"))
    assert everything.count("error: table.csv: 1 cell cannot be used") == 1
    assert begun(tmp_path) == {"read_rows"}
    assert (tmp_path / "table.csv").read_text() == text


def test_unwritable_results_are_told(tmp_path: Path) -> None:
    (tmp_path / "results").write_text("not a folder")
    write_config(tmp_path, PLAIN)
    assert "cannot write results/verify-small" in fail(snakemake(tmp_path))


NOWHERE = "http://127.0.0.1:9/table.csv"


def test_without_network_the_fetch_says_what_to_do_and_that_works(tmp_path: Path) -> None:
    file, endpoints = "data/raw/table.csv.gz", [{"kind": "file", "url": NOWHERE}]
    one_table(tmp_path, kind="web", file=file, endpoints=endpoints)
    said = fail(snakemake(tmp_path, "--cores", "1"))
    assert begun(tmp_path) == {"fetch_dataset"}
    assert said.count(f"place it at {file}") == 1
    assert said.endswith("without a network: dpol run central-texas\n")
    placed = tmp_path / file
    placed.parent.mkdir(parents=True, exist_ok=True)
    placed.write_bytes(gzip.compress(GOOD.encode()))
    rows = "results/verify-small/data/rows.parquet"
    succeed(snakemake(tmp_path, rows))
    assert gzip.decompress(placed.read_bytes()) == GOOD.encode()
    # Once it is read, it may be gone, but not replaced by hand.
    write_json(f"{placed}.provenance.json", {"sha256": sha256(placed), "query": None})
    with written_as_before(placed):
        placed.write_bytes(gzip.compress(GOOD.replace("2,10", "3,10").encode()))
    assert re.search("^read_rows +1$", succeed(snakemake(tmp_path, rows, "--dry-run")), re.M)
    placed.unlink()
    assert "Nothing to be done" in succeed(snakemake(tmp_path, rows, "--dry-run"))
