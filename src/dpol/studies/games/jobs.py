"""Jobs of the main study: play games, keep their scores and perhaps their rounds."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from dpol.data.stream import read_stream
from dpol.experts.registry import make_members
from dpol.noise.noises import known_memory
from dpol.studies.games import play, scores
from dpol.studies.games.allocation import SCHEMA, Row, demand_of
from dpol.studies.games.settings import Allocation
from dpol.studies.study import Inputs, Values


def run(point: Values, inputs: Inputs) -> dict[str, pa.Table]:
    """Play the game of a point; return its scores, and every round if rounds are kept."""
    stream = read_stream(inputs.files["stream"])
    members = [member for entry in point["suite"] for member in make_members(entry)]
    asked = point.get("allocation")
    block = play.play_suite(
        stream,
        members,
        noise=point["noise"],
        mu=point["mu"],
        seed=inputs.seed,
        replicates=point["replicates"],
        memory_mb=inputs.memory_mb,
        noise_memory=known_memory(point["memory"]),
        demand=demand_of(stream, Allocation(**asked)) if asked else None,
    )
    divided = [row for played in block.played for row in played.divided]
    tables = {
        "scores": scores.table_of(block),
        "divided": _table_of(divided),
    }
    if point["keep_rounds"]:
        tables["rounds"] = play.table_of(block)
    return tables


def _table_of(divided: Sequence[Row]) -> pa.Table:
    if not divided:
        return pa.Table.from_batches([], SCHEMA)
    columns = {name: play.column([row[name] for row in divided]) for name in SCHEMA.names}
    return pa.table(columns, schema=SCHEMA)
