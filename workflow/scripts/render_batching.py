from pathlib import Path

import pandas as pd

from dpol.files import write_text
from dpol.logs import job_log
from dpol.tables.amplification import amplification_table, batching_table, settings_of
from dpol.tables.text import write_table

with job_log(snakemake.log[0]):
    curves = pd.read_parquet(snakemake.input.curves)
    batching = pd.read_parquet(snakemake.input.batching)
    tables = {
        "amplification": (amplification_table(curves), settings_of(curves)),
        "batching": (batching_table(batching), batching),
    }
    for path in map(Path, snakemake.output):
        table, numbers = tables[path.stem]
        if path.suffix == ".csv":
            write_text(path, numbers.to_csv(index=False, lineterminator="\n"))
        else:
            write_table(table, path)
