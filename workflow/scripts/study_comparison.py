from dpol.config import Comparison
from dpol.evaluation.ablation import ablate
from dpol.evaluation.comparison import compare
from dpol.evaluation.runs import read_runs
from dpol.evaluation.summary import collect_cells, write_frame
from dpol.logs import job_log

with job_log(snakemake.log[0]):
    comparison = Comparison.model_validate(snakemake.params.comparison)
    cells = collect_cells(map(read_runs, snakemake.input.runs))
    shared = {"levels": snakemake.params.levels, "confidence": snakemake.params.confidence}
    write_frame(compare(cells, comparison, **shared), snakemake.output.comparison)
    write_frame(ablate(cells, comparison, **shared), snakemake.output.ablation)
