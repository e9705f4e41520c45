"""Numbers in sentences of the pages are those of the recorded runs."""

from __future__ import annotations

import math

import pandas as pd
import pytest
from recorded_numbers import ROOT, WITH_NOISE, kept, recorded

from dpol.core.intervals import AHEAD, BEHIND

WORDS = ["none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]


def gains(*columns: str) -> pd.DataFrame:
    """Return totals of fifteen states for shares: a row per algorithm, noise and mu."""
    of = recorded("states", "comparison").query("stream.str.endswith('-share')")
    key = ["other_algorithm", "other_noise", "other_mu", "stream"]
    return of.drop_duplicates(key).set_index(key).sort_index()[list(columns)]


def lead_of_capacity() -> str:
    other = gains("other_mean_gain", "other_ci_half_width")
    ours, theirs = (other.loc["rw-meta", noise, 0.25] for noise in ("capacity", "isotropic"))
    lead = ours["other_mean_gain"] - theirs["other_mean_gain"]
    apart = lead > ours["other_ci_half_width"] + theirs["other_ci_half_width"]
    return (
        f"RW-Meta gains {lead.min():.1f} to {lead.max():.1f} more with `capacity` noise; in"
        f" {apart.sum()} the intervals are apart"
    )


def filters_above_meta() -> str:
    of = recorded("states", "comparison").query("stream.str.endswith('-share') and mu == 0.25")
    of = of[(of["kind"] == "rival") & (of["rival"] == WITH_NOISE)]
    return f"`random-effects` is above RW-Meta in {(of['verdict'] == 'above').sum()} of fifteen"


def bounds() -> pd.DataFrame:
    own = recorded("states", "summary").query("stream.str.endswith('-share')")
    return own.drop_duplicates("stream").set_index("stream")


def cost_to_meta() -> str:
    meta = gains("other_mean_gain").loc["rw-meta", "isotropic"]["other_mean_gain"].unstack(0)
    uniform = bounds()["uniform_gain"]
    states = (meta[math.inf] - meta[0.25]) / (meta[math.inf] - uniform)
    of = recorded("beyond", "summary").query("algorithm == 'rw-meta' and noise == 'isotropic'")
    (cost,) = of.query("stream == 'CA' and mu == 0.25")["noise_cost_share"]
    return (
        f"privacy costs RW-Meta {100 * cost:.0f}% of its lead over uniform random choice in"
        f" California, and {100 * states.min():.0f} to {100 * states.max():.0f}% on fifteen states"
    )


def best_fixed() -> str:
    other, fixed = gains("other_mean_gain", "other_ci_half_width"), bounds()["best_fixed_gain"]
    meta = [other.loc["rw-meta", "isotropic", mu] for mu in (0.5, 1.0)]
    half, one = (own["other_mean_gain"] - fixed for own in meta)
    widths = [own["other_ci_half_width"] for own in meta]
    assert (half < -widths[0]).all()
    below, above = (WORDS[x.sum()] for x in (one < -widths[1], one > widths[1]))
    rest = WORDS[(one.abs() <= widths[1]).sum()]
    return (
        "In all fifteen, the best fixed hospital gains more than RW-Meta at μ = 0.5. At μ = 1 it"
        f" gains more in {below} states and less in {above}; {rest} are undecided"
    )


def ratio_to_tree() -> str:
    of = recorded("beyond", "ranking").query("source == 'run' and mu >= 0.25 and rival == 'tree'")
    ratio = of[of["noise"] == "isotropic"]["ratio"]
    return f"RW-Meta gains {ratio.min():.2f} to {ratio.max():.2f} times as much as the better of"


def ratio_to_prefix_sums() -> str:
    of = recorded("states", "ranking").query("noise == 'isotropic' and mu < inf")
    ratio = of[of["rival"] == "factorised prefix sums"]["ratio"]
    return f"With isotropic noise they are {ratio.min():.2f} to {ratio.max():.2f} for `mf-ftpl`"


def beside_the_window() -> str:
    of = recorded("states", "ranking").query("rival == 'factorised window sums' and mu < inf")
    counts = of.groupby("noise")["verdict"].value_counts().unstack(fill_value=0)
    isotropic, capacity = counts.loc["isotropic"], counts.loc["capacity"]
    assert isotropic.get("below", 0) + isotropic.get(BEHIND, 0) + capacity.get(BEHIND, 0) == 0
    assert capacity["below"] == 1
    return (
        f"above the window of eight weeks in {isotropic['above']} of 45 cells and ahead at this"
        f" reading of hidden counts in {isotropic[AHEAD]} more; it is below in none. With capacity"
        f" noise it is above in {capacity['above']}, ahead in {capacity[AHEAD]} more, and below in"
        " one"
    )


def shares_kept() -> str:
    baseline, mean, ours = (
        f"{100 * kept(role, mu=0.25):.0f}%" for role in ("the baseline", "a cautious mean", "ours")
    )
    return (
        f"In fifteen states at μ = 0.25, RW-Meta keeps {baseline} of the possible gain (0%: random;"
        f" 100%: the best of every week), a cautious mean with our noise {mean}, our noise and"
        f" filter {ours}."
    )


SENTENCES = {
    "README.md": [shares_kept],
    "docs/explanation/ours.md": [lead_of_capacity, filters_above_meta],
    "docs/explanation/papers.md": [cost_to_meta, best_fixed, ratio_to_tree],
    "docs/explanation/notes.md": [ratio_to_prefix_sums, beside_the_window],
}


@pytest.mark.parametrize(
    ("page", "sentence"),
    [(page, sentence) for page, every in SENTENCES.items() for sentence in every],
)
def test_a_sentence_says_what_was_recorded(page, sentence):
    text = (ROOT / page).read_text(encoding="utf-8")
    assert sentence() in text
