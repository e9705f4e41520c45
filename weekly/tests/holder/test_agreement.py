"""Nothing leaves under an agreement that the holder has not confirmed, and its words say it all."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from dpol_weekly.deployment import checked_deployment, read_deployment
from releases import COLUMNS, NOISY, own_file, run

PLAIN = {
    "name": "winter",
    "periods": {"first": "2024-01-07"},
    "entities": {"A": {"capacity": 20}, "B": {}},
    "mu": 0.5,
    "longest_stay": 8,
    "budget_mu": 1.42,
    "affirmed": True,
}
ROWS = "A,2024-01-07,73519.25,20,11\nB,2024-01-07,4,100,12\n"
RAW = "73519"
PRIVATIZE = "privatize", "hospital.yaml"


@pytest.fixture(autouse=True)
def usual_rows(anywhere):
    table(ROWS)


def table(rows):
    Path("raw.csv").write_text("hospital,week,covid,beds,icu\n" + rows)


def agreed(columns=None, **keys):
    """A deployment, written to its file, and the file of the holder."""
    made = checked_deployment(PLAIN | keys, "the test")
    Path("d.yaml").write_text(yaml.safe_dump(PLAIN | keys))
    own(columns)
    return made


def own(columns=None, **more):
    names = {name: name for name in "AB"}
    own_file(table="raw.csv", columns=COLUMNS | (columns or {}), entities=names, **more)


def asked(*more):
    """The text of a run that releases nothing and asks for the agreement; it names the hash."""
    before = sorted(NOISY.glob("*"))
    code, out, err = run(*PRIVATIZE, *more)
    sha256 = read_deployment("d.yaml").sha256()
    head, rest = err.split("\n\n", 1)
    assert (code, out, sorted(NOISY.glob("*"))) == (1, "", before)
    assert head.startswith("error: nothing was released: the agreement ")
    assert head.endswith(f"Read what it says; dpol privatize FILE --agree {sha256} confirms it.")
    return rest


def confirmed(*more):
    """The text of a run that confirms the agreement, as it is now, by its hash."""
    code, out, err = run(*PRIVATIZE, "--agree", read_deployment("d.yaml").sha256(), *more)
    assert (code, "error" not in err) == (0, True)
    return out


# ---- what is hashed, and what is the coordinator's ----------------------------------------------

TERMS = [
    {"name": "summer"},
    {"periods": {"first": "2024-01-14"}},
    {"periods": {"first": "2024-01-07", "days": 14}},
    {"entities": PLAIN["entities"] | {"C": {}}},
    {"entities": {"A": {"capacity": 21}, "B": {}}},
    {"entities": {"A": {"capacity": 20, "since": "2024-01-14"}, "B": {}}},
    {"entities": {"A": {"capacity": 20, "until": "2025-01-12"}, "B": {}}},
    {"mu": 0.4},
    {"count_sensitivity": 0.9},
    {"second_release": {"after": 4}},
    {"counted_by": 2},
    {"longest_stay": 7},
    {"budget_mu": 9.5},
    {"amends": {"agreement": 64 * "a", "since": "2024-03-03"}},
]
OTHERS = [
    {"entities": {"B": {}, "A": {"capacity": 20.0}}},
    {"count_sensitivity": 1, "periods": {"first": "2024-01-07", "days": 7}},
]


def test_the_hash_covers_what_touches_the_guarantee_and_nothing_else():
    def sha256(keys):
        return checked_deployment(PLAIN | {"budget_mu": 9} | keys, "x").sha256()

    assert len({sha256(it) for it in [{}, *TERMS]}) == len(TERMS) + 1
    assert {sha256(it) for it in OTHERS} == {sha256({})}


# ---- the question -------------------------------------------------------------------------------


def test_only_the_whole_hash_confirms():
    whole, message = agreed().sha256(), "is not the hash of the agreement winter, all 64 digits"
    for agree in ("f" * 64, "-", whole[:-1], whole[:12], whole[:-1] + "fe"[whole[-1] == "f"]):
        assert message in run(*PRIVATIZE, f"--agree={agree}")[2]
    assert run(*PRIVATIZE, "--agree", whole.upper())[0] == 0
    agreed(name="summer", budget_mu=9)
    assert "The agreement summer says what leaves" in asked()  # where there are releases too


def test_the_statement_begins_with_the_noise_and_the_worst_stay():
    agreed()
    first, _, *rest = asked().splitlines()
    assert first == (
        "Noise on each count: a standard deviation of 2.828 people. Worst stay: about a person who"
        " is counted in 8 periods, a guess is right at most 76.2 times in 100."
    )
    text = "\n".join(rest)
    said = [
        "mu = 0.5 for one release of one count, and at most 1.42 for the longest stay",
        "all 52 periods of a year, as in long-term care, mu is 3.606 by releases",
        "a guess is right at most 96.5 times in 100",
        "for a person who changes one count by at most 1.\n",
        "Second release: none; a period that was released stays as it was released",
        "Noise: column covid gets it, each count anew. No other column does.",
        "identifiers of your entities, and every cell of week, beds.",
        "Column beds is published as the capacity.",
        "one person adds at most 1 to one count, and at most as much to all counts of a period",
        "stays with one of them in all releases of a period",
        "have it approved as your hospital requires",
        "Whatever else your key has released is added up",
    ]
    assert [words for words in said if words not in text] == []
    assert text.count("times in 100") == 1
    assert RAW not in text
    # Where no capacity is reported, none of that column's cells is published.
    agreed(entities={"A": {"capacity": 20}, "B": {"capacity": 9}}, budget_mu=9)
    text = asked()
    assert "every cell of week." in text
    assert "Second release: none; a period that was released stays as it was" in text


def test_with_a_sensitivity_below_1_the_first_line_is_about_a_person_counted_in_full():
    agreed(count_sensitivity=0.001)
    text = asked()
    assert "a guess is right at most 100 times in 100" in text.splitlines()[0]
    assert "changes one count by at most 0.001. The first line is about a person who is" in text
    assert text.count("at most 100 times in 100") == 2


def test_an_agreement_is_asked_for_once_and_again_when_it_changes():
    """An amendment changes nothing but entities."""
    agreed()
    assert "Beginning: every period of the table may be released." in asked()
    first = confirmed()
    assert first.count("2 rows released") == 1
    assert "The agreement" not in run(*PRIVATIZE)[1]
    before = read_deployment("d.yaml").sha256()
    joins = {"C": {"since": "2024-01-14"}}
    agreed(entities=PLAIN["entities"] | joins, amends={"agreement": before, "since": "2024-01-14"})
    text = asked()
    assert "The agreement winter has changed since you confirmed it:\n" in text
    assert "  +   C: {capacity: reported, since: '2024-01-14'}\n" in text
    assert "Beginning" not in text
    assert "0 rows released" in confirmed()
    assert "The agreement" not in run(*PRIVATIZE)[1], "a release without new rows confirms it too"


def test_a_line_in_the_holders_file_confirms_what_has_no_rows_yet():
    agreed()
    table("A,2024-01-14,5,20,13\n")
    sha256 = read_deployment("d.yaml").sha256()
    own(agreed=sha256)
    assert run(*PRIVATIZE)[0] == 0


def test_rows_that_are_refused_come_before_the_question():
    agreed()
    table(ROWS + "A,2024-01-08,1,1,1\n")
    assert "line 4: no period begins on its date" in run(*PRIVATIZE)[2]
    assert not NOISY.exists()


# ---- columns in clear, names --------------------------------------------------------------------


def test_a_raw_column_does_not_leave_as_a_capacity():
    agreed({"count": "icu", "capacity": "covid"})
    text = asked()
    assert "every cell of week, covid." in text
    assert "Column covid is published as the capacity. If it holds counts of people, or an" in text
