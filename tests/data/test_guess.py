"""`dpol new dataset` reads tables of all kinds as their owners mean them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml

from dpol.cli import main
from dpol.config.experiment import load_experiment
from dpol.data.cleaning import clean_panel
from dpol.data.guess import Told, look_at
from dpol.data.layout import read_counts
from dpol.data.stream import GainStream, build_stream
from tables_of_all_kinds import MAKERS, Kind


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to work in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def config_of(kind: Kind) -> str:
    return f"{kind.file.partition('.')[0]}.yaml"


def streams_of(config: str) -> list[GainStream]:
    of = load_experiment(config).config
    raw = read_counts(of.raw_file, of.dataset)
    panel = clean_panel(raw, of.dataset, of.streams, None, of.at_most).table
    most = of.dataset.cleaning.max_clipped
    return [build_stream(panel, it, 1.0, {}, gain=of.gain, max_clipped=most) for it in of.streams]


@pytest.mark.parametrize("make", MAKERS, ids=lambda make: make.__name__)
def test_a_table_is_read_in_at_most_two_runs_and_edits(here: Path, capsys, make) -> None:
    """What its gains are is computed by pandas alone."""
    kind = make(here)
    needs_more = bool(kind.options or kind.edits)
    assert main(["new", "dataset", kind.file]) == needs_more
    said = capsys.readouterr()
    if kind.options:
        assert kind.options[0] in said.err
        assert not Path(config_of(kind)).exists()
        assert main(["new", "dataset", kind.file, *kind.options]) == 0
    for old, new in kind.edits:
        assert new.partition("\n")[2].strip() in said.err
        text = Path(config_of(kind)).read_text()
        assert old in text
        Path(config_of(kind)).write_text(text.replace(old, new))
    whole, *groups = streams_of(config_of(kind))
    expected = kind.gains.sort_index(axis=1)
    assert list(whole.entities) == list(expected)
    assert [str(it) for it in whole.periods] == [str(it.date()) for it in expected.index]
    np.testing.assert_allclose(whole.gains, expected.to_numpy(float), rtol=1e-12)
    assert sum(it.n_experts for it in groups) in (0, whole.n_experts)
