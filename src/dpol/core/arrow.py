"""Conversions between columns of Arrow tables and NumPy arrays.

Arrow's own conversions load pandas, which takes longer than playing a small stream.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray


def as_numpy(column: pa.ChunkedArray) -> NDArray[Any]:
    """Return a column of numbers, days or texts, without nulls, as an array.

    Raises:
        TypeError, ValueError, NotImplementedError: the column holds something else.

    >>> as_numpy(pa.chunked_array([pa.array(["a", "b", "a"]).dictionary_encode()])).tolist()
    ['a', 'b', 'a']
    """
    array = column.unify_dictionaries().combine_chunks()
    if pa.types.is_dictionary(array.type):
        return np.asarray(_texts(array.dictionary)[_numbers(array.indices)])
    if pa.types.is_string(array.type):
        return _texts(array)
    if pa.types.is_date32(array.type):
        return _numbers(array.view(pa.int32())).astype("datetime64[D]")
    return _numbers(array)


def _texts(array: pa.StringArray) -> NDArray[Any]:
    return np.array(array.to_pylist(), dtype=object)


def _numbers(array: pa.Array) -> NDArray[Any]:
    dtype = np.dtype(array.type.to_pandas_dtype())
    values = array.buffers()[1]
    return np.frombuffer(values, dtype, len(array), offset=array.offset * dtype.itemsize)


def as_arrow(values: NDArray[Any]) -> pa.Array:
    """Return a one-dimensional array of numbers as an Arrow array that shares its memory.

    >>> as_arrow(np.array([1.5, 2.0])).to_pylist()
    [1.5, 2.0]
    """
    buffer = pa.py_buffer(np.ascontiguousarray(values))
    return pa.Array.from_buffers(pa.from_numpy_dtype(values.dtype), len(values), [None, buffer])


def as_texts(values: Sequence[str]) -> pa.StringArray:
    """Return texts as an Arrow array.

    >>> as_texts(["a", "μ"]).to_pylist()
    ['a', 'μ']
    """
    encoded = [value.encode() for value in values]
    ends = np.cumsum([0, *map(len, encoded)], dtype=np.int32)
    parts = pa.py_buffer(ends), pa.py_buffer(b"".join(encoded))
    return pa.StringArray.from_buffers(len(encoded), *parts)
