"""The question and the setting of a run, in five sentences."""

from __future__ import annotations

from typing import Literal

import pandas as pd

from dpol.config.models import Config
from dpol.show.footers import AS_HARD_AS, COVERS, MODELS
from dpol.show.words import each, mu_title


def describe_setting(config: Config, summary: pd.DataFrame) -> tuple[str, ...]:
    """The game, the data, the noise, what is protected, and how numbers are to be read.

    Args:
        config: of the run.
        summary: table of `dpol.studies.hospitals.summary`.
    """
    return (
        _question(config),
        _data(config, summary),
        _noise(summary),
        _protected(config, summary),
        f"Every total gain is a mean over {config.replicates} runs whose randomness follows from"
        f" the seed {config.seed}. Intervals have {100 * config.report.confidence:g}% confidence"
        f" for all cells of a table together (Student's t). {COVERS}{_marks(summary)}",
    )


def _marks(summary: pd.DataFrame) -> str:
    """A sentence on numbers in brackets, where there are any."""
    if not summary["reported_mean_gain"].notna().any():
        return ""
    return " [paper: …] is reported by the paper and not computed here."


_NEXT = {1: "the next day", 7: "next week"}


def choice_of(config: Config) -> str:
    """The choice that a run is about, in the words of its table.

    >>> from dpol.config.experiment import parse_experiment
    >>> from dpol.core.yaml_files import read_yaml
    >>> choice_of(parse_experiment(read_yaml("config/shelters.yaml"), "shelters").config)
    'In which shelter will guests take the largest share of places next week?'
    """
    if config.dataset.source.kind == "gains":
        return "Which expert will gain most in the next round?"
    called = config.dataset.needed_columns.called
    when = _NEXT.get(config.dataset.periods.days, "in the next period")
    return (
        f"In which {called('entity')} will {called('count')} take the largest share of"
        f" {called('capacity')} {when}?"
    )


_COLUMNS: tuple[Literal["entity", "count", "capacity"], ...] = ("entity", "count", "capacity")


def _question(config: Config) -> str:
    lower = "How much lower is its score when it sees only noisy numbers?"
    if config.dataset.source.kind == "gains":
        return f"Each round an algorithm picks one expert and scores that expert’s gain. {lower}"
    columns = config.dataset.needed_columns
    entity, count, capacity = map(columns.called, _COLUMNS)
    read = ", ".join(getattr(columns, it) for it in _COLUMNS)
    return (
        f"Each period an algorithm picks one {entity} and scores its {count} divided by its"
        f" {capacity} (columns {read}). {lower} Each {entity} is an expert, its score is a gain,"
        " and a period is a round."
    )


def _data(config: Config, summary: pd.DataFrame) -> str:
    streams = []
    for label, stream in config.streams.items():
        row = summary[summary["stream"] == label].iloc[0]
        streams.append(
            f"{stream.title or label} ({row['n_experts']} experts, {row['n_rounds']} rounds)"
        )
    first, last = summary["first_period"].min(), summary["last_period"].max()
    kind = "simulated, not measured" if config.dataset.simulated else "real"
    when = f", from {first:%Y-%m-%d} to {last:%Y-%m-%d}" if pd.notna(first) else ""
    return f"The data are {kind}: {', '.join(streams)}{when}."


def _noise(summary: pd.DataFrame) -> str:
    models = set(summary["model"])
    sentences = [
        f"In the {model} model {text}." for model, text in MODELS.items() if model in models
    ]
    if "none" in models:
        sentences.append("Algorithms without privacy are shown for comparison.")
    return " ".join(sentences)


def _protected(config: Config, summary: pd.DataFrame) -> str:
    private = summary[summary["epsilon"] < float("inf")]
    if private.empty:
        return "Nothing is protected: no run has privacy noise."
    levels = [mu_title(mu) for mu in config.privacy.levels.values() if mu < float("inf")]
    return f"Noise protects {each(private['unit'])}, at {', '.join(levels)}. {AS_HARD_AS}"
