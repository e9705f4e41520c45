"""Rows of a league that travel: games of one algorithm, in a file that anybody can score and check.

A row holds the choices of an algorithm on a frozen stream, not what they gained: a reader scores
them on a stream of their own. Where the code is installed, the reader plays some replicates again.
Reading a row imports the package that it names only if that very code is installed.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from datetime import date
from importlib import metadata
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import BaseModel, ConfigDict, Field, Json, PositiveInt, ValidationError

from dpol.config.experiment import parse_experiment
from dpol.config.models import Config
from dpol.core.errors import ConfigError, DataError, in_one_line
from dpol.core.files import atomic_path
from dpol.core.versions import loaded_versions
from dpol.data.stream import GainStream
from dpol.experts.interface import LABEL, Member
from dpol.experts.registry import make_members, modules_of, simplicity_of
from dpol.noise import NOISES, privatize
from dpol.privacy.guarantee import NO_NOISE, Guarantee
from dpol.report.compare import checksum
from dpol.report.run import Run
from dpol.reruns.code_hashes import code_of_results, packages_of
from dpol.studies.games.compute import play_suite
from dpol.studies.games.scores import Played, PlayedSuite

_Text = Annotated[str, Field(pattern=r"^[^\p{C}\p{Zl}\p{Zp}]{1,200}$")]

Sent = tuple[str, str, PlayedSuite]
"""Who sent games, how far they are checked here, and the games."""


class Row(BaseModel):
    """All of a row but its choices (docs/how-to/send-a-row.md)."""

    model_config = ConfigDict(frozen=True, strict=True)
    sender: _Text
    date: _Text
    looked_at: _Text
    tried: PositiveInt
    label: Annotated[str, Field(pattern=f"^{LABEL.pattern}$")]
    family: _Text
    entry: Json[str | dict[str, Any]]
    code: Json[dict[str, str]]
    run: _Text
    stream: _Text
    asked: Json[dict[str, Any]]
    noise: Annotated[str, Field(pattern=f"^({'|'.join((*NOISES, NO_NOISE))})$")]
    mu: Annotated[float, Field(gt=0)]
    guarantee: Json[Guarantee]


def asked_by(run: Run) -> tuple[Config, dict[str, Any]]:
    """Return the config of a run, and what `play_suite` needs of it for all replicates."""
    config = parse_experiment(run.config, str(run.folder)).config
    asked = {"seed": config.seed, "noise_memory": config.privacy.memory}
    return config, {**asked, "replicates": range(config.replicates)}


def settings_of(stream: GainStream, asked: Mapping[str, Any]) -> dict[str, Any]:
    """Return what decides the games on a stream, their scores and promises, as JSON has it."""
    facts = {it: getattr(stream, it) for it in ("gain_range", "count_sensitivity", "stay")}
    facts |= {**asked, "replicates": len(asked["replicates"]), "stream": checksum(stream)}
    return dict(json.loads(json.dumps(facts)))


def code_of(entry: Any) -> dict[str, str]:
    """Return package and version of an entry of a suite, and the hash of the code of dpol.

    The version of another package ends with a hash of its files.

    Raises:
        ConfigError: the package is not installed.
        ValueError: the name is unknown.
    """
    packages = packages_of(*modules_of(entry)).values()
    name, version = next(iter(packages), ("dpol", metadata.version("dpol")))
    return {"package": name, "version": version, "dpol's code": code_of_results()}


def write_rows(runs: Iterable[Run], path: Path, entry: Any, about: Mapping[str, Any]) -> None:
    """Play the games of an algorithm in leagues' runs again, and write them as rows.

    Args:
        runs: the runs.
        path: file to write.
        entry: the algorithm, as a suite names it.
        about: `sender`, who sends them; `looked_at`, the data that the algorithm was chosen on; and
            `tried`, the number of variants that were tried.

    Raises:
        DataError: a file of a run cannot be read.
    """
    (member,), rows = make_members(entry), list[Any]()
    for run in runs:
        config, asked = asked_by(run)
        cells = run.table("summary").query("algorithm == @member.label")
        for label, noise, mu in cells[["stream", "noise", "mu"]].itertuples(index=False):
            stream = run.stream(label)
            (played,) = play_suite(stream, [member], noise=noise, mu=mu, **asked).played
            row = {
                **about,
                "date": date.today().isoformat(),
                "label": member.label,
                "family": member.family,
                "entry": json.dumps(entry),
                "code": json.dumps({**loaded_versions(), **code_of(entry)}),
                "run": config.run,
                "stream": label,
                "asked": json.dumps(settings_of(stream, asked)),
                "noise": noise,
                "mu": mu,
                "guarantee": json.dumps(played.guarantee.as_dict()),
                "choices": played.actions.ravel().astype(np.int32),
            }
            rows.append(row)
    with atomic_path(path) as temporary:
        pq.write_table(pa.Table.from_pylist(rows), temporary, row_group_size=1, compression="zstd")


def read_rows(
    path: Path | str,
    streams: Mapping[str, GainStream],
    levels: Collection[float],
    asked: Mapping[str, Any],
    *,
    run: str = "",
    replay: float,
) -> list[Sent]:
    """Read the rows of a file on some streams, check them, and play some replicates again.

    Args:
        path: file of `write_rows`.
        streams: the streams here, by label; rows of others are left out.
        levels: values of mu; rows of others are left out.
        asked: `seed`, `noise_memory` and `replicates` of the games here, for `play_suite`.
        run: name of the run; rows of others are left out, unless it is empty.
        replay: number of replicates of each row to play again, inf for all; they are drawn afresh.

    Returns:
        For each row its sender, whether it is `as sent` or how much was played again, and its
        games, whose label names both.

    Raises:
        DataError: the file holds no such rows, or one is of other games than these, its promise is
            not that of its noise, or playing it again gives other choices.
    """
    sent = []
    try:
        with pq.ParquetFile(path) as file:
            for place in range(file.num_row_groups):
                where, group = f"{path}, row {place + 1}", file.metadata.row_group(place)
                (facts,) = file.read_row_group(place, [*Row.model_fields]).to_pylist()
                row = Row.model_validate(facts)
                if row.stream not in streams or row.mu not in levels or run not in ("", row.run):
                    continue
                stream = streams[row.stream]
                for name, value in settings_of(stream, asked).items():
                    if (theirs := row.asked.get(name)) != value:
                        raise DataError(f"{where}: {name} is {theirs}; here it is {value}")
                size = len(asked["replicates"]) * stream.n_rounds
                if max(group.column(it).num_values for it in range(group.num_columns)) != size:
                    raise DataError(f"{where}: these games have {size} choices")
                choices = file.read_row_group(place, ["choices"])["choices"][0].values
                actions = choices.cast(pa.int64()).to_numpy(False).reshape(-1, stream.n_rounds)
                if not ((actions >= 0) & (actions < stream.n_experts)).all():
                    raise DataError(f"{where}: a choice is no expert of {stream.label}")
                sent.append(_scored(row, actions, stream, asked, replay, where))
    except ValidationError as error:
        wrong = "; ".join(f"{it['loc'][0]}: {it['msg']}" for it in error.errors())
        raise DataError(f"{where}: {wrong}") from None
    except (OSError, LookupError, ValueError, pa.ArrowException) as error:
        raise DataError(f"{path} holds no rows of a league: {in_one_line(error)}") from None
    if not sent:
        raise DataError(f"{path} has no row of these streams and levels, or of run {run or 'any'}")
    return sent


def _scored(
    row: Row, actions: Any, stream: GainStream, asked: Mapping[str, Any], replay: float, where: str
) -> Sent:
    """Check the promise of a row, and some choices if its code is here; return its games."""
    count, status, promise = int(min(replay, len(actions))), "as sent", row.guarantee
    if count and (member := _installed(row)):
        drawn = np.sort(np.random.default_rng().choice(len(actions), count, replace=False))
        part = {**asked, "replicates": drawn.tolist()}
        (again,) = play_suite(stream, [member], noise=row.noise, mu=row.mu, **part).played
        if (others := int((again.actions != actions[drawn]).sum())) > 1:  # a near tie
            raise DataError(f"{where}: {row.label} played again makes {others} other choices")
        status, promise = f"replayed {count} of {len(actions)}", again.guarantee
    elif promise.model == "local":
        given = {"seed": 0, "replicates": 1, "memory": asked["noise_memory"]}
        promise = privatize(stream, row.noise, row.mu, **given).guarantee
    if _promised(promise) != _promised(row.guarantee):
        raise DataError(f"{where}: this is not the promise of {row.noise} noise at mu {row.mu:g}")
    games = Played(
        stream=row.stream,
        noise=row.noise,
        mu=row.mu,
        label=f"{row.label} ({row.sender}, {status})",
        family=row.family,
        origin="other",
        guarantee=row.guarantee,
        actions=actions,
        gains=stream.gains[np.arange(stream.n_rounds), actions],
        simplicity=simplicity_of(row.family),
    )
    suite = PlayedSuite(tuple(asked["replicates"]), (games,), stream.gains.max(axis=1))
    return row.sender, status, suite


def _promised(guarantee: Guarantee) -> dict[str, str]:
    """Return all that is promised; the last digits of numbers depend on the processor."""
    return {k: v if isinstance(v, str) else f"{v:.9g}" for k, v in guarantee.as_row().items()}


def _installed(row: Row) -> Member | None:
    """Return the algorithm of a row if the same code is installed here."""
    with suppress(ConfigError, LookupError, TypeError, ValueError):
        if code_of(row.entry).items() <= row.code.items():
            (member,) = make_members(row.entry)
            return member if member.label == row.label else None
    return None
