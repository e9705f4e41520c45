"""A scripted owner: configure a table, follow only what dpol says, and compare with the truth.

`python tests/data/owners/driver.py [--seed N] [--real N] [--show] [NAME ...]` prints what becomes
of each table of the package that is imported. `--real N` also runs N right ones in snakemake.
"""

from __future__ import annotations

import argparse
import logging
import re
import subprocess
import sys
import tempfile
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import yaml
from worlds import Table

import dpol

TRIES = 5
ROOT = Path(__file__).parents[3]
LOG = logging.getLogger("dpol")


@dataclass(frozen=True)
class Outcome:
    """What became of a table, in a word, after how many remedies, and what dpol said last."""

    kind: str  # right, refused, wrong (a remedy or a doubt was said), silent (nothing was)
    remedies: tuple[str, ...]
    said: str

    def __str__(self) -> str:
        """Write the outcome as one line."""
        by = " after " + "; ".join(self.remedies) if self.remedies else " at once"
        return self.kind + (by if self.kind == "right" or self.remedies else "")


class Warnings(logging.Handler):
    """Keeps what dpol warns of."""

    def __init__(self) -> None:
        """Begin with no text."""
        super().__init__()
        self.texts: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a warning."""
        self.texts.append(record.getMessage())


def set_key(config: dict[str, Any], key: str, value: Any) -> None:
    """Set a key such as `dataset.read.sep` of a config."""
    *blocks, last = key.split(".")
    for block in blocks:
        config = config.setdefault(block, {})
    config[last] = value


def first_config(table: Table, file: Path) -> dict[str, Any]:
    """Return the config that the owner writes before dpol said anything."""
    config: dict[str, Any] = {
        "run": "table",
        "seed": 1,
        "dataset": {
            "source": {"kind": "local", "file": str(file)},
            "columns": dict(table.columns),
            "cleaning": {"entities": "all"},
        },
        "streams": {"table": {"groups": ["all"]}},
        "privacy": {"levels": [float("inf"), 1]},
        "suites": ["local"],
        "replicates": 2,
    }
    for key, value in table.told.items():
        set_key(config, key, value)
    return config


def read(config: dict[str, Any]) -> dpol.GainStream:
    """Read the table of a config as its run would."""
    data = config["dataset"]
    privacy = config["privacy"]
    blocks = {name: data[name] for name in ("read", "periods", "cleaning") if name in data}
    return dpol.read_table(
        data["source"]["file"],
        **data["columns"],
        **blocks,
        gain=config.get("gain"),
        label="table",
        groups=config["streams"]["table"]["groups"] if "group" in data["columns"] else None,
        count_sensitivity=privacy.get("count_sensitivity"),
    )


def run_snakemake(config: dict[str, Any], folder: Path) -> dpol.GainStream:
    """Run the check of a table, and read the stream that it wrote."""
    file = folder / "config.yaml"
    file.write_text(yaml.safe_dump(config, allow_unicode=True), encoding="utf-8")
    call = [sys.executable, "-m", "snakemake", "--cores", "1", "data", "--configfile", str(file)]
    call += ["--directory", str(folder), "-s", str(ROOT / "Snakefile")]
    subprocess.run(call, check=True, cwd=ROOT, capture_output=True)
    return dpol.read_stream(folder / "results/table/streams/table.parquet")


def difference(stream: dpol.GainStream, table: Table) -> str:
    """Say how a stream differs from the truth, with a number; empty if it does not."""
    truth = table.truth
    days = pd.to_datetime(pd.Index(stream.periods))
    read = pd.DataFrame(np.asarray(stream.gains), days, list(stream.entities))
    if set(read.columns) != set(truth.columns):
        return f"plays {sorted(read.columns)} not {sorted(truth.columns)}"
    away = abs(read.index - truth.index).days if len(read) == len(truth) else np.array([999])
    if away.max() > table.near:
        first, last = read.index[0], read.index[-1]
        true = f"{len(truth)} from {truth.index[0]:%F} to {truth.index[-1]:%F}"
        return f"{len(read)} periods from {first:%F} to {last:%F} not {true}"
    far = ~np.isclose(read[truth.columns].to_numpy(), truth.to_numpy(), rtol=1e-9, atol=1e-12)
    if not far.any():
        return ""
    row, column = np.argwhere(far)[0]
    name = truth.columns[column]
    numbers = f"{read[name].iloc[row]:.6g} not {truth[name].iloc[row]:.6g}"
    return f"{far.sum()} of {far.size} gains, first {name} {truth.index[row]:%F}: {numbers}"


def named(key: str, text: str) -> bool:
    """Tell whether a text names a key, in full or without its outermost blocks."""
    short = key.removeprefix("privacy.") if "sensitivity" in key else ".".join(key.split(".")[-2:])
    return re.search(rf"(?<![\w.])(dataset\.)?{re.escape(short)}\b", text) is not None


def printed_lines(text: str) -> list[tuple[str, str]]:
    """Return each sentence that a line of pandas follows, with the line."""
    pairs, sentence = [], ""
    for line in text.splitlines():
        if re.match(r"\s+(table\b|import |\w+ = )", line):
            pairs.append((sentence, line.strip()))
        else:
            sentence = line
    return pairs


def run_line(line: str, config: dict[str, Any]) -> None:
    """Run a line of pandas on the table, as the manual shows, and take the result as table."""
    source = config["dataset"]["source"]
    options = config["dataset"].pop("read", {})
    file = Path(source["file"])
    if file.suffix == ".parquet":
        table = pd.read_parquet(file)
    elif file.suffix == ".xlsx":
        table = pd.read_excel(file, **options)
    else:
        sep = "\t" if file.suffix == ".tsv" else ","
        engine = {"engine": "python"} if options.get("skipfooter") else {}
        table = pd.read_csv(file, **({"sep": sep} | options | engine))
    names = {"table": table, "pd": pd, "np": np, "FILE": str(file)}
    exec(line, names)
    result = file.with_name(f"{file.name.split('.')[0]}-.csv")
    names["table"].to_csv(result, index=False)
    source["file"] = str(result)


def remedy(said: str, table: Table, config: dict[str, Any], done: set[str]) -> list[str]:
    """Do what a message says and the owner knows to be true; return the keys and sentences."""
    keys = [key for key in table.knows if key not in done and named(key, said)]
    for key in keys:
        set_key(config, key, table.knows[key])
    if keys:
        return keys
    for sentence, line in printed_lines(said):
        if table.line and table.line not in done and table.line in sentence:
            run_line(line, config)
            return [table.line]
    return []


def follow(table: Table, folder: Path, real: bool = False) -> Outcome:
    """Let the owner of a table try, at most five times, until no message helps."""
    file = folder / table.file
    file.write_bytes(table.content)
    config = first_config(table, file)
    done: list[str] = []
    handler = Warnings()
    LOG.addHandler(handler)
    LOG.propagate = False
    try:
        for _ in range(TRIES + 1):
            handler.texts.clear()
            wrong = None
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    stream = read(config)
                wrong = difference(stream, table)
                said = "\n".join(handler.texts)
            except dpol.DpolError as error:
                said = str(error)
            if wrong == "":
                if real:
                    wrong = difference(run_snakemake(config, folder), table)
                    return Outcome(f"real {wrong}" if wrong else "right", tuple(done), said)
                return Outcome("right", tuple(done), said)
            steps = remedy(said, table, config, set(done))
            done += steps
            if not steps:
                break
        if wrong is None:
            return Outcome("refused", tuple(done), said)
        said_so = table.said and re.search(table.said, said)
        return Outcome("wrong" if said_so else "silent", tuple(done), f"{wrong}\n{said}")
    finally:
        LOG.removeHandler(handler)
        LOG.propagate = True


def fits(outcome: Outcome, expected: str) -> bool:
    """Tell whether an outcome is the expected one, or better."""
    if outcome.kind == "right" or (expected, outcome.kind) == ("to the eye", "silent"):
        return True
    if expected == "said":
        return outcome.kind in ("refused", "wrong")
    if expected.startswith("refused: "):
        phrase = expected.removeprefix("refused: ")
        return outcome.kind == "refused" and re.search(phrase, outcome.said) is not None
    return False


def main() -> None:
    """Print what becomes of each table."""
    from tidy_tables import tidy
    from untidy_tables import untidy

    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--real", type=int, default=0)
    parser.add_argument("--show", action="store_true")
    options = parser.parse_args()
    tables = [("tidy", table) for table in tidy(options.seed)]
    tables += [("untidy", table) for table in untidy(options.seed)]
    tables = [pair for pair in tables if not options.names or pair[1].name in options.names]
    chosen = range(0, len(tables), -(-len(tables) // options.real)) if options.real else ()
    for number, (kind, table) in enumerate(tables):
        if options.real and number not in chosen:
            continue
        with tempfile.TemporaryDirectory() as folder:
            outcome = follow(table, Path(folder), real=bool(options.real))
            good = "  " if fits(outcome, table.expect) else "! "
            said = outcome.said.replace(folder, "").strip()
            first = "" if outcome.kind == "right" else " | " + said.split("\n")[0]
            print(f"{good}{kind}: {table.name}: {outcome}{first}", flush=True)
            if options.show:
                print("    " + said.replace("\n", "\n    "))


if __name__ == "__main__":
    main()
