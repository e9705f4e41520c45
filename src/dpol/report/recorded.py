"""A run of one's own beside the recorded rows of a run of dpol."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from dpol.config.experiment import load_experiment
from dpol.config.models import Privacy
from dpol.core.errors import DataError
from dpol.core.shipped import shipped_configs
from dpol.report.reading import reading
from dpol.report.run import open_run
from dpol.reruns.record import differences, flat


def of_shares(summary: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of streams; of several questions, those that ask for shares."""
    asked = summary["stream"].str.endswith("-share")
    rows = summary[asked] if asked.any() else summary
    return rows.assign(stream=rows["stream"].str.removesuffix("-share"))


def mean_shares(summary: pd.DataFrame) -> pd.DataFrame:
    """Return the mean over streams of the share of the possible gain, by system and level.

    Streams have noise of their own, so the squares of their half-widths add up.
    """
    rows = of_shares(summary)
    possible = rows["oracle_gain"] - rows["uniform_gain"]
    systems = rows.assign(squared=(rows["ci_half_width"] / possible) ** 2).groupby(
        ["algorithm", "noise", "mu"]
    )
    means = systems["gain_share"].agg(streams="size", gain_share="mean")
    means["gain_share_half_width"] = systems["squared"].sum() ** 0.5 / means["streams"]
    return means.reset_index()


def beside_recorded(run: Path, recorded: Path) -> pd.DataFrame:
    """Return the mean shares of a run, and the recorded ones at its levels.

    Args:
        run: results/<run> of a finished run.
        recorded: verify/runs/<run> of a config that comes with dpol.

    Returns:
        A row per system and level, as `mean_shares`, the best at the strictest level first.
        `source` is the name of the run, `recorded`, or `baseline` or `ours` where the recorded
        system is that of the comparison.

    Raises:
        DataError: a file cannot be read, or the runs differ in more than their algorithms; the text
            names each difference.
    """
    opened, config = open_run(run), shipped_configs().get(recorded.name)
    if config is None:
        raise DataError(f"{recorded}: is no folder of verify/runs, such as verify/runs/states")
    with reading(recorded / "summary.csv"):
        known, streams = (pd.read_csv(recorded / f"{it}.csv") for it in ("shares", "summary"))
    asked = load_experiment(config).config
    old = _facts(streams, asked.privacy)
    told = [*differences(old, _facts(opened.summary, Privacy(**opened.config["privacy"])))]
    if other := {*opened.summary["mu"]} - {*known["mu"]}:
        levels = (sorted(mus) for mus in (other, {*known["mu"]}))
        told.append("mu {} is not recorded, but {} are".format(*levels))
    if told:
        raise DataError(f"{run} is no such experiment as {recorded}: {'; '.join(told)}")
    own = mean_shares(opened.summary).assign(source=run.name)
    known = known[known["mu"].isin(own["mu"])].assign(source="recorded")
    if compared := asked.block("comparison"):
        for role in ("baseline", "ours"):
            system = getattr(compared, role)
            is_it = (known["algorithm"] == system.algorithm) & (known["noise"] == system.noise)
            known.loc[is_it, "source"] = role
    rows = pd.concat([own, known], ignore_index=True)
    return rows.sort_values(["mu", "gain_share"], ascending=[True, False], ignore_index=True)


def _facts(summary: pd.DataFrame, privacy: Privacy) -> dict[str, object]:
    """Return what two runs must share: gains that tell data and question, and what levels protect.

    Recorded gains have seven digits.
    """
    streams = of_shares(summary).drop_duplicates("stream")
    gains = zip(streams["uniform_gain"], streams["oracle_gain"], strict=True)
    texts = [f"uniform {uniform:.7g}, oracle {oracle:.7g}" for uniform, oracle in gains]
    unit = privacy.model_dump(mode="json", exclude={"levels", "delta"})
    names = (f"gains of stream {stream}" for stream in streams["stream"])
    return dict(zip(names, texts, strict=True)) | dict(flat({"privacy": unit}))
