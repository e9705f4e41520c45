"""Answers to a reader's questions, on numbers worked out by hand."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from dpol.config.models import WHOLE
from dpol.report.page import joined, page_facts
from dpol.report.run import Run
from dpol.show.table import write_table
from dpol.studies.audits.answers import answers as audits_answers
from dpol.studies.audits.core import OUTSIDE
from dpol.studies.audits.settings import Audits
from dpol.studies.audits.table import build as audit_table
from dpol.studies.claims.answers import answers as claims_answers
from dpol.studies.claims.settings import Claims
from dpol.studies.games import answer_table
from dpol.studies.games.answers import (
    answer_on_choice,
    answer_on_names,
    answer_on_papers,
    answer_on_privacy,
    describe_stays,
)
from dpol.studies.games.findings import rank_meta, with_shares
from dpol.studies.games.systems import lines_of
from dpol.studies.page import Answer
from report.run_by_hand import audits, claims, config
from tables_by_hand import INF, run, summary, texts

SUMMARY = summary()
RANKING = rank_meta(SUMMARY)
NONE = SUMMARY.assign(reported_mean_gain=float("nan"))
FACTS = page_facts(config())


def on_papers(
    summary: pd.DataFrame, ranking: pd.DataFrame = RANKING, ledger: pd.DataFrame | None = None
) -> list[Answer]:
    """Return the joint answers of the main study and the ledger, if there is one."""
    settings = None if ledger is None else Claims()
    frames = {} if ledger is None else {"claims": ledger}
    return joined([answer_on_papers(summary, ranking), *claims_answers(frames, settings, FACTS)])


def on_privacy(summary: list[dict[str, Any]], audited: pd.DataFrame | None = None) -> Answer:
    """Return the joint answer of the main study and the audits."""
    settings = None if audited is None else Audits()
    frames = {} if audited is None else {"audits": audited}
    own = answer_on_privacy(pd.DataFrame(summary))
    (answer,) = joined([own, *audits_answers(frames, settings, FACTS)])
    return answer


def test_slips_of_the_papers_are_counted_by_root_without_ours_and_findings_on_data() -> None:
    (answer,) = on_papers(SUMMARY, RANKING, claims())
    assert "of our 6 intervals overlap" in "".join(answer.more)
    # By hand: Theorems 1 and 2 and Lemma 5 hold, Theorem 3 is false; the other row is ours.
    of_substance = "1 slip is of substance (false, or a hypothesis is missing): Theorem 3."
    assert answer.finding == f"Among 4 statements of the papers that need no data, {of_substance}"
    assert answer.see == ("claims", "average-gain")


def test_an_excess_outside_the_promise_is_told_apart_from_a_refuted_claim() -> None:
    """The second of two audits exceeds its parameter, first with a claim, then without."""
    for verdict, count, start in (
        ("violated", "1 of 2 claims", "Refuted: response"),
        (OUTSIDE, "1 of 1 claims", "Outside the promise, which is 1: response"),
    ):
        table = audits().assign(verdict=["consistent", verdict])
        (answer,) = audits_answers({"audits": table}, Audits(), FACTS)
        assert f"do not refute {count}" in answer.more[0]
        assert answer.more[1].startswith(start)
        (line,) = texts(audit_table({"audits": table.iloc[1:]}, None, None))
        assert line[-1] == {"violated": "refuted"}.get(verdict, verdict)


def test_numbers_of_the_paper_agree_if_intervals_overlap() -> None:
    cells = pd.DataFrame(
        [
            (10.0, 0.5, 10.6, "undecided"),
            (10.0, 0.5, 10.8, "below"),
            (8.0, 0.0, 8.0, "equal"),
            (20.0, 0.5, float("nan"), ""),  # none of the paper's
            (10.0, INF, 10.0, "undecided"),  # one run: no interval
        ],
        columns=["mean_gain", "ci_half_width", "reported_mean_gain", "reported_verdict"],
    ).assign(simulated=False)
    # Ratios 0.943, 0.926, 1.
    (answer,) = on_papers(cells)
    assert answer.finding == (
        "Table 2: 2 of our 3 intervals overlap the paper’s numbers. The median ratio of our gain to"
        " theirs is 0.94."
    )
    (simulated,) = on_papers(cells.assign(simulated=True))
    assert simulated.finding.endswith("Our numbers come from simulated data.")


def test_numbers_that_cannot_be_compared_come_last() -> None:
    (answer,) = on_papers(SUMMARY.assign(ci_half_width=INF))  # one run: no interval
    # 0.33 ± 0.13 compared with the tree's 22.
    assert answer.finding == (
        "With isotropic noise, RW-Meta (local) gains 0.02 to 0.02 times as much as the best central"
        " rival in hindsight (tree). It clearly wins 0 of 1 comparisons and loses 1; 0 are too"
        " close to call."
    )
    assert answer.more == (
        "The paper reports that RW-Meta wins 9 of 9 comparisons with its tree, with 1.44 to 2.22"
        " times its gain.",
        "Table 2: none of the paper’s numbers can be compared (other streams or periods, or a"
        " single run).",
        "No statement of the papers was checked: the config has no block claims.",
    )


def test_where_the_paper_reports_nothing_only_the_ledger_answers() -> None:
    assert on_papers(NONE) == []
    (answer,) = on_papers(NONE, RANKING, claims())
    assert answer.finding.startswith("Among 4 statements")
    assert "none of the paper’s numbers can be compared" in answer.more[-1]


def test_a_missing_block_is_a_key_of_the_config() -> None:
    (papers,) = on_papers(SUMMARY)
    text = "\n".join((*papers.more, *on_privacy([run("rw-meta", INF, 1.0)]).more))
    blocks = re.findall(r"the config has no block (\w+)\.", text)
    assert blocks == ["claims", "audits"]
    assert set(blocks) <= set(WHOLE.model_fields)


def test_without_rw_meta_no_ranking_is_told() -> None:
    theirs = RANKING[RANKING["source"] == "paper"]
    (answer,) = on_papers(SUMMARY, theirs, claims())
    assert "RW-Meta" not in "".join(answer.more)


def test_privacy_is_told_by_the_largest_epsilon_of_each_level() -> None:
    summary = [
        run("rw-meta", INF, 1.0),
        run("rw-meta", 1.0, 1.0, epsilon=4.5, taken_as_public="the list"),
        run("rw-ftpl", 1.0, 1.0, epsilon=4.886, mechanism="other noise"),
        run("tree", 0.5, 1.0, epsilon=2.25, model="central"),
        run("l2p", 1.0, 1.0, epsilon=4.8, model="central", guaranteed_mu=float("nan")),
        run("worst-case", INF, 1.0, epsilon=0.98),  # noise, although no privacy is requested
    ]
    answer = on_privacy(summary, audits())
    assert answer.finding.replace("\xa0", " ") == (
        "Protected: one person in one round. From what an algorithm publishes, an attacker is right"
        " about it at most this often: 69.2% at μ = 1, 59.9% at μ = 0.5 (a coin: 50%). This page"
        " itself shows true numbers."
    )
    assert [text.replace("\xa0", " ") for text in answer.more[:2]] == [
        "As (ε, δ): ε ≤ 4.89 at μ = 1, ε ≤ 2.25 at μ = 0.5, with δ = 10⁻⁶.",
        # (exp(4.8) + 1e-6) / (exp(4.8) + 1) = .99184
        "For l2p only (ε, δ) is known: an attacker is right at most 99.2% at μ = 1.",
    ]
    assert "Taken as public, and not covered by any μ: the list." in answer.more
    text = "\n".join(answer.more)
    assert "Mechanisms: 2 local (each site adds noise to its own gains), 1 central" in text
    assert "Anyone with the seed can remove the noise" in text
    assert "not hold for this page, which is computed from the true numbers." in text
    assert "Audits: the attacks do not refute 1 of 2 claims." in text
    assert "Confidence of all bounds together: 90%." in text
    assert "μ ≥ 1.25 where 1 is claimed" in text


def test_without_noise_there_is_no_privacy_and_without_audits_no_audit() -> None:
    answer = on_privacy([run("rw-meta", INF, 1.0)])
    assert answer.finding == "Not at all: no run has privacy noise."
    assert answer.more == ("Nothing was audited: the config has no block audits.",)


def test_the_owner_of_a_table_is_told_the_best_choice_its_cost_and_the_best_fixed_one(
    tmp_path: Path,
) -> None:
    streams = {"nm": {"groups": ["NM"]}, "pa": {"groups": ["PA"]}}
    played = [
        run("rw-meta", INF, 40.0, stream="nm", ci_half_width=0.0),
        run("rw-meta", INF, 40.0, stream="pa", ci_half_width=0.0),
        run("rw-meta", 1.0, 30.0, stream="nm", ci_half_width=1.2),
        run("rw-meta", 1.0, 36.0, stream="pa", ci_half_width=2.4),
        *(run("rw-ftpl", mu, 20.0, stream=name) for name in streams for mu in (INF, 1.0)),
        *(run("tree", mu, 42.0, stream=name, model="central")
          for name in streams for mu in (INF, 1.0)),
    ]  # fmt: skip
    best = {"nm": "North", "pa": "South"}
    played = [row | {"best_fixed": best[row["stream"]]} for row in played]
    named = {"nm": "Here", "pa": "There"}
    asked = dict.fromkeys(named, "")
    facts = replace(FACTS, streams=named, asked=asked, levels={"a": INF, "b": 1.0})
    made = config(streams=streams, report={"algorithms": ["rw-ftpl", "tree", "rw-meta"]})
    lines = lines_of(with_shares(pd.DataFrame(played)), made.games, facts)
    answer = answer_on_choice(lines, facts)
    # By hand: 33 of 60 is 55%; half widths 2% and 4%. Phi(1 / 2) = 0.691.
    assert answer.finding == (
        "Suppose an attacker may be right about one person in one week at most 69 times in 100 (a"
        " coin: 50). Then the best of 2 local algorithms is rw-meta, isotropic noise. It keeps 55%"
        " (52 to 58%) of the possible gain; without privacy it keeps 67%. The best fixed e, known"
        " only in hindsight, keeps 50% in Here (always North) and 50% in There (always South). Real"
        " data, mean over Here and There."
    )
    assert answer.more[0].startswith("Best with a trusted curator, at μ\xa0=\xa01: tree, isotropic")
    table = answer_table.build({"summary": with_shares(pd.DataFrame(played))}, made.games, facts)
    assert texts(table) == [
        ["tree, isotropic noise", "70.0% ± 0.2", "70.0% ± 0.2", "25.0% ± 5.0"],
        ["rw-meta, isotropic noise", "66.7%", "55.0% ± 3.0", "25.0% ± 5.0"],
        ["rw-ftpl, isotropic noise", "33.3% ± 0.2", "33.3% ± 0.2", "25.0% ± 5.0"],
        ["best fixed expert, in hindsight", "50.0%", "50.0%", "—"],
    ]
    write_table(table, tmp_path / "tables/answer.csv")
    numbers = Run(tmp_path).answer()
    pd.testing.assert_frame_equal(numbers, table.numbers, check_dtype=False)


STAYS = "mu_1_week", "mu_2_weeks", "mu_4_weeks", "mu_8_weeks"
COMPARED: dict[str, Any] = {
    "baseline": {"algorithm": "rw-meta", "noise": "isotropic"},
    "ours": {"algorithm": "rw-ftpl", "noise": "capacity"},
}


def test_one_line_tells_the_right_guesses_about_people_who_stay() -> None:
    played = [
        run("rw-meta", 1.0, 30.0),
        run("rw-ftpl", 1.0, 30.0, noise="capacity"),
        run("rw-ftpl", 0.25, 30.0, noise="capacity"),
        run("follow-the-leader", INF, 30.0, noise="none", model="none"),
    ]
    settings = config(comparison=COMPARED).games
    # By hand: Phi(sqrt(w) / 2) for w = 1, 2, 4, 8 is 0.6915, 0.7602, 0.8413, 0.9214.
    same = (
        "How often an attacker is right about a person counted in 1, 2, 4 or 8 weeks, at most:"
        " 69.2%, 76.1%, 84.2% and 92.2% at μ\xa0=\xa01 (the baseline and ours)"
    )
    assert describe_stays(pd.DataFrame(played), settings, FACTS) == f"{same}."
    # Phi(1), Phi(1.5) and Phi(2) are 0.8413, 0.9332 and 0.9772.
    paid = dict(zip(STAYS, (1.0, 2.0, 3.0, 4.0), strict=True)) | {"noise_memory": "b of 0.8"}
    played.append(run("rw-ftpl", 1.0, 30.0, noise="capacity-memory", **paid))
    assert describe_stays(pd.DataFrame(played), settings, FACTS) == (
        f"{same}; 69.2%, 84.2%, 93.4% and 97.8% at μ\xa0=\xa01 (capacity correlated noise)."
    )


def test_the_line_has_the_levels_of_the_headline() -> None:
    """With several questions they are the first and the middle one; Phi(0.125) is 0.5498."""
    asked = {"share": {"of": "share"}, "patients": {"of": "count", "bound": 9}}
    levels = {"levels": {"low": 1.0, "middle": 0.25, "high": 0.1}}
    made = config(comparison=COMPARED, questions=asked, privacy=levels)
    played = [run("rw-meta", mu, 30.0) for mu in (1.0, 0.25, 0.1)]
    assert describe_stays(pd.DataFrame(played), made.games, page_facts(made)).endswith(
        "92.2% at μ\xa0=\xa01, and 55%, 57.1%, 59.9% and 63.9% at μ\xa0=\xa00.25 (the baseline)."
    )


def test_without_people_there_is_no_line_on_people_who_stay() -> None:
    played = run("rw-meta", 1.0, 30.0, **dict.fromkeys(STAYS, float("nan")))
    assert describe_stays(pd.DataFrame([played]), config().games, FACTS) == ""


def test_a_share_that_rounds_to_zero_has_no_minus() -> None:
    played = [run("rw-meta", INF, 40.0), run("rw-meta", 1.0, -0.01, ci_half_width=INF)]
    summary = with_shares(pd.DataFrame(played))
    facts = replace(FACTS, levels={"a": INF, "b": 1.0})
    lines = lines_of(summary, config().games, facts)
    assert "It keeps 0% of the possible gain" in answer_on_choice(lines, facts).finding
    table = answer_table.build({"summary": summary}, config().games, facts)
    assert texts(table)[0][2] == "0.0%"


def test_the_right_one_is_told_as_a_share_of_rounds_and_by_name_from_the_replay() -> None:
    best = ["North", "South", "North"]
    replay = pd.DataFrame(
        {"stream": "nm", "round": number, "name": name, "oracle": name == best[number]}
        for number in range(3) for name in ("North", "South")
    )  # fmt: skip
    named = {INF: 0.5, 1.0: 0.25}
    played = [run("rw-meta", mu, 30.0, named_right=share) for mu, share in named.items()]
    facts = replace(FACTS, streams={"nm": "NM"}, levels={"a": INF, "b": 1.0})
    lines = lines_of(with_shares(pd.DataFrame(played)), config().games, facts)
    answer = answer_on_names(lines, replay, facts, compared=False)
    assert answer.finding.replace("\xa0", " ") == (
        "The right e is named in this share of the weeks by rw-meta, isotropic noise: 50% without"
        " privacy, 25% at μ = 1. Uniform random: 4%."  # of 24
    )
    assert answer.more == ("North was the right one most often: in 2 of 3 weeks (NM).",)
    assert answer_on_names(lines, None, facts, compared=False).more == ()


def test_audits_are_told_with_their_numbers_and_verdicts() -> None:
    lines = texts(audit_table({"audits": audits()}, None, None))
    assert lines[0] == [
        *("noise", "isotropic", "one person in one round", "μ = 1", "μ ≥ 0.9", "90%"),
        *("event, 3,000 runs", "stands"),
    ]
    assert lines[1][-4:] == ["μ ≥ 1.25", "125%", "event, 3,000 runs", "refuted"]
    exact = audits().assign(method="exact", parameter="epsilon", delta=1e-6)
    assert texts(audit_table({"audits": exact}, None, None))[0][3:7] == [
        *("ε = 1 (δ = 1e-06)", "ε = 0.9", "90%", "computed"),
    ]
    fit = audits().assign(method="fit", parameter="distance", claimed=0.0, lower_bound=0.0)
    assert texts(audit_table({"audits": fit.assign(recorded=0.0)}, None, None))[0][3:7] == [
        *("TV = 0", "TV ≥ 0", "–", "fit, 3,000 runs"),
    ]
    admitted = audits().assign(recorded=1.5)
    assert texts(audit_table({"audits": admitted}, None, None))[0][3] == "μ = 1, recorded: 1.5"
    assert "where 1 is claimed (its record says 1.5)." in "\n".join(
        on_privacy([run("rw-meta", INF, 1.0)], admitted).more
    )
    notes = "\n".join(audit_table({"audits": audits()}, None, None).footers)
    assert "noise, event: two hospitals. Code: dpol.noise.privatize. Statistic: an event." in notes
    assert "All bounds hold together with 90% confidence." in notes
