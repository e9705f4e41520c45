"""The table of several experts in each round."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dpol.show import footers
from dpol.show.names import OURS, marked, name_of
from dpol.show.table import Entry, Group, Section, Table
from dpol.show.words import mu_title
from dpol.studies.games.settings import Games
from dpol.studies.study import Facts, Frames


def build(frames: Frames, main: Games, facts: Facts) -> Table:
    """A column for each algorithm that is shown and predicts; a line for each noise and level."""
    frame, summary = frames["top"], frames["summary"]
    # Rows under noises that are ours bear the mark of the noise.
    papers = summary[[not name_of(noise).ours for noise in summary["noise"]]]
    ours = {*papers.loc[papers["ours"].astype(bool), "algorithm"]}
    labels = [it for it in main.report.algorithms if it in set(frame["algorithm"])]
    sections = []
    for stream, title in facts.streams.items():
        rows = frame[frame["stream"] == stream]
        groups = []
        for noise, of_noise in rows[rows["algorithm"].isin(labels)].groupby("noise", sort=False):
            lines = []
            for mu in main.levels.values():
                of_level = of_noise[of_noise["mu"] == mu].to_dict("records")
                found = {it["algorithm"]: _entry(it) for it in of_level}
                lines.append((mu_title(mu), tuple(found.get(it, Entry("—")) for it in labels)))
            groups.append(Group(marked(str(noise), name_of(str(noise)).ours), tuple(lines)))
        first = rows.iloc[0]
        size = (
            f"k = {first['names']}; chance {first['chance_gain']:.2f}, best fixed k"
            f" {first['best_static_gain']:.2f}, foresight {first['foresight_gain']:.2f}"
        )
        sections.append(Section(title, size, tuple(groups)))
    return Table(
        caption="Several experts in each round: total gain",
        name="top",
        corner=("stream", "noise", "privacy"),
        headers=tuple(marked(it, it in ours) for it in labels),
        sections=tuple(sections),
        footers=(
            "Total gain, mean over the runs, of the k experts with the largest predictions: the sum"
            " of their gains in each round. Percent: of the possible gain; 0% is that of k random"
            " experts, 100% that of the k best of every round (foresight). Algorithms without"
            " predictions are in no column. —: not played under this noise. All learners: .csv.",
            footers.describe_intervals_behind(frame),
            footers.describe_data(facts.simulated),
            "The guarantees are those of the same runs, in the table of total gains.",
            f"{OURS}.",
        ),
        numbers=frame,
    )


def _entry(row: Mapping[Any, Any]) -> Entry:
    gain, share = row["mean_gain"], row["gain_share"]
    notes = () if share is None or share != share else (f"{100 * share:z.0f}%",)
    return Entry(footers.amount(gain, row["ci_half_width"]), notes, order=gain)
