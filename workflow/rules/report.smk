SNAKEFILE = Path(workflow.source_path("../Snakefile"))


rule render_report:
    input:
        rules.data.input,
        outputs_of_studies(),
    output:
        page=f"{RESULTS}/report/index.html",
        crate=f"{RESULTS}/ro-crate-metadata.json",
        parts=[f"{RESULTS}/provenance/{name}" for name in ("Snakefile", "config.yaml")],
    log:
        local(f"{RESULTS}/logs/render_report.log"),
    benchmark:
        local(f"{RESULTS}/benchmarks/render_report.tsv")
    params:
        # The model of a config has a block of every study, and each brings its answers.
        code=code_of_script(
            "render_report",
            *(study.module for study in EVERY_STUDY),
            *(it for study in EVERY_STUDY for it in code_of_page(study)),
        ),
        config_name=" + ".join(file.name for file in CONFIG_FILES) or f"module {MODULE}",
        config_text=config_text(),
        benchmarks=benchmark_files(),
        # No inputs: who deletes them gets the report without playing again.
        played=files_played(),
        packages=[package.as_version for package in packages_played(settings)],
        codes={name: code for codes in CODES.values() for name, code in codes.items()},
        # Not as it is: a name in braces there is not a wildcard here.
        snakefile=lambda wildcards: SNAKEFILE.read_text(encoding="utf-8"),
    message:
        "Writing the report: {output.page}"
    script:
        "../scripts/render_report.py"
