SNAKEFILE = Path(workflow.source_path("../Snakefile"))
# Sections name these as text, so that no import leads to them.
PAGE_MODULES = {
    function.partition(":")[0]
    for section in (*MAIN_SECTIONS, *load_studies().values())
    for function in (section.answers, section.widget)
    if function
}


rule render_report:
    input:
        rules.data.input,
        [getattr(rules, shown_rule(section)).output for section, _ in SECTIONS],
        rules.aggregate_runs.output,
        [getattr(rules, f"{study.name}_results").output for study, _ in settings.studies()],
    output:
        page=f"{RESULTS}/report/index.html",
        crate=f"{RESULTS}/ro-crate-metadata.json",
        parts=[f"{RESULTS}/provenance/{name}" for name in ("Snakefile", "config.yaml")],
    log:
        f"{RESULTS}/logs/render_report.log",
    benchmark:
        f"{RESULTS}/benchmarks/render_report.tsv"
    params:
        # The model of a config has a block of every study.
        code=code_of_script("render_report", *PACKAGES.values(), *sorted(PAGE_MODULES)),
        config_name=" + ".join(file.name for file in CONFIG_FILES) or f"module {MODULE}",
        config_text=config_text(),
        benchmarks=benchmark_files(),
        codes=codes_that_played(),
        # Not as it is: a name in braces there is not a wildcard here.
        snakefile=lambda wildcards: SNAKEFILE.read_text(encoding="utf-8"),
    message:
        "Writing the report: {output.page}"
    script:
        "../scripts/render_report.py"
