"""An "at most" is true wherever it is printed: Phi(1) = 0.84134 at mu = 2 is never 84.1 or 84."""

import json
import math
import re
from dataclasses import replace

import pytest
from matplotlib import pyplot

from dpol.cli import main
from dpol.report.lead import answer_of
from dpol.report.widgets import answer_widget
from dpol.show import panels
from dpol.show.words import joint_confidence, proved
from dpol.studies.league.figure import draw_privacy_utility
from dpol.studies.league.privacy import attacked, privacy_table
from dpol.studies.league.table import league_table
from report.run_by_hand import config
from standings_by_hand import standings_of
from tables_by_hand import INF, lines, run, summary

MU, GUESS, WRONG = 2.0, "84.2", re.compile(r"(?<![\d.])84(?:\.1\d*)?(?![\d.])")
FACTS = replace(config().facts, streams={"nm": "Here"}, levels=(INF, MU))
ROWS = [run("rw-ftpl", mu, gain, mu_carried=math.nan) for mu, gain in ((INF, 40.0), (MU, 30.0))]


def frames():
    return {"summary": summary(ROWS), "standings": standings_of(ROWS)}


def texts_of_table(table):
    cells = (text for _, label, own in lines(table) for it in own for text in (it.text, *it.notes))
    return " ".join([*cells, *(column.title for column in table.columns)])


def texts_of_figure():
    figure = draw_privacy_utility(frames(), FACTS)
    ticks = (tick.get_text() for ax in figure.axes for tick in ax.get_xticklabels())
    said = " ".join([figure.get_label(), *ticks])
    pyplot.close(figure)
    return said


def axis():
    with panels.panels(1, 1, (2.5, 2.0)) as drawn:
        panels.set_guesses(drawn.axes[0], [1.0, 0.8413447])
    return " ".join(tick.get_text() for tick in drawn.axes[0].get_xticklabels())


WAYS = {
    "lead": lambda: " ".join(" ".join(it) for it in answer_of(frames(), FACTS, config()).texts),
    "finding": lambda: attacked(summary(ROWS[1:])),
    "figure": texts_of_figure,
    "axis": axis,
    "privacy": lambda: texts_of_table(privacy_table(frames(), FACTS)),
    "page": lambda: json.dumps(answer_widget(frames(), FACTS)[0]),
}


@pytest.mark.parametrize("way", WAYS)
def test_a_guess_of_an_attacker_is_rounded_up(way):
    said = WAYS[way]()
    assert GUESS in said
    assert not WRONG.search(said)


def test_the_command_and_a_league_print_the_bounds_of_the_page(capsys):
    main(["account", "--mu", f"{MU:g}", "--weeks", "1", "8"])
    printed = capsys.readouterr().out
    assert f"{GUESS}%" in printed
    assert not WRONG.search(printed)
    # mu = 2 sqrt(8) = 5.6568 of eight weeks, as in the table of the league.
    assert "5.657" in printed
    assert "5.66" in texts_of_table(league_table(frames(), FACTS))


def test_a_lower_bound_is_rounded_down():
    """Bounds of audits and joint confidences once were rounded to the nearest number."""
    audit = {"parameter": "epsilon", "method": "event", "lower_bound": 0.98765}
    assert proved(audit) == "ε ≥ 0.987"
    assert joint_confidence([1 - 1.00001e-5] * 5) == "99.99%"
