"""Reading sheets of Excel's `.xlsx` files as rows of text."""

from __future__ import annotations

import datetime
import warnings
import zipfile
from pathlib import Path
from typing import Any, NamedTuple

from dpol.core.errors import DataError
from dpol.core.near import did_you_mean
from dpol.data.table_format import EITHER, Format


class BadWorkbookError(Exception):
    """A file that is damaged, or neither a workbook nor a Parquet table."""


class SheetRow(NamedTuple):
    """The cells of a row of a sheet as text, which of them are dates, and the places (`C5`) of
    formulas that were saved without a value (empty text for other cells)."""

    texts: list[str]
    dates: list[bool]
    unsaved: list[str]


def read_sheet(path: Path, form: Format, key: str) -> list[tuple[int, SheetRow]]:
    """Read the header of a sheet and the rows below it, each with its number in the sheet.

    Blank rows and columns are left out. Numbers are written as `form` reads them, dates as
    2021-01-31T00:00:00.

    Args:
        path: the workbook.
        form: its sheet, and the number of rows above the header.
        key: the key of the format, for messages.

    Raises:
        BadWorkbookError: the workbook cannot be opened, or ends too early.
        DataError: openpyxl is missing, the sheet is missing or not named, or it holds no table.
    """
    try:
        import openpyxl
        from openpyxl.cell.read_only import ReadOnlyCell
        from openpyxl.utils import get_column_letter
    except ImportError:
        raise DataError(
            f"{path}: reading a workbook needs openpyxl: pip install openpyxl; or save the table"
            " as CSV"
        ) from None

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
                    f"{path}: {key}.sheet must be one of {', '.join(map(repr, sheets))}"
                    f"{did_you_mean(form.sheet or '', sheets)}"
                )
            sheet.reset_dimensions()  # some programs write wrong ones
            cells, blank = [], set[str]()
            for row in sheet.iter_rows():
                cells.append([cell.value for cell in row])
                # A formula whose value is an empty text is of type str.
                blank |= {
                    cell.coordinate
                    for cell in row
                    if isinstance(cell, ReadOnlyCell)
                    and cell.value is None
                    and cell.data_type != "str"
                }
            book.close()
            unsaved = blank and blank & _formulas(path, sheet.title)
    except (KeyError, SyntaxError, ValueError, zipfile.BadZipFile) as error:
        raise BadWorkbookError(str(error)) from None
    width = max(map(len, cells), default=0)  # rows may differ in length
    letters, rows = [get_column_letter(place + 1) for place in range(width)], []
    for number, values in enumerate(cells, start=1):
        values += [None] * (width - len(values))
        texts = [_text(cell, form) for cell in values]
        dates = [isinstance(cell, datetime.date) for cell in values]
        places = [cell if (cell := f"{letter}{number}") in unsaved else "" for letter in letters]
        if number > form.skip_rows and (any(texts) or any(places)):
            rows.append((number, SheetRow(texts, dates, places)))
    if not rows:
        raise DataError(
            f"{path}: sheet {sheet.title!r} holds no table; name another sheet in {key}.sheet, or"
            f" lower {key}.skip_rows"
        )
    held = [place for place in range(width) if any(row.texts[place] for _, row in rows)]
    rows = [(number, _only(row, held)) for number, row in rows]
    number, header = rows[0]
    return [(number, header._replace(texts=[text.strip() for text in header.texts])), *rows[1:]]


def _only(row: SheetRow, held: list[int]) -> SheetRow:
    texts, dates, unsaved = row
    return SheetRow([texts[k] for k in held], [dates[k] for k in held], [unsaved[k] for k in held])


def _formulas(path: Path, title: str) -> set[str]:
    """Return the places of the cells that hold formulas."""
    import openpyxl

    book = openpyxl.load_workbook(path, read_only=True)
    sheet = book[title]
    sheet.reset_dimensions()
    cells = {cell.coordinate for row in sheet.iter_rows() for cell in row if cell.data_type == "f"}
    book.close()
    return cells


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
    return str(cell)
