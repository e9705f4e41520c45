# Read now: Snakemake may remove its copy before the last lines of a call.
SNAKEFILE = Path(workflow.source_path("../Snakefile")).read_text(encoding="utf-8")
# The page reads the whole config, which may name every study.
SHOWING = [
    *(study.showing for study, _ in plan.studies),
    *(it for study, _ in plan.studies for part in study.sections for it in part.drawing),
    *(study.module for study in load_studies().values()),
]


PAGE = [f"{RESULTS}/{name}" for name in ("report/index.html", "ro-crate-metadata.json")]


rule render_report:
    """Write the page of the run and its RO-Crate."""
    input:
        DATA,
        SHOWN,
    output:
        page=PAGE[0],
        crate=PAGE[1],
        parts=[f"{RESULTS}/provenance/{name}" for name in ("Snakefile", "config.yaml")],
    log:
        log_of("render_report"),
    conda:
        "../envs/dpol.yaml"
    params:
        **notes("render_report"),
        code=code_of_job("render_report", *SHOWING, *plan.code),
        config_name=lambda wildcards: plan.name,
        # Not as inputs: if they are deleted, the report is made without playing again.
        played=[*PLAYED, *expand(STREAM, stream=settings.played), RAW],
        packages=[*plan.packages.values()],
        config_text=lambda wildcards: plan.text,
        snakefile=lambda wildcards: SNAKEFILE,
    message:
        "Writing the report: {output.page}"
    script:
        "../scripts/render_report.py"
