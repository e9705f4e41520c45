"""Table of average gains, on hand-made summaries."""

from __future__ import annotations

import io
from dataclasses import replace
from typing import Any

import pandas as pd

from dpol.privacy.guarantee import MU_OF_STAYS
from dpol.show.table import Table, to_csv, to_fragment, to_html, to_latex, to_markdown
from dpol.studies.games.average_gain import CSV_COLUMNS, UNMOVED, average_gain_table
from tables_by_hand import (
    FACTS,
    INF,
    build,
    column,
    gains,
    has_footer,
    lines,
    main,
    rows,
    run,
    summary,
    texts,
)

TITLES = ["rw-meta", "tree-ftpl-min-noise", "follow-the-leader", "best linear model"]

KNOWN = r"""**Average total gain, isotropic noise**

| stream | privacy | rw-meta | tree-ftpl-min-noise | best linear model |
| --- | --- | ---: | ---: | ---: |
| **New Mexico** (n = 24, T = 148; uniform random 0.00, best fixed expert 30.00, oracle 60.00) | no privacy (μ = ∞) | 41.25 ± 0.13 69% | 26.00 ± 0.13 43% | 43.00 ± 0.13 72% ridge-w8-weak |
|  | μ = 1 | 0.33 ± 0.13 1% | 22.00 ± 0.13 37% | 39.00 ± 0.13 65% ridge-w64-strong |

- Each number is the total gain over all T rounds of a stream of n experts, mean over 100 runs. Below it: its share of the possible gain (0% is uniform random, 100% the oracle).
- Uniform random: an expert drawn uniformly in every round. Best fixed expert: the best single expert in hindsight. Oracle: the best expert of every round.
- ±: half-width of the 95% confidence interval (Student's t), Bonferroni-corrected over 12 cells. exact: all runs give the same number. The intervals cover the noise (the randomness of the runs) on this one data set. They do not cover other data, such as other states or years.
- best linear model: the member of the family ridge with the largest mean, chosen in hindsight for each cell and named there (in HTML under the pointer). The Bonferroni correction counts the cells of all members, so the interval of the best holds despite the choice.
- Data: real.
- Guarantee: μ-Gaussian differential privacy of one person in one round. Adjacent inputs: one person elsewhere. Telling adjacent inputs apart is at least as hard as telling N(0, 1) from N(μ, 1). The μ of a row is the requested level; the table of mechanisms has the guarantee of each mechanism there.
- Noise: seeded, so that anyone can repeat the run. Anyone with the seed can remove the noise. The guarantee is the one that the mechanisms would give with secret noise.
- †: ours, not in the paper: follow-the-leader.

**Average total gain, algorithms without noise or privacy**

| stream | follow-the-leader † |
| --- | ---: |
| New Mexico | 26.50 exact 44% |


**Guarantees of each mechanism: ε at δ = 1e-06**

| mechanism | model | algorithms | μ = 1 | sensitivity | 2, 4, 8 rounds | carried |
| --- | --- | --- | ---: | --- | --- | ---: |
| Gaussian noise | local | rw-meta, best linear model | 4.89 | 0.07 (L2, gain) | × 1.42, 2, 2.83 | × 2.24 |
| Gaussian noise | central | tree-ftpl-min-noise | 4.89 | 0.07 (L2, gain) | × 1.42, 2, 2.83 | × 2.24 |

- μ: the requested level. Sensitivity: the largest change of the release between adjacent inputs. Each number is the largest of all runs, rounded up. Local: each site adds noise to its own gains. Central: a trusted curator sees the raw gains.
- Rounds: factor on μ, at most, for a person counted in 2, 4, 8 rounds, in a row or not.
- Carried: the guarantee takes the counts as true. If missing counts repeat the last one, a person is counted in up to 4 further rounds, and this is the factor on μ at most.
"""  # noqa: E501


def test_known_table() -> None:
    assert to_markdown(build()) == KNOWN


def test_noise_in_a_row_without_privacy_is_noted() -> None:
    data = rows()
    data[2] |= {"guaranteed_mu": 0.2}  # of the tree
    table = build(data)
    assert column(table, "tree-ftpl-min-noise")[0].notes[-1] == "own noise"
    assert "own noise" not in column(table, "rw-meta")[0].notes
    assert has_footer(table, "“own noise”, and μ = ∞ without “no privacy”: noise is added")
    assert not has_footer(build(), "own noise")


def test_a_number_that_noise_does_not_move_is_marked() -> None:
    data = rows()
    data[1] |= {"unmoved": True}  # of RW-Meta
    table = build(data)
    first, second = column(table, "rw-meta")
    assert (UNMOVED in first.notes, UNMOVED in second.notes) == (False, True)
    assert has_footer(table, f"“{UNMOVED}”: all replicates")
    assert not has_footer(build(), f"“{UNMOVED}”")


def test_a_gain_with_correlated_noise_has_the_mu_for_stays() -> None:
    stays = dict(zip(MU_OF_STAYS, (1.0, 1.9, 3.52, 6.234), strict=True))
    paid = run("rw-meta", 1.0, 30.0, noise="capacity-memory", noise_memory="b = 0.8", **stays)
    *others, cell = column(build([*rows(), paid]), "rw-meta")
    assert cell.notes[-1] == "μ for 1, 2, 4, 8 rounds: 1, 1.9, 3.52, 6.24"
    assert not any("rounds" in note for other in others for note in other.notes)


def test_levels_and_algorithms_have_the_order_of_the_config() -> None:
    facts = replace(FACTS, levels={"low": 1.0, "none": INF})
    table = build(facts=facts, algorithms=["follow-the-leader", "rw-meta"])
    assert [label for _, label, _ in lines(table)] == ["μ = 1", "no privacy (μ = ∞)"]
    assert [column.title for column in table.columns] == ["rw-meta", "best linear model"]
    plain = table.following[0]
    assert [column.title for column in plain.columns] == ["follow-the-leader †"]


def test_the_best_of_another_family_has_a_column() -> None:
    data = [row | {"family": "kalman" if row["family"] == "ridge" else "x"} for row in rows()]
    table = build(data, envelope="kalman")
    cells = column(table, "best kalman")
    assert [cell.notes for cell in cells] == [("72%",), ("65%",)]
    assert [cell.hint for cell in cells] == ["ridge-w8-weak", "ridge-w64-strong"]


def test_algorithm_without_privacy_is_a_dash_where_no_level_is_infinite() -> None:
    assert gains(build(facts=replace(FACTS, levels={"low": 1.0})), "follow-the-leader") == ["—"]


def test_footers_tell_ranges_and_simulated_data() -> None:
    data = rows()
    data[3] |= {"epsilon": 2.25, "guaranteed_mu": 0.5}
    data[4] |= {"replicates": 1}
    table = build(data, facts=replace(FACTS, simulated=True))
    (_, _, cells) = lines(table.following[-1])[1]
    assert cells[2].with_notes(" ") == "2.25 guaranteed μ = 0.5"
    for text in ("mean over 1 to 100 runs", "Data: simulated, not measured."):
        assert has_footer(table, text)


def test_csv_is_complete_and_exact() -> None:
    text = pd.read_csv(io.StringIO(to_csv(build().numbers)), dtype=str, keep_default_na=False)
    assert list(text) == list(CSV_COLUMNS)
    assert list(text["column"]) == [*TITLES, "rw-meta", "tree-ftpl-min-noise", "best linear model"]
    meta = text[(text["column"] == "rw-meta") & (text["mu"] == "1.0")].iloc[0]
    assert float(meta["mean_gain"]) == 1 / 3
    facts = ["ci_comparisons", "replicates", "ours"]
    assert list(meta[facts]) == ["12", "100", "False"]
    (plain,) = text[text["column"] == "follow-the-leader"].to_dict("records")
    assert [plain[name] for name in ("mean_gain", "ours", "model", "noise")] == [
        *("26.5", "True", "none", "none")
    ]
    assert list(text.iloc[3][["algorithm", "best_of"]]) == ["ridge-w8-weak", "ridge"]


# --- Several noises ---


def other(noise: str, shift: float, **changes: Any) -> list[dict[str, Any]]:
    """Return the local runs with another noise."""
    return [
        row | {"noise": noise, "mean_gain": row["mean_gain"] + shift} | changes
        for row in rows()
        if row["model"] == "local"
    ]


CAPACITY = other("capacity", 5, ours=True)
LEADER = [row for row in rows() if row["model"] == "none"]
OTHER_NOISES = [
    *CAPACITY,
    *other("b", 20),
    *other("a", 10),
    *other("isotropic-worst-case", 1, guaranteed_mu=0.3, epsilon=1.3),
]


def captions(table: Table) -> list[str]:
    return [each.caption.removeprefix("Average total gain, ") for each in (table, *table.following)]


MECHANISMS = "Guarantees of each mechanism: ε at δ = 1e-06"


def test_each_noise_has_a_table_and_algorithms_without_noise_have_one() -> None:
    """Worst-case noise is added even where no privacy is requested."""
    table = build(OTHER_NOISES + rows())
    assert table.corner == ("stream", "privacy")
    assert captions(table) == [
        *("isotropic noise", "isotropic-worst-case noise", "capacity noise †", "a noise"),
        *("b noise", "algorithms without noise or privacy", MECHANISMS),
    ]
    titles = [[column.title for column in each.columns] for each in (table, *table.following[:-1])]
    local = ["rw-meta", "best linear model"]
    first = ["rw-meta", "tree-ftpl-min-noise", "best linear model"]
    assert titles == [first, *[local] * 4, ["follow-the-leader †"]]
    assert texts(table.following[0]) == [
        ["μ = ∞", "42.25 ± 0.13", "44.00 ± 0.13"],
        ["μ = 1", "1.33 ± 0.13", "40.00 ± 0.13"],
    ]
    assert texts(table.following[4]) == [["New Mexico", "26.50 exact"]]
    assert "—" not in str([texts(each) for each in (table, *table.following[:-1])])


def test_all_tables_are_in_each_file() -> None:
    table = build(OTHER_NOISES + rows())
    for render in (to_markdown, to_html, to_fragment, to_latex):
        text = render(table)
        assert text.count("Average total gain") >= 6
        assert "isotropic" in text.replace("\\", "")
        assert "Guarantees of each mechanism" in text
    names = [each.name for each in (table, *table.following)]
    assert names[0] == "average-gain"
    assert len(set(names)) == len(names)


def test_central_algorithm_is_shown_where_it_was_run() -> None:
    own = [row | {"noise": "a"} if row["model"] == "central" else row for row in rows()]
    table = build(OTHER_NOISES + own)
    every = (table, *table.following)
    (shown,) = (each for each in every if "tree-ftpl-min-noise" in str(each.headers))
    assert shown.caption == "Average total gain, a noise"
    assert gains(table, "tree-ftpl-min-noise") == ["26.00", "22.00"]


def test_local_algorithm_not_run_with_a_noise_is_not_in_its_table() -> None:
    data = [row for row in CAPACITY if row["algorithm"] != "rw-meta"]
    assert gains(build(rows() + data), "rw-meta") == ["41.25", "0.33"]


def test_a_level_at_which_nothing_was_run_is_a_dash() -> None:
    data = [row for row in rows() if (row["algorithm"], row["mu"]) != ("rw-meta", 1.0)]
    table = build(data)
    assert gains(table, "rw-meta") == ["41.25", "—"]
    assert has_footer(table, "—: not run.")
    assert not has_footer(build(), "—: not run.")


def test_without_private_runs_there_is_one_group() -> None:
    table = build(LEADER, algorithms=["follow-the-leader"])
    assert table.corner == ("stream", "privacy")
    assert gains(table, "follow-the-leader †") == ["26.50", "—"]
    assert len(table.headers) == 1  # no column of a family that was not run


def test_whatever_is_ours_bears_a_mark() -> None:
    data = [*rows(), run("mine", 1.0, 3.0, ours=True), *CAPACITY]
    table = build(data, algorithms=["rw-meta", "mine"])
    assert table.headers == ("rw-meta", "mine †", "best linear model")
    assert captions(table)[1] == "capacity noise †"
    assert has_footer(table, "†: ours, not in the paper: capacity noise, mine.")
    plain = build([row for row in data if not row["ours"]], algorithms=["rw-meta"])
    assert "†" not in to_markdown(plain)


def test_columns_are_marked_where_all_noise_is_ours() -> None:
    data = [*CAPACITY, *(row | {"ours": False} for row in LEADER)]
    table = build(data, algorithms=["rw-meta", "follow-the-leader"])
    assert has_footer(table, "†: ours, not in the paper: rw-meta, best linear model.")


def test_each_table_has_all_streams() -> None:
    data = OTHER_NOISES + rows()
    rows_of_both = summary(data + [row | {"stream": "pa"} for row in data])
    both = replace(
        FACTS, streams={"pa": "pa", "nm": "New Mexico"}, reported={"pa": None, "nm": "NM"}
    )
    table = average_gain_table({"summary": rows_of_both}, main(), both)
    for each in (table, *table.following[:4]):
        assert [section.title for section in each.sections] == ["pa", "New Mexico"]
    assert [label for _, label, _ in lines(table.following[4])] == ["pa", "New Mexico"]


def test_csv_has_a_line_per_nonempty_cell() -> None:
    numbers = build(OTHER_NOISES + rows()).numbers
    assert len(numbers) == 5 * 2 * 2 + 2 + 1
    noises = numbers.groupby("column")["noise"].agg(lambda own: sorted(set(own))).to_dict()
    assert noises["rw-meta"] == ["a", "b", "capacity", "isotropic", "isotropic-worst-case"]
    assert noises["tree-ftpl-min-noise"] == ["isotropic"]
    assert noises["follow-the-leader"] == ["none"]
    ours = numbers[numbers["ours"].fillna(False)]
    assert set(zip(ours["column"], ours["noise"], strict=True)) == {
        ("follow-the-leader", "none"),
        ("rw-meta", "capacity"),
        ("best linear model", "capacity"),
    }
