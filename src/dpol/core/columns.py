"""Arrow tables without pandas, whose import takes longer than playing a small stream."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence, Sized
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray


def table_of(rows: Sequence[Mapping[str, Any]]) -> pa.Table:
    """Tabulate rows; the cell of a name that a row lacks is empty, as is that of nan.

    >>> table_of([{"n": 1, "runs": [0.5]}, {"n": 2}]).to_pydict()
    {'n': [1, 2], 'runs': [[0.5], None]}
    """
    names = dict.fromkeys(name for row in rows for name in row)
    return pa.table({it: _with_gaps([row.get(it, math.nan) for row in rows]) for it in names})


def _with_gaps(cells: Sequence[Any]) -> pa.Array:
    there = np.array([cell == cell for cell in cells])
    if there.all():
        return column(cells)
    lists = any(isinstance(cell, list) for cell in cells)
    filled = column([[] if lists and cell != cell else cell for cell in cells])
    parts = [filled.values] if lists else None
    buffers = [_bits(there), *filled.buffers()[1 : 2 if lists else None]]
    return pa.Array.from_buffers(filled.type, len(cells), buffers, children=parts)


def column(values: NDArray[Any] | Sequence[Any]) -> pa.Array:
    """Return numbers, truths, texts or lists of numbers as a column.

    Args:
        values: all of one kind, at least one.

    >>> column(["a", "μ"]).to_pylist(), column([[0.5, 1.5], [2.5]]).to_pylist()
    (['a', 'μ'], [[0.5, 1.5], [2.5]])
    """
    first = values[0]
    if isinstance(first, str):
        texts = [text.encode() for text in values]
        buffers = pa.py_buffer(_ends(texts)), pa.py_buffer(b"".join(texts))
        return pa.StringArray.from_buffers(len(texts), *buffers)
    if isinstance(first, Sequence | np.ndarray):
        return pa.ListArray.from_arrays(column(_ends(values)), column(np.concatenate(values)))
    numbers = np.ascontiguousarray(values)
    if numbers.dtype == bool:
        return pa.Array.from_buffers(pa.bool_(), len(numbers), [None, _bits(numbers)])
    buffers = None, pa.py_buffer(numbers)
    return pa.Array.from_buffers(pa.from_numpy_dtype(numbers.dtype), len(numbers), buffers)


def _bits(truths: NDArray[np.bool_]) -> pa.Buffer:
    return pa.py_buffer(np.packbits(truths, bitorder="little"))


def _ends(values: Iterable[Sized]) -> NDArray[np.int32]:
    return np.cumsum([0, *map(len, values)], dtype=np.int32)
