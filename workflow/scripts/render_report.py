from pathlib import Path

import yaml

from dpol.config.experiment import parse_experiment
from dpol.core.files import write_text
from dpol.core.logs import job_log
from dpol.report.page import build_page
from dpol.report.provenance import Provenance, commit_of, installed_versions, read_stages

with job_log(snakemake.log[0]):
    page, params = Path(snakemake.output.page), snakemake.params
    folder = page.parents[1]
    provenance = Provenance(
        config_name=params.config_name,
        config_text=params.config_text,
        versions=installed_versions(),
        commit=commit_of(Path(snakemake.scriptdir).parents[1]),
        stages=read_stages(map(Path, params.benchmarks), folder / "benchmarks"),
    )
    config = parse_experiment(yaml.safe_load(params.config_text), params.config_name).config
    write_text(page, build_page(folder, config, provenance))
