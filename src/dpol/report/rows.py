"""Rows of a league that are sent: the choices of one algorithm, in a file that anybody can score.

A row holds the choices of an algorithm on a frozen stream, not what they gained: a reader scores
them on a stream of their own, and runs no code of the sender. That the choices were made from noisy
numbers, with the guarantee that the row states, is the sender's word.
"""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import date
from importlib import metadata
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import BaseModel, ConfigDict, Field, Json, PositiveInt, ValidationError

from dpol.checks.algorithms import wrong_in_record
from dpol.config.experiment import parse_experiment
from dpol.config.models import Config
from dpol.core.errors import DataError, in_one_line
from dpol.core.files import atomic_path
from dpol.core.safe_text import printable
from dpol.core.words import shortened
from dpol.data.leaving import warning_of
from dpol.data.stream import GainStream
from dpol.experts.interface import LABEL
from dpol.experts.registry import make_members, modules_of
from dpol.noise import NOISES, MemoryChoice, privatize
from dpol.privacy.guarantee import NO_NOISE, Guarantee
from dpol.report.compare import checksum
from dpol.report.run import Run
from dpol.reruns.code_hashes import code_of_results, packages_of
from dpol.reruns.notes import loaded_versions
from dpol.studies.games.compute import play_suite
from dpol.studies.games.scores import Played

_MOST_BYTES = 200_000
"""Bytes of a row without its choices; one of ours has 6,000, with Renyi divergences 130,000."""
_MOST_CHOSEN = 2**24
"""Bytes of its choices, of four each."""
AS_SENT = (
    "As sent: choices as sent, scored here. That they were made from noisy numbers, with the"
    " guarantee that their row states, is the sender's word."
)
"""What a reader knows of a sent row."""
_GIVES_AWAY = (
    "which gives the table away: choices without noise are the largest gains, and the seed takes"
    " the noise off the rest"
)

_Text = Annotated[str, Field(pattern=r"^[^\p{C}\p{Zl}\p{Zp}]{1,200}$")]


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
    code: Json[dict[str, _Text]]
    run: _Text
    stream: _Text
    asked: Json[dict[str, Any]]
    noise: Annotated[str, Field(pattern=f"^({'|'.join((*NOISES, NO_NOISE))})$")]
    mu: Annotated[float, Field(gt=0)]
    guarantee: Json[Guarantee]


COLUMNS = {
    **dict.fromkeys(Row.model_fields, pa.string()),
    **{"tried": pa.int64(), "mu": pa.float64(), "choices": pa.list_(pa.int32())},
}
"""Columns of a file, with their types."""


def asked_by(run: Run) -> tuple[Config, dict[str, Any]]:
    """Return the config of a run, and what `play_suite` needs of it for all replicates."""
    config = parse_experiment(run.config, str(run.folder)).config
    asked = {"seed": config.seed, "noise_memory": config.privacy.memory}
    return config, {**asked, "replicates": range(config.replicates)}


def settings_of(stream: GainStream, asked: Mapping[str, Any]) -> dict[str, Any]:
    """Return what decides the games on a stream, their scores and guarantees, as JSON has it."""
    facts = {it: getattr(stream, it) for it in ("gain_range", "count_sensitivity", "stay")}
    facts |= {**asked, "replicates": len(asked["replicates"]), "stream": checksum(stream)}
    return dict(json.loads(json.dumps(facts)))


def refuse_to_send(private: bool, table: str) -> None:
    """Refuse to write rows of a private table.

    Raises:
        DataError: the table is private.
    """
    warning_of(private, f"{table}: a row has the choices and the seed", never=_GIVES_AWAY)


def write_rows(runs: Iterable[Run], path: Path, entry: Any, about: Mapping[str, Any]) -> int:
    """Play the games of an algorithm in leagues' runs again, write them as rows; return how many.

    Args:
        runs: the runs.
        path: file to write.
        entry: the algorithm, as a suite names it.
        about: `sender`, who sends them; `looked_at`, the data that the algorithm was chosen on; and
            `tried`, the number of variants that were tried.

    Raises:
        DataError: a table is private, or a file of a run cannot be read.
    """
    (member,), rows = make_members(entry), list[Any]()
    packages = packages_of(*modules_of(entry)).values()  # a version has a hash of the files
    name, version = next(iter(packages), ("dpol", metadata.version("dpol")))
    code = {"package": name, "version": version, "dpol's code": code_of_results()}
    for run in runs:
        config, asked = asked_by(run)
        cells = run.table("summary").query("algorithm == @member.label")
        for label, noise, mu in cells[["stream", "noise", "mu"]].itertuples(index=False):
            stream = run.stream(label)
            refuse_to_send(stream.private, f"{run.folder}, {label}")
            (played,) = play_suite(stream, [member], noise=noise, mu=mu, **asked)
            row = {
                **about,
                "date": date.today().isoformat(),
                "label": member.label,
                "family": member.family,
                "entry": json.dumps(entry),
                "code": json.dumps({**loaded_versions(), **code}),
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
        table = pa.Table.from_pylist(rows, pa.schema(COLUMNS))
        pq.write_table(table, temporary, row_group_size=1, compression="zstd")
    return len(rows)


def read_rows(
    files: Sequence[Path | str],
    streams: Mapping[str, GainStream],
    levels: Collection[float],
    asked: Mapping[str, Any],
    *,
    run: str = "",
) -> tuple[dict[str, str], list[Played], list[str]]:
    """Read sent rows on some streams, and score their choices; no code of a sender runs.

    Args:
        files: files of `write_rows`.
        streams: the streams here, by label; rows of others are left out.
        levels: values of mu; rows of others are left out.
        asked: `seed`, `noise_memory` and `replicates` of the games here, for `play_suite`.
        run: name of the run; rows of others are left out, unless it is empty.

    Returns:
        The sender of each label; the sent games; and a line for each row that is refused, with the
        reason, and for the rows of a file that are left out.

    Raises:
        DataError: a file holds no rows.
    """
    sent, refused, others = dict[tuple[Any, ...], Played](), list[str](), 0
    senders = dict[str, str]()
    for path in files:
        try:
            file = pq.ParquetFile(path)
        except (OSError, pa.ArrowException) as error:
            raise DataError(f"{path} holds no rows of a league: {in_one_line(error)}") from None
        with file:
            for place in range(file.num_row_groups):
                try:
                    row = facts_of(file, place)
                    stream = streams.get(row.stream)
                    if stream is None or row.mu not in levels or run not in ("", row.run):
                        others += 1
                        continue
                    games = _games(file, place, row, stream, asked)
                    key = games.label, games.stream, games.noise, games.mu
                    if key in sent:
                        raise DataError("label: there is a row of this game already")
                    sent[key] = games
                    senders[games.label] = row.sender
                except (DataError, OSError, ValueError, pa.ArrowException) as error:
                    reason = printable(" ".join(str(error).split()))
                    refused.append(f"{path}, row {place + 1}: {reason}")
    if others:
        refused.append(f"{others} rows of other streams, levels or runs than those here")
    return senders, [*sent.values()], refused


def facts_of(file: pq.ParquetFile, place: int) -> Row:
    """Return a row without its choices; the metadata tell its size before anything is read.

    Raises:
        DataError: it is too large, or a field breaks a rule.
    """
    schema, group = file.schema_arrow, file.metadata.row_group(place)
    found = [*zip(schema.names, schema.types, strict=True)]
    if found != [*COLUMNS.items()]:
        wrong = [f"{it[0]}: must be {it[1]}" for it in COLUMNS.items() if it not in found]
        raise DataError("; ".join(wrong) or "columns: not those of dpol league --write")
    *facts, choices = [group.column(i) for i in range(group.num_columns)]
    size = sum(it.total_uncompressed_size for it in facts)
    most = max(choices.total_uncompressed_size, 4 * choices.num_values)
    if group.num_rows != 1 or size > _MOST_BYTES or most > _MOST_CHOSEN:
        raise DataError(
            f"the group has {group.num_rows:,} rows, {size:,} bytes beside its choices and"
            f" {most:,} of choices, not 1 row, at most {_MOST_BYTES:,} and {_MOST_CHOSEN:,}"
        )
    (row,) = file.read_row_group(place, [*Row.model_fields]).to_pylist()
    try:
        return Row.model_validate(row)
    except ValidationError as error:
        reasons = [f"{it['loc'][0]}: {it['msg']}" for it in error.errors()]
        raise DataError("; ".join(reasons)) from None


def _games(
    file: pq.ParquetFile, place: int, row: Row, stream: GainStream, asked: Mapping[str, Any]
) -> Played:
    """Return the games of a row, scored here, if it is of the games here and may guarantee that."""
    for name, value in settings_of(stream, asked).items():
        if (theirs := row.asked.get(name)) != value:
            raise DataError(f"asked: {name} is {shortened(str(theirs))}; here it is {value}")
    size = len(asked["replicates"]), stream.n_rounds
    choices = file.read_row_group(place, ["choices"])["choices"][0].values
    if choices is None or choices.null_count or len(choices) != math.prod(size):
        raise DataError(f"choices: these games have {math.prod(size):,} choices")
    actions = choices.to_numpy().reshape(size)
    if not ((actions >= 0) & (actions < stream.n_experts)).all():
        raise DataError(f"choices: a choice is no expert of {stream.label}")
    if wrong := _wrong_guarantee(row, stream, asked["noise_memory"]):
        raise DataError(f"guarantee: it {wrong}")
    return Played(
        stream=row.stream,
        noise=row.noise,
        mu=row.mu,
        label=f"{row.label} ({row.sender}, as sent)",
        family=row.family,
        origin="other",
        guarantee=row.guarantee,
        replicates=asked["replicates"],
        actions=actions,
        gains=stream.gains[np.arange(stream.n_rounds), actions],
        best=stream.gains.max(axis=1),
    )


def _wrong_guarantee(row: Row, stream: GainStream, memory: MemoryChoice) -> str:
    """Return how a guarantee contradicts the stream, or that of the noise; empty if it does not.

    What a curator guarantees beyond that is the sender's word.
    """
    said = row.guarantee
    if said.model != "local":
        noisy = said.model == "central"
        return wrong_in_record(said, stream, row.mu, model=said.model, noisy=noisy)
    if row.noise == NO_NOISE:
        return "is local, which noise: none is not"
    own = privatize(stream, row.noise, row.mu, seed=0, replicates=1, memory=memory).guarantee
    theirs, ours = _guaranteed(said), _guaranteed(own)
    apart = [it for it in ours if theirs[it] != ours[it]]
    wrong = [f"{it} = {shortened(theirs[it])}, not {ours[it]}" for it in apart]
    of = f"is not the guarantee of {row.noise} noise at mu {row.mu:g}"
    return f"{of}: {', '.join(wrong)}" if wrong else ""


def _guaranteed(guarantee: Guarantee) -> dict[str, str]:
    """Return all that is guaranteed; the last digits of numbers depend on the processor."""
    row = {**guarantee.as_row(), "loss": guarantee.epsilon(1e-6)}
    return {k: v if isinstance(v, str) else f"{v:.9g}" for k, v in row.items()}
