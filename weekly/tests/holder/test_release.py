from __future__ import annotations

import hmac
import itertools
import threading
from pathlib import Path
from unittest.mock import ANY

import pytest

from dpol.noise.keyed import discrete_gaussian
from dpol_weekly.holder import ledger as ledger_module
from dpol_weekly.holder import release as release_module
from dpol_weekly.holder.agreement import NotConfirmedError
from dpol_weekly.holder.drawn import noisy
from dpol_weekly.holder.release import release
from dpol_weekly.holder.request import Request
from dpol_weekly.holder.text import describe
from dpol_weekly.keys import Key, make_key, make_secret, verify
from dpol_weekly.records import signed_text
from dpol_weekly.released.row import Released
from releases import (
    A1,
    A2,
    B1,
    KEYS,
    NOISY,
    USUAL,
    ask,
    deployment,
    files,
    hospital,
    output,
    put,
    record,
    refuse,
    table,
)


@pytest.mark.parametrize(("sensitivity", "scale"), [(1, 2_828_429), (3, 8_485_283)])
def test_the_output_holds_every_row_with_its_own_noise(sensitivity, scale):
    """Of scale sqrt(2) s / mu, in steps of a millionth, and one step more, rounded up."""
    made = deployment(count_sensitivity=sensitivity)
    done = put(A1, A2, B1, made=made)
    rows, secret, seen = output(), Path("dpol.secret").read_bytes(), set()
    assert list(rows[0]) == [*Released._fields]
    for row, (*key, count) in zip(rows, (A1, B1, A2), strict=True):
        fields = ["dpol discrete Gaussian 1", "d", made.lasting_sha256(), scale, 6, *key, 7, 1]
        texts = [str(it).encode() for it in [*fields, round(float(count) * 10**6)]]
        message = b"".join(len(it).to_bytes(8) + it for it in texts)
        draw = discrete_gaussian(hmac.digest(secret, message, "sha512"), scale)
        seen.add(draw)
        noisy = float(count) + draw / 10**6
        assert float(row["noisy_count"]) == pytest.approx(noisy, abs=1e-12)
        assert [row[name] for name in ("entity", "period", "capacity")] == [*key, "20"]
    assert (done.added, len(seen)) == (3, 3)


def test_a_release_states_nothing_that_could_be_false():
    """Rows, the hash of the agreement, ids, and a key; numbers of runs would tell of others."""
    made = deployment(count_sensitivity=3)
    put(A1, B1, made=made)
    stated = record()
    assert stated == {
        "dpol_release": 3,
        "agreement": made.sha256(),
        "ledger": {"id": ANY, "output": ANY},
        "rows": [[*A1[:2], ANY, "20"], [*B1[:2], ANY, "20"]],
        "key": Key(Path("dpol.key")).public,
        "signature": ANY,
    }
    assert verify(stated["key"], stated["signature"], signed_text(stated))


def test_no_other_part_of_a_release_is_a_function_of_a_count(monkeypatch):
    """Two tables that differ in a count, a key and a secret, and the same random ids."""
    make_key(Path("dpol.key"))
    make_secret(Path("dpol.secret"))
    own, stated, names = {"key": "dpol.key", "secret": "dpol.secret"}, [], []
    for name, count in (("a", "3"), ("b", "4"), ("c", "3")):
        ids = (f"{number:016x}" for number in itertools.count())
        monkeypatch.setattr(ledger_module, "new_id", lambda ids=ids: next(ids))
        put(("A", A1[1], count), B1, to=Path(name, "noisy"), ledger=Path(name, "l"), own=own)
        stated.append(record(Path(name, "noisy")))
        names.append(sorted(it.name for it in Path(name).rglob("*")))
    assert names[0] == names[1]
    assert stated[0] == stated[2]
    assert {key for key in stated[0] if stated[0][key] != stated[1][key]} == {"rows", "signature"}
    assert stated[0]["rows"][1] == stated[1]["rows"][1]


def test_the_order_of_the_table_is_not_released():
    """A table may be sorted by its counts."""
    make_secret(Path("dpol.secret"))
    seen = set()
    for number, rows in enumerate(itertools.permutations([A1, A2, B1])):
        place, own = Path(f"{number}"), {"secret": "dpol.secret"}
        put(*rows, to=place / "noisy", ledger=place / "ledger.sqlite", own=own)
        seen.add(str(table(Path(f"{number}/noisy"))))
    assert len(seen) == 1


def test_a_period_is_not_released_twice():
    put(A1, B1)
    before = files()
    assert put(A1, B1, halted=True).skipped == 2
    alone = {"entities": ["A"]}
    message = r"A, 2021-01-01: was released in the files d-\*.json; keep these"
    refuse(message, A2, A1, to=Path("b"), own=alone)
    assert files() == before


def test_a_late_period_is_released_when_it_comes():
    made = deployment()
    put(A1, A2, made=made)
    assert put(A1, A2, B1, made=made).added == 1
    late = ("C", "2021-01-08", "1")
    put(late, made=made, split=True)
    assert put(A1, ("C", "2021-01-15", "2"), late, made=made, split=True).added == 1


def test_of_two_releases_at_the_same_moment_none_is_lost(monkeypatch):
    """The second begins while the first draws its noise."""

    def add(week):
        raw = Path(f"{week}.csv")
        raw.write_text(f"hospital,week,covid,beds\nA,{week},3,20\n")
        own = hospital(USUAL, raw)
        release(Request(hospital=own, deployment=USUAL, agree=USUAL.sha256(), in_person=True))

    second = threading.Thread(target=add, args=("2021-01-08",))

    def interrupted(*of):
        monkeypatch.setattr(release_module, "noisy", noisy)
        second.start()
        second.join(0.3)
        return noisy(*of)

    monkeypatch.setattr(release_module, "noisy", interrupted)
    add("2021-01-01")
    second.join()
    assert [row["period"] for row in output()] == ["2021-01-01", "2021-01-08"]
    assert ask("SELECT COUNT(*) FROM release GROUP BY run") == [(1,), (1,)]


def test_an_agreement_of_a_known_name_amends_one_of_the_ledger_or_is_refused():
    """Nothing but the amendment's rules, whatever the agreement is called.

    Where everybody takes another amendment of the same agreement instead, so does this ledger.
    """
    put(A1)
    other = deployment(mu=0.4)
    refuse("is another agreement than d .* and does not amend it", A1, made=other)
    amends = {"agreement": USUAL.sha256(), "since": "2021-01-15"}
    copied = deployment(name="d-2025", mu=0.4, amends=amends)
    refuse("(?s)name: must stay as it was.*mu: must stay as it was", A1, A2, made=copied)
    more = {"B1": {"since": "2021-01-15"}}
    one = deployment(entities=KEYS["entities"] | more, amends=amends)
    put(A1, A2, made=one)
    fork = deployment(entities=KEYS["entities"] | {"C1": more["B1"]}, amends=amends)
    own = hospital(fork)
    with pytest.raises(NotConfirmedError) as question:
        release(Request(hospital=own, deployment=fork))
    assert "\n  -   B1: {capacity: reported, since: '2021-01-15'}\n" in question.value.statement
    assert put(A1, A2, made=fork, halted=True).skipped == 2
    later = amends | {"agreement": "0" * 64}
    unknown = deployment(entities=KEYS["entities"], amends=later)
    refuse("does not amend it. Take that one, or the amendments between", A1, A2, made=unknown)
    assert ask("SELECT COUNT(*) FROM release") == [(2,)]


def test_two_deployments_of_one_hospital_have_an_output_each():
    own = {"entities": ["A"]}
    for number, name in enumerate(("d", "e", "d", "e")):
        rows = A1, A2, ("A", "2021-01-15", "4")
        put(*rows[: 1 + number // 2], made=deployment(name=name), own=own)
    found = sorted(file.name for file in NOISY.iterdir())
    days = "2021-01-01.json", "2021-01-08.json"
    assert found == [f"{name}-A-{day}" for name in "de" for day in days]
    assert record(NOISY / "e-A-2021-01-08.json")["agreement"] == deployment(name="e").sha256()


def test_a_place_for_files_is_of_one_agreement():
    put(A1, made=deployment(name="x-A"))
    own = {"entities": ["A"]}
    message = "x-A: files of the deployment x-A begin so in this ledger; give the other deployment"
    refuse(message, A1, made=deployment(name="x"), own=own)


def test_an_output_that_cannot_be_is_refused_before_noise_is_drawn():
    refuse("is a file, not a folder", A1, to="counts.csv")


def test_plain_words():
    done = put(B1, to="x", ledger="x/new")
    text = describe(done, USUAL)
    assert text[0] == "x/d-2021-01-01.json: 1 row released for 2021-01-01, mu = 0.5 each."
    assert "a person who stays 8 periods has a mu of at most 1.415" in text[2]
    assert "by at most 0.001 and stays" in describe(done, deployment(count_sensitivity=0.001))[2]
    assert text[3].startswith("x/new is new. It remembers every release")
    assert len(describe(put(B1, to="x", ledger="x/new"), USUAL)) == 1
    other = put(B1, to="y", ledger="x/new", made=deployment(name="e"))
    text = describe(other, USUAL)
    assert text[1].startswith("Send a copy of this file to the coordinator: it holds all rows")
    assert "has a mu of at most 2. The budget of 100 holds, also for people who move" in text[2]
