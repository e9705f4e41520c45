"""Write verify/expected.json from a new run, for a change of values that is meant.

    python verify/expect.py

Prints what it changes. Commit the file together with the reason.
"""

from __future__ import annotations

import json

from verify import EXPECTED, Values, differences, run_checks


def main() -> None:
    """Run all configs of this folder and write what they found."""
    before = json.loads(EXPECTED.read_text(encoding="utf-8")) if EXPECTED.exists() else {}
    after: dict[str, Values] = {}
    for check, found in run_checks():
        after[check["check"]] = found
        for line in differences(check, before.get(check["check"], {}), found):
            print(f"{check['check']}: {line}")
    EXPECTED.write_text(json.dumps(after, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
