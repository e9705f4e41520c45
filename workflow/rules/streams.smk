if settings.dataset.source.kind == "gains":

    rule build_stream:
        """Read a stream from the table of gains."""
        input:
            table=by_content(RAW),
        output:
            stream=STREAM,
        log:
            local(f"{RESULTS}/logs/build_stream/{{stream}}.log"),
        benchmark:
            local(f"{RESULTS}/benchmarks/build_stream/{{stream}}.tsv")
        priority: DATA_FIRST
        conda:
            "../envs/dpol.yaml"
        params:
            code=code_of_job("build_stream_of_gains"),
            sources=sources("build_stream", [{"stream": it} for it in settings.played]),
            contents=lambda wildcards: plan.contents(RAW, made=is_made),
            dataset=settings.dataset.untitled.model_dump(mode="json"),
        message:
            "Building stream {wildcards.stream} from {input.table}"
        script:
            "../scripts/build_stream_of_gains.py"

else:
    GAMES = settings.played | settings.read_otherwise
    read = {
        path for jobs in plan.jobs.values() for job in jobs.values() for path in job.inputs.values()
    }

    rule build_stream:
        """Make a stream from the clean panel."""
        input:
            panel=lambda wildcards: (
                f"{RESULTS}/data/panel@{reading}.parquet"
                if (reading := GAMES[wildcards.stream].reading)
                else f"{RESULTS}/data/panel.parquet"
            ),
            report=f"{RESULTS}/data/cleaning.json",
        output:
            stream=STREAM,
        log:
            local(f"{RESULTS}/logs/build_stream/{{stream}}.log"),
        benchmark:
            local(f"{RESULTS}/benchmarks/build_stream/{{stream}}.tsv")
        priority: DATA_FIRST
        conda:
            "../envs/dpol.yaml"
        params:
            code=code_of_job("build_stream"),
            sources=sources(
                "build_stream",
                [{"stream": it} for it in GAMES if f"streams/{it}.parquet" in read],
            ),
            count_sensitivity=settings.privacy.count_sensitivity,
            stay=settings.privacy.unit.weeks,
            of=lambda wildcards: GAMES[wildcards.stream].stream,
            gain=lambda wildcards: GAMES[wildcards.stream].gain.untitled.model_dump(mode="json"),
            counted=lambda wildcards: settings.dataset.untitled.needed_columns.called("count"),
        message:
            "Building stream {wildcards.stream}"
        script:
            "../scripts/build_stream.py"


rule streams:
    """Target: all streams."""
    input:
        expand(STREAM, stream=settings.played),
    localrule: True
    message:
        f"Done: {RESULTS}/streams"
