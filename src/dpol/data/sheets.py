"""Sheets of Excel's `.xlsx` files as tables of text."""

from __future__ import annotations

import datetime
import itertools
import warnings
import zipfile
from pathlib import Path
from typing import Any

import pandas as pd

from dpol.core.errors import DataError
from dpol.core.near import did_you_mean
from dpol.data.format import EITHER, Format


class BadWorkbookError(Exception):
    """A file that is not a workbook, or a damaged one."""


def read_sheet(path: Path, form: Format) -> tuple[pd.DataFrame, list[bool]]:
    """The cells of a sheet below its header, and which columns hold dates and nothing else.

    Blank rows and columns are left out. The index is the row of the sheet. A number is
    written as `form` reads it, a date as 2021-01-31T00:00:00.

    Raises:
        BadWorkbookError: it cannot be opened, or ends too early.
        DataError: no such sheet, several and none named, or no table in it.
    """
    import openpyxl

    try:
        with warnings.catch_warnings():  # about looks, which are not read
            warnings.simplefilter("ignore")
            book = openpyxl.load_workbook(path, read_only=True, data_only=True)
            sheets = {sheet.title: sheet for sheet in book.worksheets}
            if form.sheet is None and len(sheets) == 1:
                (sheet,) = sheets.values()
            elif form.sheet in sheets:
                sheet = sheets[form.sheet]
            else:
                raise DataError(
                    f"{path}: dataset.format.sheet must be one of {', '.join(map(repr, sheets))}"
                    f"{did_you_mean(form.sheet or '', sheets)}"
                )
            sheet.reset_dimensions()  # some programs write wrong ones
            rows = list(sheet.iter_rows(values_only=True))
            book.close()
    except (KeyError, SyntaxError, ValueError, zipfile.BadZipFile) as error:
        raise BadWorkbookError(str(error)) from None
    whole = zip(*itertools.zip_longest(*rows), strict=True)  # rows may differ in length
    values = pd.DataFrame(whole, range(1, len(rows) + 1), dtype=object)
    texts = values.map(lambda cell: _text(cell, form))
    texts = texts.loc[(texts.index > form.skip_rows) & (texts != "").any(axis=1)]
    texts = texts.loc[:, (texts != "").any()]
    if texts.empty:
        raise DataError(
            f"{path}: sheet {sheet.title!r} holds no table; name another one in"
            " dataset.format.sheet, or lower skip_rows"
        )
    cells = texts.iloc[1:]
    dates = values.loc[cells.index, cells.columns].map(lambda it: isinstance(it, datetime.date))
    dated = dates.any() & (dates | (cells == "")).all()
    return cells.set_axis(texts.iloc[0].str.strip().tolist(), axis=1), dated.tolist()


def _text(cell: Any, form: Format) -> str:
    if cell is None or cell != cell:
        return ""
    if isinstance(cell, bool):
        return str(cell).lower()
    if isinstance(cell, (int, float)):
        whole = int(cell) if float(cell).is_integer() else cell
        text = repr(whole)
        # 1.125 could be a thousand in another format; 1.1250 could not.
        return (text + "0" if EITHER.fullmatch(text) else text).replace(".", form.decimal_sign)
    if isinstance(cell, (datetime.date, datetime.time)):
        return cell.isoformat()
    return str(cell)
