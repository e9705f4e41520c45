from dpol.core.logs import job_log
from dpol.core.schemas import write_frame
from dpol.studies.hospitals.ablation import ablate
from dpol.studies.hospitals.comparison import compare
from dpol.studies.hospitals.runs import read_runs
from dpol.studies.hospitals.settings import Comparison
from dpol.studies.hospitals.summary import collect_cells

with job_log(snakemake.log[0]):
    comparison = Comparison.model_validate(snakemake.params.comparison)
    cells = collect_cells(map(read_runs, snakemake.input.runs))
    shared = {"levels": snakemake.params.levels, "confidence": snakemake.params.confidence}
    write_frame(compare(cells, comparison, **shared), snakemake.output.comparison)
    write_frame(ablate(cells, comparison, **shared), snakemake.output.ablation)
