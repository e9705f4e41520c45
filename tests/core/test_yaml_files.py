"""A number in YAML means what its digits say, or is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dpol.core.errors import ConfigError
from dpol.core.yaml_files import read_yaml


def read(folder: Path, text: str) -> object:
    """Return the value of a key."""
    (folder / "my.yaml").write_text(f"a: {text}\n")
    content = read_yaml(folder / "my.yaml")
    assert isinstance(content, dict)
    return content["a"]


@pytest.mark.parametrize(
    ("text", "value", "remedy"),
    [
        ("0120", "80", "write 120"),
        ("-010", "-8", "write -10"),
        ("1:30", "90", "write a plain number"),
        ("1:30.5", "90.5", "write a plain number"),
        ("1_000", "1000", "write 1000"),
        ("1.0e+400", "inf", "write a plain number"),
    ],
)
@pytest.mark.parametrize("place", ["{}", "[1, {}]", "{{b: {{c: {}}}}}", "{{{}: x}}"])
def test_a_number_in_disguise_is_refused_everywhere_with_the_remedy(
    tmp_path: Path, text: str, value: str, remedy: str, place: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        read(tmp_path, place.format(text))
    said = f"my.yaml: line 1: YAML reads {text} as {value}; {remedy}, or put it in quotes"
    assert str(caught.value).splitlines()[0].endswith(said)
    assert read(tmp_path, f"'{text}'") == text


def test_a_whole_number_that_no_float_holds_is_a_number(tmp_path: Path) -> None:
    assert read(tmp_path, "9" * 400) == int("9" * 400)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text("0123456789:_+-.", min_size=1, max_size=6))
def test_a_number_is_what_its_digits_say(tmp_path: Path, text: str) -> None:
    try:
        value = read(tmp_path, text)
    except ConfigError:
        return
    if isinstance(value, (int, float)):
        assert value == float(text)
        assert "_" not in text
        assert value == yaml.safe_load(text), "as Snakemake reads it"
