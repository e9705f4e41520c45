"""`dpol publish-entry`: an entry for the registry of deployments from the record of a release."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import yaml
from jsonschema import Draft7Validator

from dpol.cli import main
from dpol.core.errors import DataError
from dpol_weekly.holder.registry import registry_entry
from releases import A1, A2, B1, deployment, newest, put, record, repack

REGISTRY = yaml.safe_load(Path(__file__).with_name("registry.yaml").read_text())
READ = "July 2026 (changes #184 to #186)"


def complaints(text):
    """The mistakes that the registry's schema finds in the entry."""
    validator = Draft7Validator(REGISTRY, format_checker=Draft7Validator.FORMAT_CHECKER)
    found = validator.iter_errors(yaml.safe_load(text))
    return [f"{error.json_path}: {error.message}" for error in found]


class Secure:
    """Seeded noise that says it is secure: what the record of a true release says."""

    name = "secure"

    def discrete_gaussian(self, scale, size):
        return [scale] * size


def entry():
    return yaml.safe_load(registry_entry(newest()))["deployment"]


def test_an_entry_has_every_key_dpol_knows_and_the_numbers_of_the_record():
    put(A1, B1, sampler=Secure())
    found = entry()
    assert list(yaml.safe_load(registry_entry(newest()))) == list(REGISTRY["properties"])
    known = REGISTRY["properties"]["deployment"]["properties"]
    assert {name: list(keys) for name, keys in found.items()} == {
        name: list(section["properties"]) for name, section in known.items()
    }
    loss, model = found["privacy_loss"], found["deployment_model"]
    assert loss["privacy_unit"] == "one person in one period"
    assert loss["privacy_parameters"] == {"rho": 0.125}
    assert "mu = 0.5," in loss["privacy_parameters_details"]
    assert "epsilon = 2.255 at delta = 1e-6" in loss["privacy_parameters_details"]
    assert "has mu = 0.3536" in loss["privacy_parameters_details"]
    assert "has mu = 1 at most" in found["accounting"]["composition"]
    assert (model["release_type"], model["data_source_type"]) == ("One release", "Static")
    assert found["basic"]["publication_date"] == record()["releases"][0]["date"]
    assert "2 noisy counts" in found["basic"]["description"]


def test_a_continued_release_with_memory_says_so():
    made = deployment(noise={"memory": "designed"}, unit_weeks=4)
    put(A1, sampler=Secure(), made=made)
    put(A2, sampler=Secure(), made=made)
    found = entry()
    assert found["deployment_model"]["release_type"] == "Many releases"
    assert found["deployment_model"]["data_source_type"] == "Dynamic"
    assert found["privacy_loss"]["privacy_unit"] == "one person in at most 4 periods in a row"
    assert "noise with memory" in found["implementation"]["mechanisms"]


@pytest.mark.parametrize("rows", [[A1], [A1, A2]], ids=["one release", "two releases"])
def test_an_entry_is_valid_by_the_registrys_schema_of_the_date_it_names(rows):
    for row in rows:
        put(row, sampler=Secure())
    assert complaints(registry_entry(newest())) == []
    assert f"# registry's schema of {READ};" in registry_entry(newest())


def test_the_schema_refuses_a_missing_a_strange_and_a_wrong_value():
    put(A1, sampler=Secure())
    text = registry_entry(newest())
    for old, new in (
        ("status: Draft\n", ""),
        ("  administrative:\n", "  administrative:\n    tier: 3\n"),
        ("  accounting:\n", "  bookkeeping:\n"),
        ("  implementation:\n", "  implementation:\n    utility: none\n"),
        ("      - TODO\n    description", "      - data_curator_name: TODO\n    description"),
        ("data_product_sector: Healthcare", "data_product_sector: TODO"),
    ):
        assert old in text
        assert len(complaints(text.replace(old, new))) == 1


def test_it_passes_the_registrys_checks_of_yaml_and_is_marked_as_not_validated():
    """Numbers are numbers, dates are text, no text is folded."""
    put(A1, sampler=Secure(), made=deployment(mu=0.001))
    text = registry_entry(newest())
    assert "It has NOT been validated by the registry" in text
    assert entry()["privacy_loss"]["privacy_parameters"]["rho"] == 5e-7
    assert isinstance(entry()["basic"]["publication_date"], str)
    styles = {getattr(token, "style", None) for token in yaml.scan(text)}
    assert styles <= {None, '"', "'", "|"}


def test_text_of_a_record_cannot_add_keys():
    put(A1, sampler=Secure())
    odd = 'x"\n  status: Approved # {{ rows }}'
    repack(record=json.dumps({**record(), "unit": odd, "mechanism": odd}).encode())
    assert entry()["privacy_loss"]["privacy_unit"] == odd
    assert odd in entry()["implementation"]["mechanisms"]
    assert yaml.safe_load(registry_entry(newest()))["status"] == "Draft"


@pytest.mark.parametrize(
    "change",
    [
        *({name: None} for name in ("mu", "stays", "releases", "rows", "mu_over_all_outputs")),
        *({"mu": mu} for mu in (0, -1, float("inf"), float("nan"), "x")),
        *({"mu": mu} for mu in (1e308, 10**400)),
        *({"mu_over_all_outputs": mu} for mu in (1e400, 10**400, -1)),
        {"stays": [10**400] * 4},
        *({"epsilon_delta": it} for it in ([[]], [1, 1e-6], 7)),
        *({"releases": it} for it in ([], [{"date": "today"}], [{}])),
    ],
)
def test_what_is_no_record_is_refused(change):
    put(A1, sampler=Secure())
    repack(record=json.dumps(record() | change).encode())
    with pytest.raises(DataError, match="is not the record of a release"):
        registry_entry(newest())


def test_a_seeded_release_is_not_registered():
    put(A1)
    with pytest.raises(DataError, match="its noise can be reproduced"):
        registry_entry(newest())


def test_the_command_writes_a_new_file_or_prints(capsys):
    put(A1, sampler=Secure())
    assert main(["publish-entry", str(newest())]) == 0
    printed = capsys.readouterr().out
    assert main(["publish-entry", str(newest()), "--output", "entry.yaml"]) == 0
    assert Path("entry.yaml").read_text() == printed
    for arguments, said in (
        ((str(newest()), "--output", "entry.yaml"), "entry.yaml: exists already; choose another"),
        (("counts.csv",), "counts.csv: is not a record of dpol; ask for"),
        (("none.json",), "none.json: is not there, or is not a file"),
    ):
        assert main(["publish-entry", *arguments]) == 1
        assert re.fullmatch(rf"error: {said}.*\n", capsys.readouterr().err)
    assert Path("entry.yaml").read_text() == printed
