"""The page of a decision."""

from __future__ import annotations

import datetime
import re
from html.parser import HTMLParser

import pytest

from dpol_weekly.coordinator.decide import decision_page
from dpol_weekly.coordinator.settings import Coordination

TODAY, CURRENT = datetime.date(2026, 1, 25), datetime.date(2026, 1, 23)
WEEK = datetime.timedelta(7)


def outlook(number, **facts):
    about = {"rank": number + 1, "score": 0.4 - 0.01 * number, "named": number == 0, "silent": 0}
    seen = {"noisy_count": 80.0 - 2 * number, "noise": 2.83, "last_report": "2026-01-16"}
    seen |= {"capacity": 200.0}
    return {"entity": f"e{number}", "title": f"Hospital {number}"} | about | seen | facts


def page_of(*outlooks, today=TODAY, **coordination):
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
            "today": str(today),
            "current": str(CURRENT + (today - CURRENT) // WEEK * WEEK),
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


@pytest.mark.parametrize(("day", "late"), [(22, False), (29, False), (30, True)])
def test_a_period_that_is_past_is_said_to_be(day, late):
    page = shown(today=datetime.date(2026, 1, day))
    told = "This period is past. A decision about the period from 2026-01-30 needs newer reports."
    assert (told in page) == late


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


LONG = "University Medical Center Bernalillo-Sandoval, Department of Infectious Diseases (North)"


class Seen(HTMLParser):
    """The elements of a page, and the open ones."""

    def __init__(self):
        super().__init__()
        self.elements, self.open = [], []

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in ("meta", "link"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_a_page_is_self_contained_and_nothing_in_it_is_active():
    """Titles are text of others."""
    titles = LONG, "Éire's <i>new</i> & small", '"><script>alert(1)</script>'
    page = page_of(*[outlook(k, title=titles[k % 3], silent=k % 2) for k in range(9)])
    seen = Seen()
    seen.feed(page)
    assert seen.open == []
    tags = {tag for tag, _ in seen.elements}
    assert not tags & {"script", "img", "iframe", "object", "embed", "form", "base", "i"}
    policy = [it["content"] for _, it in seen.elements if "http-equiv" in it]
    assert policy == ["default-src 'none'; img-src data:; style-src 'unsafe-inline'"]
    for tag, attributes in seen.elements:
        assert not [name for name in attributes if name.startswith("on") or name == "src"]
        link = attributes.get("href", "data:,")
        assert re.fullmatch(r"data:,|decisions/\d{4}-\d\d-\d\d\.json", link), tag
    assert "url(" not in page
