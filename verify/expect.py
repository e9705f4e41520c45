"""Write verify/expected.json from a new run, after an intended change of values.

    python verify/expect.py

Prints what it changes. Commit the file together with the reason.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from verify import EXPECTED, Values, differences, read_expected, run_checks


def main() -> None:
    """Run all configs of this folder and write their values."""
    before = read_expected() if EXPECTED.exists() else {}
    after: dict[str, Values] = {}
    for check, found in run_checks():
        name = check["check"]
        after[name] = found
        changed = list(differences(check, before.pop(name, {}), found))
        print(f"{name}: {f'{len(changed)} values differ' if changed else 'as before'}")
        print("".join(f"    {line}\n" for line in changed), end="")
    for name in before:
        print(f"{name}: no such check any more")
    EXPECTED.write_text(written(after), encoding="utf-8")


def written(checks: Mapping[str, Values]) -> str:
    """Return the values of checks as JSON: one line for each row, floats with twelve digits."""
    return "{\n" + ",\n".join(_check(name, rows) for name, rows in checks.items()) + "\n}\n"


def _check(name: str, rows: Values) -> str:
    columns = list(next(iter(rows.values())))
    lines = [f"{_json(key)}: {_json([*map(_digits, row.values())])}" for key, row in rows.items()]
    body = ",\n".join(lines)
    return f'{_json(name)}: {{"columns": {_json(columns)}, "rows": {{\n{body}\n}}}}'


def _digits(value: object) -> object:
    return float(f"{value:.12g}") if isinstance(value, float) else value


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


if __name__ == "__main__":
    main()
