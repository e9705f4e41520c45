"""Make the two example tables in this folder: `python data/examples/make_examples.py`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from dpol.core.files import atomic_path, write_text
from dpol.core.randomness import seed_sequence

SHELTERS, WEEKS, SUPPRESSED_BELOW = 12, 60, 5
ARTICLES = (
    *("budget", "football", "local-news", "opinion"),
    *("recipes", "science", "travel", "weather"),
)
DAYS, READERS = 120, 400


def make_shelters() -> pd.DataFrame:
    """Guests and places of shelters: a row per shelter and week, small numbers hidden."""
    rng = np.random.default_rng(seed_sequence(1, ("example", "shelters")))
    week, shelter = np.divmod(np.arange(WEEKS * SHELTERS), SHELTERS)
    places = rng.integers(12, 70, SHELTERS)[shelter]
    winter = 0.45 + 0.25 * np.cos(2 * np.pi * (week - 18) / 52)
    share = winter * rng.uniform(0.5, 1.3, SHELTERS)[shelter]
    guests = rng.binomial(places, np.clip(share, 0.02, 0.98))
    written = pd.Series(guests.astype(str))
    written[guests < SUPPRESSED_BELOW] = f"<{SUPPRESSED_BELOW}"
    written[rng.random(len(written)) < 0.02] = "-"
    monday = np.datetime64("2023-09-04") + 7 * week
    return pd.DataFrame(
        {
            "shelter": [f"S{i + 1:02}" for i in shelter],
            "district": np.where(shelter % 3 == 0, "Riverside", "Old Town"),
            "week_of": monday.astype(str),
            "guests": written,
            "places": places,
        }
    )


def make_clicks() -> pd.DataFrame:
    """Share of the readers of a day who clicked on each article, at least `READERS` of them."""
    rng = np.random.default_rng(seed_sequence(1, ("example", "clicks")))
    drift = rng.standard_normal((DAYS, len(ARTICLES))).cumsum(axis=0)
    rate = 0.06 * np.exp(0.08 * drift + 0.3 * rng.standard_normal(len(ARTICLES)))
    readers = rng.integers(READERS, 5 * READERS, rate.shape)
    shares = rng.binomial(readers, np.minimum(rate, 0.5)) / readers
    table = pd.DataFrame(shares.round(6), columns=list(ARTICLES))
    day = np.datetime64("2024-01-01") + np.arange(DAYS)
    table.insert(0, "day", day.astype(str))
    return table


def write_examples(folder: Path) -> None:
    """Write both tables."""
    write_text(folder / "shelters.csv", make_shelters().to_csv(index=False, lineterminator="\n"))
    with atomic_path(folder / "clicks.parquet") as temporary:
        make_clicks().to_parquet(temporary, index=False)


if __name__ == "__main__":
    write_examples(Path(__file__).parent)
