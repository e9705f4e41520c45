rule render_average_gain:
    input:
        summary=rules.aggregate_runs.output.summary,
    output:
        table("average-gain", "Paper", "Total gain"),
    log:
        f"{RESULTS}/logs/render_average_gain.log",
    benchmark:
        f"{RESULTS}/benchmarks/render_average_gain.tsv"
    params:
        code=code_of_script("render_average_gain"),
        streams=STREAMS,
        levels=settings.privacy.levels,
        report=dump(settings.report),
    message:
        "Rendering the table of average gains"
    script:
        "../scripts/render_average_gain.py"


rule render_cumulative_gain:
    input:
        summary=rules.aggregate_runs.output.summary,
        cumulative=rules.aggregate_runs.output.cumulative,
    output:
        figure("cumulative-gain", "Paper", "Gain over time"),
    log:
        f"{RESULTS}/logs/render_cumulative_gain.log",
    benchmark:
        f"{RESULTS}/benchmarks/render_cumulative_gain.tsv"
    params:
        code=code_of_script("render_cumulative_gain"),
        streams=STREAMS,
        levels=settings.privacy.levels,
        report=dump(settings.report),
        central_noise=experiment.central_noise(),
    message:
        "Drawing the figure of cumulative gains"
    script:
        "../scripts/render_cumulative_gain.py"
