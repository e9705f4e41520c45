from __future__ import annotations

import csv
import hashlib
import json
import math
import threading
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest

from dpol.errors import DataError, DpolError, OutputError
from dpol.local import release as module
from dpol.local.count_noise import CountNoise
from dpol.local.counts import CountColumns
from dpol.local.release import describe, record_of, release
from dpol.privacy.guarantee import ONE_PERSON, UNIT
from dpol.privacy.noise import SeededNoise

WITH_BEDS = CountColumns("hospital", "week", "covid", "beds")
HALF = CountNoise(Decimal("0.5"))


class Halted:
    """A sampler that is never to be asked."""

    name = "seeded"

    def discrete_gaussian(self, scale: int, size: int) -> list[int]:
        raise AssertionError("noise was drawn before everything was checked")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def put(folder):
    """Release rows (hospital, week, count), with seeded noise."""

    def putter(*rows, noise=HALF, columns=WITH_BEDS, seed=1, sampler=None, **options):
        lines = ["hospital,week,covid,beds", *(",".join((*row, "20")) for row in rows)]
        Path("counts.csv").write_text("\n".join(lines) + "\n")
        sampler = sampler or SeededNoise(np.random.default_rng(seed))
        return release(Path("counts.csv"), Path("noisy.csv"), columns, noise, sampler, **options)

    return putter


def output(name="noisy.csv"):
    with Path(name).open(newline="") as stream:
        return list(csv.DictReader(stream))


def record():
    return json.loads(Path("noisy.csv.guarantee.json").read_text())


def files():
    return {path.name: path.read_bytes() for path in Path().iterdir() if path.name != "counts.csv"}


A1, A2, B1 = ("A", "2021-01-01", "3"), ("A", "2021-01-08", "7.5"), ("B", "2021-01-01", "0")


def test_the_output_holds_every_row_with_its_own_noise(put):
    done = put(A1, A2, B1)
    draws = SeededNoise(np.random.default_rng(1)).discrete_gaussian(HALF.scale, 3)
    noisy = [count + draw / 10**6 for count, draw in zip((3, 7.5, 0), draws, strict=True)]
    rows = output()
    assert list(rows[0]) == WITH_BEDS.output_header()
    assert [float(row["noisy_count"]) for row in rows] == pytest.approx(noisy, abs=1e-12)
    assert [float(row["noisy_share"]) for row in rows] == pytest.approx(
        [value / 20 for value in noisy], rel=1e-8
    )
    assert [(row["hospital"], row["week"], row["mu"], row["beds"]) for row in rows] == [
        (*key[:2], "0.5", "20") for key in (A1, A2, B1)
    ]
    assert (done.added, done.rows) == (3, 3)


def test_without_a_capacity_there_is_no_share(put):
    put(A1, columns=CountColumns("hospital", "week", "covid"))
    assert list(output()[0]) == ["hospital", "week", "noisy_count", "mu", "count_sensitivity"]


def test_the_record_says_what_is_guaranteed(put):
    done = put(A1, B1, noise=CountNoise(Decimal("0.5"), Decimal(3)))
    assert record() == {
        **done.guarantee.as_dict(),
        "mu_of_one_entity_alone": pytest.approx(0.5 / math.sqrt(2)),
        "file": "noisy.csv",
        "sha256": hashlib.sha256(Path("noisy.csv").read_bytes()).hexdigest(),
        "rows": 2,
    }
    guarantee = done.guarantee
    assert (guarantee.mu, guarantee.model, guarantee.sampler) == (0.5, "local", "seeded")
    assert (guarantee.adjacency, guarantee.unit) == (ONE_PERSON, UNIT)
    assert guarantee.sensitivity == pytest.approx(3 * math.sqrt(2))
    assert guarantee.sensitivity_unit == "L2, persons"


def test_nothing_written_or_said_holds_a_raw_count(put):
    done = put(("A", "2021-01-01", "86420.97531"), ("A", "2021-01-08", "0"))
    everything = "".join(data.decode() for data in files().values()) + repr(done)
    assert "86420.97531" not in everything + "".join(describe(done, 1e-6))


def test_an_existing_output_is_not_overwritten(put):
    put(A1)
    before = files()
    with pytest.raises(DataError, match=r"noisy\.csv: exists already.* with --append"):
        put(A2, sampler=Halted())
    assert files() == before


def test_further_periods_are_appended_and_do_not_add_up(put):
    put(A1, append=True)
    first = Path("noisy.csv").read_text()
    done = put(A2, B1, append=True)
    assert Path("noisy.csv").read_text().startswith(first)
    assert (done.added, done.rows, len(output())) == (2, 3, 3)
    assert done.guarantee.mu == record()["mu"] == 0.5


def test_names_that_need_quotes_can_be_appended_to(put):
    put(('"A, ""x"""', "2021-01-01", "3"))
    put(B1, append=True)
    with pytest.raises(DataError, match="holds this entity and period already"):
        put(('"A, ""x"""', "2021-01-01", "3"), append=True)
    assert [row["hospital"] for row in output()] == ['A, "x"', "B"]


def test_a_period_is_not_released_twice_unless_told(put):
    put(A1, B1)
    before = files()
    with pytest.raises(
        DataError,
        match=r"counts\.csv, line 3: noisy\.csv holds this entity and period already \(1 of 2 rows"
        r" are such\).* twice, mu becomes 0\.7071: leave them out, or add --again",
    ):
        put(A2, A1, append=True, sampler=Halted())
    assert files() == before


def test_a_period_released_again_adds_up(put):
    """mu 0.5 twice is 0.7071, and with 1 beside it 1.2247; another period does not change that."""
    put(A1, B1)
    assert put(A1, again=True).guarantee.mu == pytest.approx(math.sqrt(0.5))
    one = CountNoise(Decimal(1))
    with pytest.raises(DataError, match=r"mu becomes 1\.225"):
        put(A1, B1, noise=one, append=True, sampler=Halted())
    assert put(A1, noise=one, again=True).guarantee.mu == pytest.approx(math.sqrt(1.5))
    assert put(A2, noise=one, append=True).guarantee.mu == pytest.approx(math.sqrt(1.5))
    assert record()["mu"] == pytest.approx(math.sqrt(1.5))
    assert record()["mu_of_one_entity_alone"] == pytest.approx(math.sqrt(0.75))
    assert [row["mu"] for row in output()] == ["0.5", "0.5", "0.5", "1", "1"]


def test_the_larger_mu_of_two_periods_counts(put):
    put(A1)
    assert put(A2, noise=CountNoise(Decimal(2)), append=True).guarantee.mu == 2.0
    assert put(B1, append=True).guarantee.mu == 2.0


@pytest.mark.parametrize(
    "change",
    [
        lambda: Path("noisy.csv").write_text(Path("noisy.csv").read_text().replace("A", "C")),
        lambda: Path("noisy.csv.guarantee.json").unlink(),
        lambda: Path("noisy.csv.guarantee.json").write_text("{"),
        lambda: Path("noisy.csv.guarantee.json").write_text("[]"),
        lambda: Path("noisy.csv.guarantee.json").write_text("{}"),
        lambda: Path("noisy.csv.guarantee.json").write_bytes(b"\xff"),
    ],
)
@pytest.mark.parametrize("options", [{"append": True}, {"again": True}])
def test_a_changed_output_is_not_added_to(put, change, options):
    put(A1)
    change()
    before = files()
    with pytest.raises(DataError, match=r"noisy\.csv: was changed after its release, or "):
        put(A2, sampler=Halted(), **options)
    assert files() == before


@pytest.mark.parametrize(
    "forged",
    [
        "",
        "\n",
        "A",
        'A,2021-01-08,"4',
        "A,2021-01-08,4,20,0.2,1",
        "A,2021-01-08,4,20,0.2,0.5,1,1",
        *(f"A,2021-01-08,4,20,0.2,{mu},1" for mu in ("", "x", "0", "-1", "nan", "inf", "1/0")),
        "A,2021-01-08,4,20,0.2,1e999999999,1",
        "A,2021-01-08,4,20,0.2,0.5,x",
    ],
)
def test_a_forged_output_with_a_forged_record_is_told(put, forged):
    put(A1)
    header = Path("noisy.csv").read_text().splitlines()[0]
    Path("noisy.csv").write_text(f"{header}\n{forged}\n" if forged else "")
    forged_sum = hashlib.sha256(Path("noisy.csv").read_bytes()).hexdigest()
    Path("noisy.csv.guarantee.json").write_text(json.dumps({"sha256": forged_sum}))
    before = files()
    for options in ({"append": True}, {"again": True}):
        with pytest.raises(DataError, match=r"noisy\.csv: was changed after its release, or "):
            put(A2, sampler=Halted(), **options)
    assert files() == before


def test_a_record_too_deep_to_read_is_told(put):
    put(A1)
    Path("noisy.csv.guarantee.json").write_text("[" * 100_000)
    with pytest.raises(DataError, match=r"noisy\.csv: was changed after its release, or "):
        put(A2, append=True, sampler=Halted())


def test_of_two_releases_at_the_same_moment_none_is_lost(folder):
    """The second begins while the first draws its noise."""

    def append(week, sampler):
        table = Path(f"{week}.csv")
        table.write_text(f"hospital,week,covid,beds\nA,{week},3,20\n")
        release(table, Path("noisy.csv"), WITH_BEDS, HALF, sampler, append=True)

    seeded = SeededNoise(np.random.default_rng(1))
    second = threading.Thread(target=append, args=("2021-01-08", seeded))

    class Interrupted:
        name = "seeded"

        def discrete_gaussian(self, scale, size):
            second.start()
            second.join(0.3)
            return seeded.discrete_gaussian(scale, size)

    append("2021-01-01", Interrupted())
    second.join()
    assert [row["week"] for row in output()] == ["2021-01-01", "2021-01-08"]
    assert record()["rows"] == 2
    assert set(files()) == {
        *("noisy.csv", "noisy.csv.guarantee.json"),
        *("2021-01-01.csv", "2021-01-08.csv"),
    }


def test_a_removed_output_is_not_released_anew(put):
    put(A1)
    Path("noisy.csv").unlink()
    for options in ({}, {"append": True}, {"again": True}):
        with pytest.raises(DataError, match=r"noisy\.csv: is gone, but noisy\.csv\.guarantee\.js"):
            put(A1, sampler=Halted(), **options)


@pytest.mark.parametrize(
    "options",
    [
        {"columns": CountColumns("hospital", "week", "covid")},
        {"noise": CountNoise(Decimal("0.5"), Decimal(2))},
    ],
)
def test_other_columns_or_sensitivities_are_not_appended(put, options):
    put(A1)
    with pytest.raises(DataError, match="other columns or another count sensitivity"):
        put(A2, append=True, sampler=Halted(), **options)


@pytest.mark.parametrize("options", [{}, {"append": True}, {"again": True}])
def test_one_bad_row_leaves_everything_as_it_was(put, options):
    put(A1)
    Path("noisy.csv").rename("kept.csv")
    Path("noisy.csv.guarantee.json").rename("kept.json")
    before = files()
    with pytest.raises(DataError, match="line 4"):
        put(A1, A2, ("B", "2021-01-08", "-1"), sampler=Halted(), **options)
    assert files() == before


@pytest.mark.parametrize("failing", ["write_json", "sha256"])
def test_a_failure_while_writing_leaves_nothing(put, monkeypatch, failing):
    def fail(*_):
        raise OutputError("the disk is full")

    monkeypatch.setattr(module, failing, fail)
    with pytest.raises(OutputError):
        put(A1)
    assert files() == {}


def test_no_output_is_without_its_record(put, monkeypatch):
    """At any time: when the record is written, the output is not there yet."""
    seen = []
    write = module.write_json
    monkeypatch.setattr(
        module, "write_json", lambda *a: (seen.append(Path("noisy.csv").exists()), write(*a))
    )
    put(A1)
    assert seen == [False]


def test_an_output_that_cannot_be_is_refused_before_noise_is_drawn(put, folder):
    table = folder / "counts.csv"
    table.write_text("hospital,week,covid,beds\nA,2021-01-01,3,20\n")

    def refused(output, error=DpolError):
        with pytest.raises(error) as caught:
            release(table, Path(output), WITH_BEDS, HALF, Halted())
        return str(caught.value)

    (folder / "folder.csv").mkdir()
    assert "exists already" in refused("folder.csv")
    assert "choose a name that ends in .csv" in refused("noisy.csv.gz")
    assert "is a file, not a folder" in refused("counts.csv/noisy.csv")
    assert "exists already" in refused("counts.csv")


def test_plain_words(put):
    put(A1)
    text = "\n".join(describe(put(A1, noise=CountNoise(Decimal("1.2")), again=True), 1e-5))
    for words in (
        "noisy.csv: noisy rows added: 1, in all 2. The guarantee is recorded in noisy.csv.guar",
        "standard deviation 1.179 persons",
        "with mu = 1.3, that is epsilon = 5.948 at delta = 1e-05",
        "is right at most 74.2% of the time after",
        "Of one entity's numbers alone: mu = 0.9192",
        "2.6 for 4 periods",
        "may be negative",
        "That you report",
    ):
        assert words in text
    assert record_of(Path("a/b.csv")) == Path("a/b.csv.guarantee.json")
