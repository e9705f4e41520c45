from __future__ import annotations

import math
import threading
from decimal import Decimal
from pathlib import Path
from unittest.mock import ANY

import numpy as np
import pytest

from dpol.privacy.guarantee import ONE_PERSON, UNIT
from dpol.privacy.noise import SeededNoise
from dpol_weekly.holder.release import release
from dpol_weekly.holder.request import Choices, CountColumns, Request
from dpol_weekly.holder.text import describe
from dpol_weekly.holder.views import checksum
from dpol_weekly.noise import INTERVAL, CountNoise
from releases import (
    A1,
    A2,
    B1,
    HALF,
    NOISY,
    TWICE,
    WITH_BEDS,
    files,
    output,
    put,
    record,
    refuse,
)


def test_the_output_holds_every_row_with_its_own_noise():
    done = put(A1, A2, B1)
    draws = SeededNoise(np.random.default_rng(1)).discrete_gaussian(HALF.scale, 3)
    rows = output()
    assert list(rows[0]) == WITH_BEDS.output_header()
    for row, (*key, count), draw in zip(rows, (A1, A2, B1), draws, strict=True):
        noisy = float(count) + draw / 10**6
        assert float(row["noisy_count"]) == pytest.approx(noisy, abs=1e-12)
        assert float(row["noisy_share"]) == pytest.approx(noisy / 20, rel=1e-8)
        assert [row[name] for name in ("hospital", "week", "mu", "beds")] == [*key, "0.5", "20"]
    assert (done.added, done.rows) == (3, 3)


def test_without_a_capacity_there_is_no_share():
    put(A1, columns=CountColumns("hospital", "week", "covid"))
    (row,) = output()
    names = ["hospital", "week", "noisy_count", "mu", "count_sensitivity", *INTERVAL]
    assert list(row) == names
    assert row["noise_sd"] == "2.82843"
    assert (float(row["low"]) + float(row["high"])) / 2 == pytest.approx(
        float(row["noisy_count"]), abs=1e-3
    )


def test_the_record_says_what_is_guaranteed():
    done = put(A1, B1, noise=CountNoise(Decimal("0.5"), Decimal(3)))
    assert record() == {
        **done.guarantee.as_dict(),
        "dp_event": {
            "module_name": "dp_accounting.dp_event",
            "class_name": "GaussianDpEvent",
            "noise_multiplier": 2.0,
        },
        "mu_of_one_entity_alone": pytest.approx(0.5 / math.sqrt(2)),
        "file": "noisy.csv",
        "sha256": checksum(NOISY.read_bytes(), record()),
        "rows": 2,
        "mu_over_all_outputs": 0.5,
        "mu_levels": [{"mu": 0.5, "rows": 2}],
        "releases": [{"run": 1, "date": ANY, "rows": 2, "imported": False}],
        "ledger": {"id": ANY, "output": ANY, "run": 1, "token": ANY},
    }
    guarantee = done.guarantee
    assert (guarantee.mu, guarantee.model, guarantee.sampler) == (0.5, "local", "seeded")
    assert (guarantee.adjacency, guarantee.unit) == (ONE_PERSON, UNIT)
    assert guarantee.sensitivity == pytest.approx(3 * math.sqrt(2))
    assert guarantee.sensitivity_unit == "L2, persons"


def test_an_existing_output_is_not_overwritten():
    put(A1)
    before = files()
    refuse(r"noisy\.csv: exists already.* with --append", A2)
    assert files() == before


def test_further_periods_are_appended_and_do_not_add_up():
    put(A1, append=True)
    first = Path("noisy.csv").read_text()
    done = put(A2, B1, append=True)
    assert Path("noisy.csv").read_text().startswith(first)
    assert (done.added, done.rows, len(output())) == (2, 3, 3)
    assert done.guarantee.mu == record()["mu"] == 0.5


def test_names_that_need_quotes_can_be_appended_to():
    put(('"A, ""x"""', "2021-01-01", "3"))
    put(B1, append=True)
    refuse(TWICE, ('"A, ""x"""', "2021-01-01", "3"), append=True)
    assert [row["hospital"] for row in output()] == ['A, "x"', "B"]


def test_a_period_is_not_released_twice_unless_told():
    put(A1, B1)
    before = files()
    refuse(
        r"counts\.csv, line 3: noisy\.csv holds this entity and period already \(1 of 2 rows"
        r" are such\).* twice, mu becomes 0\.7072: leave them out, or add --again",
        A2,
        A1,
        append=True,
    )
    assert files() == before


def test_a_period_released_again_adds_up():
    """mu 0.5 twice is 0.7071, and with 1 as well 1.2247; another period does not change that."""
    put(A1, B1)
    assert put(A1, again=True).guarantee.mu == pytest.approx(math.sqrt(0.5))
    one = CountNoise(Decimal(1))
    refuse(r"mu becomes 1\.225", A1, B1, noise=one, append=True)
    assert put(A1, noise=one, again=True, change_noise=True).guarantee.mu == pytest.approx(
        math.sqrt(1.5)
    )
    assert put(A2, noise=one, append=True).guarantee.mu == pytest.approx(math.sqrt(1.5))
    assert record()["mu"] == pytest.approx(math.sqrt(1.5))
    assert record()["mu_of_one_entity_alone"] == pytest.approx(math.sqrt(0.75))
    assert [row["mu"] for row in output()] == ["0.5", "0.5", "0.5", "1", "1"]


def test_the_larger_mu_of_two_periods_counts():
    put(A1)
    assert put(A2, noise=CountNoise(Decimal(2)), append=True, change_noise=True).guarantee.mu == 2.0
    assert put(B1, append=True).guarantee.mu == 2.0


def test_of_two_releases_at_the_same_moment_none_is_lost():
    """The second begins while the first draws its noise."""

    def append(week, sampler):
        table = Path(f"{week}.csv")
        table.write_text(f"hospital,week,covid,beds\nA,{week},3,20\n")
        request = Request(table, NOISY, WITH_BEDS, HALF, choices=Choices(append=True))
        release(request, sampler)

    seeded = SeededNoise(np.random.default_rng(1))
    second = threading.Thread(target=append, args=("2021-01-08", seeded))

    class Interrupted:
        name = "seeded"

        def discrete_gaussian(self, scale, size):
            if size:
                second.start()
                second.join(0.3)
            return seeded.discrete_gaussian(scale, size)

    append("2021-01-01", Interrupted())
    second.join()
    assert [row["week"] for row in output()] == ["2021-01-01", "2021-01-08"]
    assert record()["rows"] == 2
    assert set(files()) == {
        *("noisy.csv", "noisy.csv.guarantee.json", "dpol-ledger.sqlite"),
        *("2021-01-01.csv", "2021-01-08.csv"),
    }


@pytest.mark.parametrize(
    "options",
    [
        {"columns": CountColumns("hospital", "week", "covid")},
        {"noise": CountNoise(Decimal("0.5"), Decimal(2))},
    ],
)
def test_other_columns_or_sensitivities_are_not_appended(options):
    put(A1)
    refuse("other columns or another count sensitivity", A2, append=True, **options)


@pytest.mark.parametrize(
    ("to", "message"),
    [
        ("folder.csv", "exists already, and is a folder"),
        ("noisy.csv.gz", "choose a name that ends in .csv"),
        ("counts.csv/noisy.csv", "is a file, not a folder"),
        ("counts.csv", "exists already, and is not known"),
    ],
)
def test_an_output_that_cannot_be_is_refused_before_noise_is_drawn(to, message):
    Path("folder.csv").mkdir()
    refuse(message, A1, to=to)


def test_plain_words():
    put(A1)
    done = put(A1, noise=CountNoise(Decimal("1.2")), again=True, change_noise=True)
    text = "\n".join(describe(done, 1e-5))
    for words in (
        "noisy.csv: 1 row added, 2 in all. The guarantee is recorded in noisy.csv.guarantee.json.",
        "standard deviation of 1.179 people",
        "right at most 74.3% of the time, compared with 50% without this table (mu = 1.3, epsilon"
        " = 5.949 at delta = 1e-05). The numbers of one entity alone have mu = 0.9193.",
        "counted in 4 periods, mu is 2.6 and a guess is right at most 90.4% of the time",
    ):
        assert words in text
    assert "over all outputs" not in text
    assert "is new" not in text
    new = put(B1, to="x/b.csv", ledger="x/new")
    assert "x/new is new" in describe(new, 1e-5)[-1]
    other = describe(put(B1, to="c.csv"), 1e-5)
    assert (
        "Some entity has mu = 1.3 in one period over all outputs of dpol-ledger.sqlite" in other[-1]
    )
