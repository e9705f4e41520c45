"""The page of decisions."""

from __future__ import annotations

import dataclasses
import datetime
import re
from html.parser import HTMLParser

import pytest

from dpol.data.question import Gain
from dpol_weekly.coordinator.decision import Decision, Outlook
from dpol_weekly.coordinator.evidence import SetAside, Spent
from dpol_weekly.coordinator.page import SHOWN, decisions_page, write_page
from dpol_weekly.coordinator.settings import Coordination

SPENT = Spent(
    mu=0.5,
    count_sensitivity=1.0,
    mu_of_stay=1.4143,
    longest_stay=8,
    budget_mu=1.5,
    above_budget=(),
    corrections=0,
)
TODAY = datetime.date(2026, 1, 25)


def outlook(number, **facts):
    about = {"rank": number + 1, "score": 0.4 - 0.01 * number, "named": number == 0, "silent": 0}
    seen = {"noisy_count": 80.0 - 2 * number, "noise": 2.83, "last_report": "2026-01-16"}
    seen |= {"capacity": 200.0, "reports": 5}
    return Outlook(**{"entity": f"e{number}", "title": f"Hospital {number}"} | about | seen | facts)


def decision(*outlooks, **facts):
    outlooks = outlooks or tuple(map(outlook, range(4)))
    known = {
        "deployment": "nm",
        "deployment_sha256": "a" * 64,
        "period": "2026-01-23",
        "last_period": "2026-01-16",
        "rule": "window-mean",
        "named": tuple(it.entity for it in outlooks if it.named),
        "spent": SPENT,
        "coordination": Coordination(),
        "dpol": "0.1.0",
        "releases": 12,
        "set_aside": (),
        "log_head": "b" * 64,
    }
    return Decision(**known | facts, outlooks=outlooks)


def text_of(page):
    """Text of a page without tags, as a reader sees it."""
    return re.sub(r"\s+", " ", re.sub(r"<style>.*?</style>|<[^>]+>", " ", page, flags=re.DOTALL))


def shown(*outlooks, earlier=(), today=TODAY, **facts):
    return text_of(decisions_page(decision(*outlooks, **facts), earlier, today=today))


def test_it_says_where_by_which_rule_what_was_reported_and_what_it_costs():
    page = shown()
    assert (
        "nm · week of 23 January 2026 · page made on 25 January 2026, in the week of 23 January"
        " 2026 Send help to Hospital 0" in page
    )
    assert "The rule window-mean chose from 12 noisy reports up to the week of 16 January" in page
    assert "the largest share of beds taken. Do not decide from single reports" in page
    listed = page[page.index("All hospitals") :]
    assert re.findall(r"Hospital (\d)", listed) == ["0", "1", "2", "3"]
    assert "Hospital 3 last report, of 16 January 2026: 74 ± 6 people in 200 beds, 37% ± 3" in page
    # Phi(0.25) and Phi(0.70715), rounded up.
    assert "guesses right at most 59.9 times in 100" in page
    assert "μ is at most 1.42 in all releases of this deployment so far: at most 76.1 times" in page
    assert f"Head of the log: {'b' * 64} ." in page
    assert "Call" not in page


def test_guesses_are_about_a_patient_who_is_counted_in_full():
    fine = shown(spent=dataclasses.replace(SPENT, count_sensitivity=0.001))
    assert (
        "μ = 0.5 for a patient counted in one week, who changes a count by at most 0.001." in fine
    )
    assert fine.count("at most 100 times in 100") == fine.count("times in 100") == 2
    week = shown(spent=dataclasses.replace(SPENT, count_sensitivity=7.0))
    assert "who changes a count by at most 7." in week
    assert "guesses right at most 59.9 times in 100" in week


@pytest.mark.parametrize(("day", "late"), [(22, False), (29, False), (30, True)])
def test_a_week_that_is_past_is_said_to_be(day, late):
    page = shown(today=datetime.date(2026, 1, day))
    assert f"page made on {day} January 2026, in the week of" in page
    told = "This week is past. Newer reports are needed for a decision about the week of 30 January"
    assert (told in page) == late


def test_several_are_named():
    page = shown(*[outlook(k, named=k < 3) for k in range(4)])
    assert "Send help to Hospital 0, Hospital 1 and Hospital 2" in page
    assert page.count("(named)") == 3


def test_who_is_silent_is_named_with_how_long():
    never = {"noisy_count": None, "noise": None, "capacity": None, "last_report": None}
    outlooks = (
        *(outlook(0), outlook(1, silent=1), outlook(2, silent=4)),
        outlook(3, silent=6, reports=0, rank=None, score=None, **never),
    )
    earlier = decision(outlook(2, named=True), outlook(1), period="2026-01-16")
    page = shown(*outlooks, earlier=[earlier])
    told = "Call Hospital 3 (never reported), Hospital 2 (no report for 4 weeks), Hospital 1 (no"
    assert told in page
    assert "Hospital 3" not in page[page.index("All hospitals") :]
    assert "16 January 2026 : Hospital 2" in page


def test_who_is_not_in_the_choice_is_last_and_marked():
    others = [outlook(k, rank=None, score=None) for k in (1, 2)]
    page = shown(outlook(0), *others, outlook(3))
    listed = page[page.index("All hospitals") :]
    assert re.findall(r"Hospital (\d)", listed) == ["0", "3", "1", "2"]
    assert listed.count("not in the choice") == 2


def test_of_many_entities_the_first_are_shown():
    page = decisions_page(decision(*[outlook(number) for number in range(SHOWN + 5)]), today=TODAY)
    assert page.count("<li>") == SHOWN


def test_a_question_of_counts_is_said():
    asked = Coordination(question=Gain(of="count", bound=1000, min_capacity=50))
    page = shown(coordination=asked)
    assert "the largest number of people, of those with at least 50 beds." in page


def test_what_is_above_the_budget_and_set_aside_is_listed_up_to_a_length():
    above = [("e1", f"2026-01-{k:02}") for k in range(1, 26)]
    aside = tuple(SetAside(entity="e2", period=it, version=1, reason="wrong") for _, it in above)
    page = shown(spent=dataclasses.replace(SPENT, above_budget=tuple(above)), set_aside=aside)
    assert "Above the budget of 1.5: Hospital 1 in 2026-01-01, Hospital 1 in 2026-01-02," in page
    assert "Hospital 1 in 2026-01-20 and 5 more." in page
    assert "25 releases should not have been collected" in page
    assert page.count("Hospital 2 for the period from") == 20
    assert "within the budget" not in page


@pytest.mark.parametrize("days", [7, 14])
def test_it_is_replaced_as_a_whole(tmp_path, days):
    path = tmp_path / "index.html"
    write_page(tmp_path, decision(), today=TODAY)
    start = f"2026-01-{16 + days}"
    write_page(tmp_path, decision(period=start), decision(), today=TODAY)
    word = "week" if days == 7 else "period"
    assert f"{word} of {16 + days} January 2026" in path.read_text()
    assert [file.name for file in tmp_path.iterdir()] == ["index.html"]


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

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_a_page_is_self_contained_and_nothing_in_it_is_active():
    """Titles and reasons are text of others."""
    titles = LONG, "Éire's <i>new</i> & small", '"><script>alert(1)</script>'
    outlooks = [outlook(k, title=titles[k % 3], silent=k % 2) for k in range(9)]
    aside = (SetAside(entity="e2", period="2026-01-16", version=1, reason=titles[2]),)
    last = decision(*outlooks, set_aside=aside)
    page = decisions_page(last, [last] * 3, today=TODAY)
    seen = Seen()
    seen.feed(page)
    assert seen.open == []
    tags = {tag for tag, _ in seen.elements}
    assert not tags & {"script", "img", "iframe", "object", "embed", "form", "base", "i"}
    policy = [it["content"] for _, it in seen.elements if "http-equiv" in it]
    assert policy == ["default-src 'none'; img-src data:; style-src 'unsafe-inline'"]
    allowed = r"data:,|decisions/\d{4}-\d\d-\d\d\.json"
    for tag, attributes in seen.elements:
        assert not [name for name in attributes if name.startswith("on") or name == "src"]
        assert re.fullmatch(allowed, attributes.get("href", "data:,")), tag
    assert "url(" not in page
    assert "@import" not in page
