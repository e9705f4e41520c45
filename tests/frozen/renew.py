"""Write the digests of one config again, for a change of values that is meant.

    python tests/frozen/renew.py panel         every digest, under the names of today
    python tests/frozen/renew.py panel --new   only results and columns that are not frozen yet

Run it at a commit where nothing but the meant change differs, read what it prints, and commit the
digests together with the reason (if random numbers changed: with a test that their law did not).
Entries of names.yaml that only served the old names go in the same commit.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from frozen import values


def renewed(config: str, files: dict[str, Path], only_new: bool) -> values.Digests:
    """The digests to write; what differs from the frozen ones is printed."""
    frozen, names = values.read_digests(config), values.read_names()
    frames = {name: values.read_result(path) for name, path in files.items()}
    today = {name: values.digests(frame) for name, frame in frames.items()}
    kept = {}
    for old, columns in frozen.items():
        new = values.name_today(old, names)
        if new not in frames:
            print(f"{old}: no {new} today")
            kept[old] = columns
            continue
        frame = frames.pop(new)
        wrong = values.differences(old, columns, frame, names)
        for column, what in wrong.items():
            print(f"{old}, column {column}: {what}")
        # New columns come last in the order of sorting, so that the others keep their digests.
        frame = values.under_frozen_names(old, columns, frame, names)
        added = [name for name in frame if name not in columns]
        found = values.digests(frame[[*(name for name in columns if name in frame), *added]])
        kept[old] = columns | {name: found[name] for name in added}
    for name in frames:
        print(f"{name}: new")
    return kept | {name: today[name] for name in frames} if only_new else today


def main() -> None:
    """Run the config in a temporary folder and write its digests."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("config", choices=list(values.CONFIGS))
    parser.add_argument("--new", action="store_true", help="keep the digests that are there")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        files = values.run_config(asked.config, Path(folder))
        written = renewed(asked.config, files, asked.new)
    path = values.HERE / "values" / f"{asked.config}.json"
    path.write_text(json.dumps(dict(sorted(written.items())), indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
