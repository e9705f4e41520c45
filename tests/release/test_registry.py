"""`dpol registry`: an entry for the registry of deployments from the record of a release."""

from __future__ import annotations

import json
import re
from decimal import Decimal
from pathlib import Path

import pytest
import yaml

from dpol.cli import main
from dpol.core.errors import DataError
from dpol.release.memory import Memory
from dpol.release.noise import CountNoise
from dpol.release.registry import registry_entry
from releases import A1, A2, B1, RECORD, put, record

# The registry's template, by hand: what it wants for a record of the third tier.
SECTIONS = {
    "basic": "name data_curators description intended_use data_product_type data_product_region"
    " data_product_sector publication_date",
    "dp_variant": "variant_name data_domain unprotected_quantities",
    "privacy_loss": "privacy_unit privacy_unit_details number_of_privacy_units privacy_parameters"
    " privacy_parameters_details",
    "deployment_model": "model_name model_name_details trust_assumptions actors release_type"
    " release_type_details data_source_type access_type",
    "implementation": "preprocessing_and_hyperparameter_tuning mechanisms composition"
    " post_processing justification utility",
    "administrative": "evidence_sources status registry_authors tier",
}


class Secure:
    """Seeded noise that says it is secure: what the record of a true release says."""

    name = "secure"

    def discrete_gaussian(self, scale, size):
        return [scale] * size


def entry():
    return yaml.safe_load(registry_entry(RECORD))["deployment"]


def test_an_entry_has_the_keys_of_the_registry_and_the_numbers_of_the_record():
    put(A1, B1, sampler=Secure())
    found = entry()
    assert {name: " ".join(keys) for name, keys in found.items()} == SECTIONS
    loss, model = found["privacy_loss"], found["deployment_model"]
    assert loss["privacy_unit"] == "one person in one period"
    assert loss["privacy_parameters"] == {"rho": 0.125}
    assert "mu = 0.5," in loss["privacy_parameters_details"]
    assert "epsilon = 2.255 at delta = 1e-6" in loss["privacy_parameters_details"]
    assert "has mu = 0.3536" in loss["privacy_parameters_details"]
    assert "has mu = 1 at most" in found["implementation"]["composition"]
    assert (model["release_type"], model["data_source_type"]) == ("One release", "TODO")
    assert found["basic"]["publication_date"] == record()["releases"][0]["date"]
    assert "2 noisy counts" in found["basic"]["description"]


def test_a_continued_release_with_memory_says_so():
    memory = Memory((Decimal(0), Decimal("0.6")), unit_weeks=4)
    put(A1, sampler=Secure(), memory=memory)
    put(A2, sampler=Secure(), memory=memory, append=True)
    found = entry()
    assert found["deployment_model"]["release_type"] == "Many releases"
    assert found["deployment_model"]["data_source_type"] == "Dynamic"
    assert found["privacy_loss"]["privacy_unit"] == "one person in at most 4 periods in a row"
    assert "noise with memory" in found["implementation"]["mechanisms"]


def test_it_passes_the_registrys_checks_of_yaml_and_is_marked_as_not_validated():
    """Numbers are numbers, dates are text, no text is folded."""
    put(A1, sampler=Secure(), noise=CountNoise(Decimal("0.001")))
    text = registry_entry(RECORD)
    assert "It has NOT been validated by the registry" in text
    assert entry()["privacy_loss"]["privacy_parameters"]["rho"] == 5e-7
    assert isinstance(entry()["basic"]["publication_date"], str)
    styles = {getattr(token, "style", None) for token in yaml.scan(text)}
    assert styles <= {None, '"', "'", "|"}


def test_text_of_a_record_cannot_add_keys():
    put(A1, sampler=Secure())
    odd = 'x"\n  status: Approved # {{ rows }}'
    RECORD.write_text(json.dumps({**record(), "unit": odd, "mechanism": odd}))
    assert entry()["privacy_loss"]["privacy_unit"] == odd
    assert odd in entry()["implementation"]["mechanisms"]
    assert entry()["administrative"]["status"] == "Draft"


@pytest.mark.parametrize(
    "change",
    [
        *({name: None} for name in ("mu", "stays", "releases", "rows", "mu_over_all_outputs")),
        *({"mu": mu} for mu in (0, -1, float("inf"), float("nan"), "x")),
        *({"releases": it} for it in ([], [{"date": "today"}], [{}])),
    ],
)
def test_what_is_no_record_is_refused(change):
    put(A1, sampler=Secure())
    RECORD.write_text(json.dumps(record() | change))
    with pytest.raises(DataError, match="is not the record of a release"):
        registry_entry(RECORD)


def test_a_seeded_release_is_not_registered():
    put(A1)
    with pytest.raises(DataError, match="its noise can be reproduced"):
        registry_entry(RECORD)


def test_the_command_writes_a_new_file_or_prints(capsys):
    put(A1, sampler=Secure())
    assert main(["registry", str(RECORD)]) == 0
    printed = capsys.readouterr().out
    assert main(["registry", str(RECORD), "--output", "entry.yaml"]) == 0
    assert Path("entry.yaml").read_text() == printed
    for arguments, said in (
        ((str(RECORD), "--output", "entry.yaml"), "entry.yaml: exists already; choose another"),
        (("counts.csv",), "counts.csv: is not the record of a release; give the .csv.guarantee"),
        (("none.json",), r"none.json: cannot be read \(No such file"),
    ):
        assert main(["registry", *arguments]) == 2
        assert re.fullmatch(rf"error: {said}.*\n", capsys.readouterr().err)
    assert Path("entry.yaml").read_text() == printed
