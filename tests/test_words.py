"""The check of words finds each kind, and nothing in the texts of this checkout."""

from __future__ import annotations

import sys

import pytest

from pipeline import ROOT

sys.path.insert(0, str(ROOT / "tools"))

import words

PLAIN = """\
# A page

Reported numbers are compared with ours; there is no more to say, and both can be told apart.

| a; b | c; d |
|---|---|
| `mend; beside` | 0; 1; 2; 3 |

```sh
a; b; c; d; e   # whoever
```
"""


@pytest.mark.parametrize(
    "sentence",
    [
        *("Mend the table.", "It is told at once.", "It begins anew.", "Ours beside theirs."),
        *("It is no table.", "These are no counts.", "Whoever reads it.", "Ten persons."),
        *("Counts are noised.", "Never give it away.", "It stands in the log.", "The tree FTPL."),
        *("It lies as a file here.", "All is below `results/`.", "a; b; c; d; e"),
    ],
)
def test_each_kind_is_found_once_on_a_page(sentence: str) -> None:
    assert list(words.page_problems(PLAIN)) == []
    assert len(list(words.page_problems(f"{PLAIN}\n{sentence}\n"))) == 1


@pytest.mark.parametrize(
    ("code", "count"),
    [
        ('"""A function.\n\n    It is `beside`.\n    >>> beside\n"""', 0),
        ('"""A function.\n\nIt is told."""', 1),
        ('def f():\n    """Of the noise."""', 1),
        ('class A:\n    """What a run found."""', 1),
        ('X = 1\n"""How many rounds."""', 1),
        ('def f():\n    """The same, of others."""', 1),
        ('def f():\n    """A table, beside another."""', 1),
        ("x = 1  # beside `beside`", 1),
        ('raise ValueError("mend it")', 1),
        ('raise ValueError(f"{x}: is no table")', 1),
        ('x = {"persons": beside}', 0),  # a name, not a text
    ],
)
def test_each_kind_is_found_in_code(code: str, count: int) -> None:
    assert len(list(words.code_problems(code))) == count


def test_only_what_is_allowed_is_left(capsys: pytest.CaptureFixture[str]) -> None:
    assert words.main() == 0, capsys.readouterr().out
