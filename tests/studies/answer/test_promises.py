"""Which noise for which promise: shares kept, by hand, and what the table says cannot be."""

from __future__ import annotations

from collections import defaultdict

import pandas as pd

from dpol.studies.answer.promises import promises_table
from dpol.studies.study import Facts
from tables_by_hand import lines

SUMMARY = pd.DataFrame(
    {"stream": ["a", "b"], "uniform_gain": [10.0, 0.0], "oracle_gain": [20.0, 50.0]}
)
GAMES = [
    # noise, reader, same, gains in a and b
    ("capacity-memory", "random-effects", "", 17.0, 20.0),
    ("capacity", "random-effects", "mu", 15.0, 10.0),
    ("capacity", "discounted-mean", "mu", 14.0, 5.0),
    *(("laplace-uniform", "random-effects", same, 16.0, 15.0) for same in ("mu", "guess", "pure")),
    ("fast", "persistence", "pure", 12.0, 10.0),
]
MUS = {"laplace-uniform": 0.7}
GUESSES = {"capacity-memory": 0.5901, "capacity": 0.5987, "laplace-uniform": 0.6234, "fast": 0.55}
MEMORY = pd.DataFrame(
    [
        {
            **{"stream": stream, "level": 0.5, "weeks": 2, "noise": noise, "algorithm": reader},
            **{"same": same, "mean_gain": gain, "ci_half_width": half},
            **{"gaussian": noise.startswith("capacity"), "every_week": noise != "fast"},
            **{"best_guess": GUESSES[noise], "guaranteed_mu": MUS.get(noise, 0.5)},
            **{"replicates": 5, "confidence": 0.9, "ci_comparisons": 12},
        }
        for noise, reader, same, *gains in GAMES
        for stream, gain, half in zip("ab", gains, (0.3, 2.0), strict=True)
    ]
)
FACTS = Facts({"a": "A", "b": "B"}, simulated=True, confidence=0.9)


def test_the_table_has_what_each_noise_keeps_and_what_an_attacker_gains() -> None:
    """By hand: (0.5 + 0.2) / 2 for Gaussian noise; sqrt((0.3 / 10)² + (2 / 50)²) / 2 = 2.5%.

    The guess is the largest of all streams, from the table of games, and rounded up, like mu.
    """
    memory = MEMORY.copy()
    at = (memory["noise"] == "laplace-uniform") & (memory["stream"] == "b")
    memory.loc[at, "best_guess"] += 0.01
    table = promises_table({"memory": memory, "summary": SUMMARY}, FACTS)
    shown, notes = {}, defaultdict(set)
    for group, label, cells in lines(table):
        name = label.removesuffix(" †")
        shown[group, name] = [cell.text for cell in cells]
        notes[name].update(note for cell in cells for note in cell.notes)
        assert all(bool(cell.notes) == (cell.order is not None) for cell in cells)
    whole, guess, epsilon, pure = dict.fromkeys(group for group, _ in shown)
    assert "μ = 0.5" in whole
    for kept in (whole, guess, epsilon):
        assert shown[kept, "capacity noise"] == ["35.0 ± 2.5", "25.0 ± 2.5"]
    assert shown[whole, "capacity correlated noise"] == ["55.0 ± 2.5", "—"]
    assert shown[pure, "capacity noise"] == ["cannot", "cannot"]
    assert shown[pure, "Laplace noise in every round"] == ["45.0 ± 2.5", "—"]
    # Fast noise does not release every week.
    assert notes == {
        "capacity correlated noise": {"guess 59.1%", "μ 0.5"},
        "capacity noise": {"guess 59.9%", "μ 0.5"},
        "Laplace noise in every round": {"guess 63.4%", "μ 0.7"},
    }
