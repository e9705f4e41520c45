"""No broken table, drawn from a seed, ends in a traceback: bytes, archives, rows and cells.

`BROKEN_TABLES=1500` tries so many, 60 by default. A table whose damage leaves a number in each
cell, such as another digit, is read.
"""

from __future__ import annotations

import gzip
import io
import os
import random
from pathlib import Path

import pandas as pd
import pytest
import yaml
from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE

from in_process import command
from streams_by_hand import streams_of_config

COUNT = int(os.environ.get("BROKEN_TABLES", "60"))
# The base loader leaves all words as texts.
WORDS = yaml.load(
    Path(__file__).with_name("broken_tables.yaml").read_bytes(), Loader=yaml.BaseLoader
)
CELLS = [text for texts in WORDS["cells"] for text in texts] + ["9" * 400, "x" * 30_000]
SUFFIXES = (".csv", ".csv.gz", ".tsv", ".xlsx", ".parquet")
TYPED = [
    [1, 2],
    {"a": 1},
    b"\xff",
    True,
    float("inf"),
    pd.Timedelta("1D"),
    pd.Timestamp("1677-10-01"),
]


def sound(rng: random.Random) -> pd.DataFrame:
    """Return a sound table of three places and eight weeks."""
    days = pd.date_range("2023-01-02", periods=8, freq="7D").strftime("%Y-%m-%d")
    rows = [(place, day, str(rng.randint(0, 20)), "30") for place in "ABC" for day in days]
    return pd.DataFrame(rows, columns=["place", "week", "patients", "beds"], dtype=object)


def in_bytes(frame: pd.DataFrame, suffix: str) -> bytes:
    """Return a table as the bytes of a file."""
    held = io.BytesIO()
    if suffix == ".xlsx":
        frame.map(lambda cell: ILLEGAL_CHARACTERS_RE.sub("", str(cell))).to_excel(held, index=False)
    elif suffix == ".parquet":
        frame.to_parquet(held)
    else:
        frame.to_csv(held, index=False, sep="\t" if suffix == ".tsv" else ",")
    return gzip.compress(held.getvalue(), mtime=0) if suffix == ".csv.gz" else held.getvalue()


def broken(number: int) -> tuple[str, bytes]:
    """Return the suffix of a broken table and its bytes; each 150th has 100,000 columns."""
    rng = random.Random(f"broken {number}")
    frame, suffix = sound(rng), rng.choice(SUFFIXES)
    if number % 150 == 149:
        line = ",".join(map(str, range(100_000))) + "\n"
        return ".csv", f"place,week,patients,beds,{line}A,2023-01-02,1,2,{line}".encode()
    match number % 8:
        case 0:
            return suffix, rng.randbytes(rng.choice((0, 1, 2, 10, 1000, 100_000)))
        case 1:
            held = in_bytes(frame, suffix)
            return suffix, held[: rng.randrange(len(held))]
        case 2:
            held = bytearray(in_bytes(frame, suffix))
            for _ in range(rng.choice((1, 3, 30))):
                held[rng.randrange(len(held))] = rng.choice((0, 10, 34, rng.randrange(256)))
            return suffix, bytes(held)
        case 3:
            return suffix, in_bytes(frame, rng.choice(SUFFIXES))
        case 4:
            encoding = rng.choice(("utf-8", "utf-16", "utf-16-le", "utf-32", "utf-8-sig"))
            held = frame.replace("A", "Ä 東").to_csv(index=False).encode(encoding)
            return ".csv", held[rng.randrange(3) : len(held) - rng.randrange(2)]
        case 5:
            frame.iat[rng.randrange(len(frame)), rng.randrange(4)] = rng.choice(CELLS)
            return suffix, in_bytes(frame, suffix)
        case 6:
            frame[rng.choice(list(frame))] = [rng.choice(TYPED)] * len(frame)
            return ".parquet", in_bytes(frame, ".parquet")
        case _:
            found, instead = rng.choice(WORDS["texts"])
            return ".csv", frame.to_csv(index=False).replace(found, instead).encode()


COLUMNS = ("--entity", "place", "--period", "week", "--count", "patients", "--capacity", "beds")


@pytest.mark.parametrize("number", range(0, 1500, 1500 // COUNT))
@pytest.mark.filterwarnings("ignore")  # what cleaning changed is logged
def test_a_broken_table_is_refused_without_a_traceback(number, empty_folder):
    suffix, held = broken(number)
    table = empty_folder / f"broken{suffix}"
    table.write_bytes(held)
    code, out, err = command("new", "dataset", table.name, *COLUMNS)
    assert "Traceback" not in out + err
    if code:
        assert table.name in err
        assert list(empty_folder.iterdir()) == [table]
    else:
        (stream,) = streams_of_config(*empty_folder.glob("*.yaml"))
        assert (stream.capacity > 0).all()
        assert 0 <= stream.gains.min() <= stream.gains.max() <= 1
