"""`kill -9` in collect and decide: nothing is lost, and nothing is half written."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

RUNNER = Path(__file__).parent / "kill_runner.py"
TIMES = int(os.environ.get("DPOL_KILLS", "20"))  # of each command


def test_what_was_killed_is_run_again_and_ends_as_without(under_faults, tmp_path):
    """Reports of three holders, first week and second, seeded moments."""
    kills = under_faults(RUNNER, tmp_path, "sound", TIMES)
    assert [kill for kill in kills if kill["wrong"]] == []
    assert min(Counter(kill["who"] for kill in kills).values()) >= min(TIMES, 20)


def test_unsafe_commands_are_noticed(under_faults, tmp_path):
    """Files written in place, and a log without a transaction."""
    kills = under_faults(RUNNER, tmp_path, "unsafe", 20)
    wrong = {(kill["who"], text) for kill in kills for text in kill["wrong"]}
    assert {who for who, _ in wrong} == {"collect", "decide"}
    assert ("collect", "state/log.sqlite differs") in wrong
    assert ("decide", "state/index.html is half written") in wrong
