from dpol.core.logs import job_log
from dpol.show.table import write_table
from dpol.studies.hospitals.average_gain import average_gain_table
from dpol.studies.hospitals.shown import read_shown

with job_log(snakemake.log[0]):
    shown, _ = read_shown(snakemake.input, snakemake.params)
    write_table(average_gain_table(shown), *snakemake.output)
