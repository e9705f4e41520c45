"""Question and setting of a run, in the words of its table."""

from __future__ import annotations

import math
from dataclasses import replace

import pandas as pd

from dpol.data.question import Gain
from dpol.data.settings import Columns
from dpol.report.page import page_facts
from dpol.studies.games.setting import setting_answer
from report.run_by_hand import config

COLUMNS = Columns(entity="hospital", period="week", count="patients", capacity="beds")
QUESTIONS = {
    "share": Gain(),
    "large": Gain(min_capacity=50, title="share of the large"),
    "patients": Gain(of="count", bound=1000),
}


def test_the_words_of_the_setting_follow_the_question():
    row = {"n_experts": 3, "n_rounds": 2, "simulated": False, "model": "none", "epsilon": math.inf}
    facts = replace(page_facts(config()), columns=COLUMNS)
    dates = {"first_period": pd.NaT, "last_period": pd.NaT, "reported_mean_gain": math.nan}
    summary = pd.DataFrame([{"stream": "nm", **row, **dates}])

    def words(**questions):
        answer = setting_answer(summary, replace(facts, gains=questions))
        return answer.finding, answer.more[0]

    finding, game = words(only=QUESTIONS["patients"])
    assert finding == "Which hospital will have the most patients next week?"
    assert "scores its patients divided by 1,000, a public bound" in game
    finding, game = words(only=QUESTIONS["large"])
    assert finding == (
        "Which hospital with at least 50 beds will have the largest share of beds taken by"
        " patients next week?"
    )
    finding, game = words(**QUESTIONS)
    assert "depend on the question" in finding
    assert "answer 3 questions" in game
    assert "most patients next week?" in game
