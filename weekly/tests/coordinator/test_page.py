"""The page of decisions."""

from __future__ import annotations

import dataclasses
import re
from html.parser import HTMLParser

import numpy as np
import pytest

from dpol.data.question import Gain
from dpol_weekly.coordinator.decision import Decision, Outlook
from dpol_weekly.coordinator.evidence import SetAside
from dpol_weekly.coordinator.page import SHOWN, decisions_page, picture, write_page
from dpol_weekly.coordinator.past import History, Scores
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
    about = {"rank": number + 1, "named": number == 0, "silent": 0, "reports": 5}
    about["chance"] = 0.77 if number == 0 else 0.23 / number
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
        "scores": Scores(reports=15, inside=0.87, wis=0.031, pit=(0.1,) * 10, expected=0.9),
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


def history(n=4, weeks=3):
    seen = np.full((weeks, n), 0.4)
    return History(
        seen=seen,
        noise=np.full((weeks, n), 0.03),
        silent=np.zeros((weeks, n), dtype=bool),
        share=seen.copy(),
        low=seen - 0.05,
        high=seen + 0.05,
    )


def page_of(made, earlier=()):
    return decisions_page(made, history(len(made.outlooks)), earlier)


def text_of(page):
    """Text of a page without tags, as a reader sees it."""
    return re.sub(r"\s+", " ", re.sub(r"<style>.*?</style>|<[^>]+>", " ", page, flags=re.DOTALL))


def test_it_says_where_how_likely_how_many_and_what_it_costs():
    shown = text_of(page_of(decision()))
    assert "nm · week of 23 January 2026 Send help to Hospital 0" in shown
    assert "77% likely to be the fullest. About 80 people (70 to 90 of 200 beds)." in shown
    assert "Next: Hospital 1, 23%." in shown
    assert "Hospital 3 8% 74 people (64 to 84 of 200 beds)" in shown
    # Phi(0.25) and Phi(0.70715), rounded up.
    assert "in one week: a guess whether he or she was there is right at most 60 times" in shown
    assert "μ is at most 1.42 in all releases so far: at most 77 times in 100" in shown
    assert "87% of 15 later reports" in shown
    assert "score is 3.1 points" in shown
    assert "reach 90% of the possible gain" in shown
    assert "Call" not in shown


def test_the_next_is_the_likeliest_of_the_others():
    """A small hospital is uncertain: it may be likelier than one with a larger prediction."""
    page = text_of(page_of(decision(outlook(0), outlook(1, chance=0.1), outlook(2, chance=0.13))))
    assert "Next: Hospital 2, 13%." in page
    assert page.rindex("Hospital 2") < page.rindex("Hospital 1")


def test_several_are_named_with_the_chance_of_each_to_be_among_them():
    outlooks = [outlook(it, named=it < 3, chance=0.9 - 0.1 * it) for it in range(4)]
    shown = text_of(page_of(decision(*outlooks)))
    assert "Send help to Hospital 0, Hospital 1 and Hospital 2" in shown
    assert "among the 3 fullest: Hospital 0 90%, Hospital 1 80%, Hospital 2 70%." in shown
    assert "Next: Hospital 3, 60%." in shown


def test_who_is_silent_is_named_with_how_long():
    outlooks = (
        outlook(0),
        outlook(1, silent=1),
        outlook(2, silent=4),
        outlook(3, silent=6, reports=0, noisy_share=None, noise=None),
    )
    earlier = decision(outlook(2, named=True), outlook(1), period="2026-01-16")
    shown = text_of(page_of(decision(*outlooks), [earlier]))
    assert (
        "Call Hospital 3 (never reported) , Hospital 2 (no report for 4 weeks; its last one was"
        " 48%) ." in shown.replace(")", ") ").replace("  ", " ")
    )
    assert "No report this week: Hospital 1." in shown
    assert "16 January 2026 : Hospital 2" in shown


def test_an_algorithm_without_a_prediction_names_its_choice():
    unknown = dict.fromkeys(("rank", "chance", "share", "low", "high"))
    outlooks = [outlook(number, **unknown) for number in range(3)]
    shown = text_of(page_of(decision(*outlooks, scores=None)))
    assert "Send help to Hospital 0 Which entity" in shown
    assert "empirical-bayes predicts no shares" in shown
    assert "likely" not in shown
    never = outlook(3, **unknown, reports=0, noisy_share=None, noise=None, last_report=None)
    assert "Hospital 3" not in text_of(page_of(decision(*outlooks, never, scores=None)))


def test_who_left_is_shown_and_not_ranked():
    gone = {"rank": None, "chance": None, "reports": 5}
    shown = text_of(page_of(decision(outlook(0), outlook(1), outlook(2, **gone))))
    assert shown.count("not in the choice this time") == 1


def test_a_chance_is_one_among_those_that_may_be_chosen():
    others = [outlook(it, rank=None, chance=None) for it in (1, 2)]
    asked = Coordination(cannot_be_chosen=["e1", "e2"])
    shown = text_of(page_of(decision(outlook(0), *others, outlook(3), coordination=asked)))
    assert "77% likely to be the fullest of those that may be chosen. About 80" in shown
    assert "Next: Hospital 3, 8%." in shown
    alone = text_of(page_of(decision(outlook(0), *others, coordination=asked)))
    assert "Hospital 0 No other hospital may be chosen this week. About 80 people" in alone
    assert "likely" not in alone


def test_of_many_entities_the_first_are_shown():
    page = page_of(decision(*[outlook(number) for number in range(SHOWN + 5)]))
    assert page.count("<svg viewBox") == SHOWN
    assert "The first 50 are shown." in text_of(page)
    outlooks = [outlook(number, named=number < SHOWN) for number in range(SHOWN + 5)]
    assert "Next: Hospital 50, " in text_of(page_of(decision(*outlooks)))


@pytest.mark.parametrize("title", ["<script>alert(1)</script>", "A & B", '"><img src=x>'])
def test_titles_are_text(title):
    page = page_of(decision(outlook(0, title=title), outlook(1)))
    opened = []
    parser = HTMLParser()
    parser.handle_starttag = lambda tag, attrs: opened.append(tag)
    parser.feed(page)
    assert not {"script", "img"} & set(opened)


def test_it_is_self_contained_and_replaced_as_a_whole(tmp_path):
    path = write_page(tmp_path, decision(), history())
    write_page(tmp_path, dataclasses.replace(decision(), period="2026-01-30"), history())
    page = path.read_text()
    assert "of 30 January 2026" in page
    assert not re.findall(r'src="', page)
    assert set(re.findall(r'href="(?!data:)(.*?)"', page)) == {
        "decisions/2026-01-30.csv",
        "decisions/2026-01-30.json",
    }
    assert [it.name for it in tmp_path.iterdir()] == ["index.html"]


def test_a_question_of_counts_is_shown_in_counts():
    asked = Coordination(question=Gain(of="count", bound=1000, min_capacity=50))
    small = outlook(2, rank=None, chance=None, share=0.5, low=0.4, high=0.6, capacity=20.0)
    shown = text_of(page_of(decision(outlook(0), outlook(1), small, coordination=asked)))
    assert "77% likely to have the most people of those with at least 50 beds." in shown
    assert "Hospital 2 10 people (8 to 12 of 20 beds) not in the choice this time" in shown
    assert "from 0 to 103 people" in shown  # 1.15 times 90


def test_a_picture_has_dots_crosses_and_the_prediction_to_scale():
    past = history(2, 3)
    past.seen[1, 0], past.silent[1, 0], past.share[0, 0] = np.nan, True, np.nan
    past.seen[2, 0] = -0.1
    drawn = picture(past, 0, (0.5, -0.2, 2.0), 1.0)
    assert [(x, y) for x, y, *_ in drawn.dots] == [(170, 33), (206, 53)], "below 0 is at the end"
    assert drawn.dots[0][2:] == (34.5, 31.5)
    assert drawn.crosses == [188]
    assert drawn.line == "M188,33 206,33"
    assert drawn.ahead == (224, 28, 53, 3)


def test_what_is_above_the_budget_and_set_aside_is_listed_up_to_a_length():
    above = [
        AboveBudget(entity="e1", period=f"2026-01-{it:02}", mu_of_stay=2.0) for it in range(1, 26)
    ]
    aside = tuple(
        SetAside(entity="e2", period=it.period, version=1, reason="wrong") for it in above
    )
    spent = dataclasses.replace(SPENT, above_budget=tuple(above))
    shown = text_of(page_of(decision(spent=spent, set_aside=aside)))
    assert "Above the budget of 1.5: Hospital 1 in 2026-01-01, Hospital 1 in 2026-01-02," in shown
    assert "Hospital 1 in 2026-01-20 and 5 more." in shown
    assert "25 releases should not have been collected" in shown
    assert shown.count("Hospital 2 for the period from") == 20
    assert "within the budget" not in shown
