"""The page of decisions."""

from __future__ import annotations

import dataclasses
import re
from html.parser import HTMLParser

import pytest

from dpol.data.question import Gain
from dpol_weekly.coordinator.decision import Decision, Outlook
from dpol_weekly.coordinator.evidence import SetAside
from dpol_weekly.coordinator.page import SHOWN, bars, decisions_page, write_page
from dpol_weekly.coordinator.settings import Coordination
from dpol_weekly.coordinator.spent import AboveBudget, Spent

SPENT = Spent(
    mu=0.5,
    unit_weeks=1,
    mu_of_stay=1.4143,
    longest_stay=8,
    budget_mu=1.5,
    above_budget=(),
    corrections=0,
)


def outlook(number, **facts):
    share = 0.4 - 0.01 * number
    known = {"share": share, "low": share - 0.05, "high": share + 0.05}
    about = {"rank": number + 1, "named": number == 0, "missing": False, "reports": 5}
    seen = {"noisy_share": share + 0.1, "noise": 0.031, "last_report": "2026-01-16"}
    seen["capacity"] = 200.0
    return Outlook(
        **{"entity": f"e{number}", "title": f"Hospital {number}"} | known | about | seen | facts
    )


def decision(*outlooks, **facts):
    outlooks = outlooks or tuple(map(outlook, range(4)))
    known = {
        "deployment": "nm",
        "deployment_sha256": "a" * 64,
        "period": "2026-01-23",
        "last_period": "2026-01-16",
        "named": tuple(it.entity for it in outlooks if it.named),
        "spent": SPENT,
        "coordination": Coordination(),
        "randomness": "none",
        "dpol": "0.1.0",
        "releases": 12,
        "read": {"e0": "0-3"},
        "set_aside": (),
        "log_sha256": "b" * 64,
    }
    return Decision(**known | facts, outlooks=outlooks)


def text_of(page):
    """Text of a page without tags, as a reader sees it."""
    return re.sub(r"\s+", " ", re.sub(r"<style>.*?</style>|<[^>]+>", " ", page, flags=re.DOTALL))


def test_it_says_who_is_chosen_how_sure_and_what_it_costs():
    shown = text_of(decisions_page(decision(), ()))
    assert "Hospital 0 predicted share 40.0%, 90% interval 35.0% to 45.0%" in shown
    assert "Hospital 3 37.0% 32.0% to 42.0% 47.0% ± 3.1 2026-01-16" in shown
    # Phi(0.25) and Phi(0.70715), rounded up.
    assert "μ = 0.5: " in shown
    assert "at most 59.9% of the time" in shown
    assert "μ is at most 1.42 in all releases so far, and a guess is right at most 76.1%" in shown
    assert "Did not report" not in shown


def test_who_did_not_report_and_earlier_decisions_are_named():
    outlooks = outlook(0), outlook(1, missing=True), outlook(2, missing=True)
    earlier = decision(outlook(2, named=True), outlook(1), period="2026-01-16")
    shown = text_of(decisions_page(decision(*outlooks), [earlier]))
    assert "Did not report for the period from 2026-01-16 Hospital 1 Hospital 2 Their" in shown
    assert "2026-01-16 Hospital 2 What" in shown


def test_an_algorithm_without_a_prediction_names_its_choice():
    unknown = {"rank": None, "share": None, "low": None, "high": None}
    outlooks = [outlook(number, **unknown) for number in range(3)]
    shown = text_of(decisions_page(decision(*outlooks), ()))
    assert "Hospital 0 Decided from noisy reports" in shown
    assert "empirical-bayes predicts no shares" in shown
    assert "Predicted" not in shown
    never = outlook(3, **unknown, reports=0, noisy_share=None, noise=None, last_report=None)
    assert "Hospital 3" not in text_of(decisions_page(decision(*outlooks, never), ()))


def test_who_left_is_shown_and_not_ranked():
    gone = {"rank": None, "reports": 5}
    shown = text_of(decisions_page(decision(outlook(0), outlook(1), outlook(2, **gone)), ()))
    assert "Hospital 2 takes part no longer" in shown
    assert shown.count("takes part no longer") == 1


def test_of_many_entities_the_first_are_shown():
    outlooks = [outlook(number) for number in range(SHOWN + 5)]
    page = decisions_page(decision(*outlooks), ())
    assert page.count('<th scope="row">') == SHOWN
    assert "decisions/2026-01-23.csv has all" in text_of(page)


@pytest.mark.parametrize("title", ["<script>alert(1)</script>", "A & B", '"><img src=x>'])
def test_titles_are_text(title):
    page = decisions_page(decision(outlook(0, title=title), outlook(1)), ())
    opened = []
    parser = HTMLParser()
    parser.handle_starttag = lambda tag, attrs: opened.append(tag)
    parser.feed(page)
    assert not {"script", "img"} & set(opened)


def test_it_is_self_contained_and_replaced_as_a_whole(tmp_path):
    path = write_page(tmp_path, decision())
    write_page(tmp_path, dataclasses.replace(decision(), period="2026-01-30"))
    page = path.read_text()
    assert "Decision for the period from 2026-01-30" in page
    assert not re.findall(r'(?:src|href)="(?!data:)', page)
    assert [it.name for it in tmp_path.iterdir()] == ["index.html"]


def test_a_question_of_counts_is_shown_in_counts():
    asked = Coordination(question=Gain(of="count", bound=1000, min_capacity=50))
    small = outlook(2, rank=None, share=0.5, low=0.4, high=0.6, capacity=20.0)
    shown = text_of(decisions_page(decision(outlook(0), outlook(1), small, coordination=asked), ()))
    assert (
        "Which entity of those with a capacity of at least 50 will have the largest count?" in shown
    )
    assert "Hospital 0 predicted count 80.0, 90% interval 70.0 to 90.0" in shown
    assert "Hospital 2 not asked about 10.0 8.0 to 12.0" in shown
    assert "%" not in shown[shown.index("Ranking") : shown.index("Predicted count:")].replace(
        "90%", ""
    )


def test_bars_reach_as_far_as_the_highest_interval():
    outlooks = [outlook(number, low=-0.1) for number in range(4)]
    assert bars(outlooks)[0][:2] == (0, 160), "cut off at 0, and the highest fills the width"
    for it, (_, *ends) in zip(outlooks, bars(outlooks), strict=True):
        assert ends == pytest.approx([160 * it.high / 0.45, 160 * it.share / 0.45], abs=0.05)


def test_what_is_above_the_budget_and_set_aside_is_listed_up_to_a_length():
    above = [
        AboveBudget(entity="e1", period=f"2026-01-{it:02}", mu_of_stay=2.0) for it in range(1, 26)
    ]
    aside = tuple(
        SetAside(entity="e2", period=it.period, version=1, reason="wrong") for it in above
    )
    spent = dataclasses.replace(SPENT, above_budget=tuple(above))
    shown = text_of(decisions_page(decision(spent=spent, set_aside=aside), ()))
    assert "Above the budget of 1.5: Hospital 1 in 2026-01-01, Hospital 1 in 2026-01-02," in shown
    assert "Hospital 1 in 2026-01-20 and 5 more." in shown
    assert "25 releases should not have been collected" in shown
    assert shown.count("Hospital 2 for the period from") == 20
    assert "within the budget" not in shown
