"""Reading sheets of Excel's `.xlsx` files as rows of text."""

from __future__ import annotations

import datetime
import warnings
import zipfile
from pathlib import Path
from typing import Any, NamedTuple

from dpol.core.errors import DataError
from dpol.core.suggestions import did_you_mean
from dpol_weekly.tables.format import EITHER, Format

_MOST_CELLS = 5_000_000
"""Largest number of cells of a sheet; openpyxl takes a minute to read them."""


class DamagedError(Exception):
    """A file that is damaged, or neither a workbook nor a Parquet table."""


class SheetRow(NamedTuple):
    """The cells of a row of a sheet as text, which of them are dates, which are formulas that were
    saved without a value, and the letters of their columns."""

    texts: list[str]
    dates: list[bool]
    unsaved: list[bool]
    letters: list[str]


def read_sheet(path: Path, form: Format) -> list[tuple[int, SheetRow]]:
    """Read the header of a sheet and the rows below it, each with its number in the sheet.

    Blank rows and columns are left out, and blanks around a text. Numbers are written as `form`
    reads them, dates as 2021-01-31T00:00:00.

    Raises:
        DamagedError: the workbook cannot be opened, or ends too early.
        DataError: the sheet is missing or not named, it has more than five million cells, or it
            holds no table.
    """
    import openpyxl  # slow, and most tables are CSV
    from openpyxl.cell.read_only import ReadOnlyCell
    from openpyxl.utils import get_column_letter

    try:
        with warnings.catch_warnings():  # they are about styles, which are not read
            warnings.simplefilter("ignore")
            book = openpyxl.load_workbook(path, read_only=True, data_only=True)
            sheets = {sheet.title: sheet for sheet in book.worksheets}
            if form.sheet is None and len(sheets) == 1:
                (sheet,) = sheets.values()
            elif form.sheet in sheets:
                sheet = sheets[form.sheet]
            else:
                raise DataError(
                    f"{path}: format.sheet must be one of {', '.join(map(repr, sheets))}"
                    f"{did_you_mean(form.sheet or '', sheets)}"
                )
            sheet.reset_dimensions()  # some programs write wrong ones
            cells: dict[int, dict[int, Any]] = {}  # that hold a value, by row and column
            read, blank, empty = 0, False, set[tuple[int, int]]()
            for number, row in enumerate(sheet.iter_rows(), start=1):
                read += len(row)
                if read > _MOST_CELLS:
                    raise DataError(
                        f"{path}: sheet {sheet.title!r} has more than {_MOST_CELLS:,} cells up to"
                        f" {get_column_letter(len(row))}{number}; delete what lies far from the"
                        " table, also formatted cells without text, or save the table as CSV"
                    )
                for column, cell in enumerate(row, start=1):
                    if _text(cell.value, form):
                        cells.setdefault(number, {})[column] = cell.value
                    elif cell.data_type == "str":  # a formula whose value is an empty text
                        empty.add((number, column))
                    else:
                        blank = blank or isinstance(cell, ReadOnlyCell)
            book.close()
            unsaved = _formulas(path, sheet.title) - empty if blank else set()
    except (KeyError, SyntaxError, ValueError, zipfile.BadZipFile):
        raise DamagedError from None
    for number, column in unsaved:
        cells.setdefault(number, {}).setdefault(column, None)
    cells = {number: cells[number] for number in sorted(cells) if number > form.skip_rows}
    if not cells:
        raise DataError(
            f"{path}: sheet {sheet.title!r} holds no table; name another sheet in format.sheet, or"
            " lower format.skip_rows"
        )
    held = sorted({k for row in cells.values() for k, value in row.items() if value is not None})
    letters = [get_column_letter(column) for column in held]
    return [
        (
            number,
            SheetRow(
                texts=[_text(row.get(column), form) for column in held],
                dates=[isinstance(row.get(column), datetime.date) for column in held],
                unsaved=[row.get(column, "") is None for column in held],
                letters=letters,
            ),
        )
        for number, row in cells.items()
    ]


def _formulas(path: Path, title: str) -> set[tuple[int, int]]:
    """Return the row and column of each cell that holds a formula."""
    import openpyxl

    book = openpyxl.load_workbook(path, read_only=True)
    sheet = book[title]
    sheet.reset_dimensions()
    places = {
        (number, column)
        for number, row in enumerate(sheet.iter_rows(), start=1)
        for column, cell in enumerate(row, start=1)
        if cell.data_type == "f"
    }
    book.close()
    return places


def _text(cell: Any, form: Format) -> str:
    if cell is None or cell != cell:
        return ""
    if isinstance(cell, bool):
        return str(cell).lower()
    if isinstance(cell, (int, float)):
        whole = int(cell) if float(cell).is_integer() else cell
        text = repr(whole)
        # 1.125 may also mean 1125; 1.1250 may not.
        return (text + "0" if EITHER.fullmatch(text) else text).replace(".", form.decimal_sign)
    if isinstance(cell, (datetime.date, datetime.time)):
        return cell.isoformat()
    return str(cell).strip()
