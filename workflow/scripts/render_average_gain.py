from pathlib import Path

import pandas as pd

from dpol.config import Report, Stream
from dpol.files import write_text
from dpol.logs import job_log
from dpol.tables.average_gain import (
    build_average_gain,
    render_csv,
    render_html,
    render_latex,
    render_markdown,
)

RENDERERS = {
    ".md": render_markdown,
    ".csv": render_csv,
    ".tex": render_latex,
    ".html": render_html,
}

with job_log(snakemake.log[0]):
    table = build_average_gain(
        pd.read_parquet(snakemake.input.summary),
        streams={k: Stream.model_validate(v) for k, v in snakemake.params.streams.items()},
        levels=snakemake.params.levels,
        report=Report.model_validate(snakemake.params.report),
    )
    for path in map(Path, snakemake.output):
        write_text(path, RENDERERS[path.suffix](table))
