"""The page of a decision."""

from __future__ import annotations

import re

from dpol_weekly.coordinator.decide import decision_page
from dpol_weekly.coordinator.settings import Coordination


def outlook(number, **facts):
    about = {"rank": number + 1, "score": 0.4 - 0.01 * number, "named": number == 0, "silent": 0}
    seen = {"noisy_count": 80.0 - 2 * number, "noise": 2.83, "last_report": "2026-01-16"}
    seen |= {"capacity": 200.0}
    return {"entity": f"e{number}", "title": f"Hospital {number}"} | about | seen | facts


def page_of(*outlooks, **coordination):
    outlooks = outlooks or tuple(map(outlook, range(4)))
    return decision_page(
        {
            "deployment": "nm",
            "period": "2026-01-23",
            "last_period": "2026-01-16",
            "rule": "window-mean",
            "outlooks": outlooks,
            "coordination": Coordination(**coordination).model_dump(),
            "dpol": "0.1.0",
            "reports": 12,
            "line": 7,
            "head": "b" * 64,
            "today": "2026-01-25",
            "current": "2026-01-23",
        }
    )


def shown(*outlooks, **options):
    """Text of a page without tags, as a reader sees it."""
    page = re.sub(r"<style>.*?</style>|<[^>]+>", " ", page_of(*outlooks, **options), flags=re.S)
    return re.sub(r"\s+", " ", page)


def test_it_says_where_by_which_rule_and_what_was_reported():
    page = shown(question={"of": "count", "bound": 1000, "min_capacity": 50})
    assert (
        "nm, period from 2026-01-23. Page made on 2026-01-25, in the period from 2026-01-23. Send"
        " help to Hospital 0 The rule window-mean chose from 12 noisy reports up to the period from"
        " 2026-01-16: the largest number of people, of those with at least 50 beds. Do not" in page
    )
    assert re.findall(r"Hospital (\d) ", page[page.index("Do not") :]) == ["0", "1", "2", "3"]
    assert "Hospital 3 , last report, of 2026-01-16: 74 ± 6 people in 200 beds, 37% ± 3" in page
    assert f"It rests on line 7 of accepted.jsonl , with the SHA-256 {'b' * 64} :" in page
    assert "Call" not in page


NEVER = {"noisy_count": None, "noise": None, "capacity": None, "last_report": None}


def test_named_ones_come_first_and_those_outside_the_choice_last_silent_ones_are_called():
    others = outlook(1, rank=None, score=None, silent=1), outlook(2, silent=4)
    never = outlook(3, silent=6, rank=None, score=None, **NEVER)
    page = shown(*others, never, outlook(4), outlook(5, rank=2, named=True), outlook(0))
    assert "Send help to Hospital 0, Hospital 5 The" in page
    told = "Call Hospital 3: never reported. Call Hospital 2: no report for 4 periods. Call Hospi"
    assert told in page
    listed = page[page.index("Call") + len(told) :]
    found = re.findall(r"Hospital (\d) (\(named\)|\(not in)?", listed)
    assert found == [("0", "(named)"), ("5", "(named)"), ("2", ""), ("4", ""), ("1", "(not in")]


def test_a_page_is_self_contained_and_nothing_in_it_is_active():
    """Titles are text of others."""
    titles = "Éire's <i>new</i> & small", '"><script>alert(1)</script>'
    page = page_of(*[outlook(k, title=titles[k % 2], silent=k % 2) for k in range(9)])
    tags = {*re.findall(r"<([a-z]\w*)", page)}
    assert not tags & {"script", "img", "iframe", "object", "embed", "form", "base", "i"}
    assert "default-src 'none'; img-src data:; style-src 'unsafe-inline'" in page
    assert not re.search(r"<[^>]* (on\w+|src)=|url\(", page)
    assert {*re.findall('href="(.*?)"', page)} == {"data:,", "decisions/2026-01-23.json"}
