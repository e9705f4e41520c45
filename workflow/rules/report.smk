rule render_report:
    input:
        rules.data.input,
        [getattr(rules, shown_rule(section)).output for section, _ in SECTIONS],
    output:
        page=f"{RESULTS}/report/index.html",
    log:
        f"{RESULTS}/logs/render_report.log",
    benchmark:
        f"{RESULTS}/benchmarks/render_report.tsv"
    params:
        code=code_of_script("render_report"),
        config_name=" + ".join(file.name for file in CONFIG_FILES) or CONFIG_PLACE,
        config_text=config_text(),
        benchmarks=benchmark_files(),
    message:
        "Writing the report: {output.page}"
    script:
        "../scripts/render_report.py"
