if settings.dataset.source.kind == "gains":

    rule build_stream:
        """Read a stream from the table of gains."""
        input:
            table=by_content(RAW),
        output:
            stream=STREAM,
        log:
            log_of("build_stream", "build_stream/{stream}"),
        priority: DATA_FIRST
        conda:
            "../envs/dpol.yaml"
        params:
            **notes("build_stream", [{"stream": it} for it in settings.played]),
            code=code_of_job("build_stream_of_gains"),
            contents=lambda wildcards: plan.contents(RAW, made=is_made),
            dataset=settings.dataset.untitled.model_dump(mode="json"),
        message:
            "Building stream {wildcards.stream} from {input.table}"
        script:
            "../scripts/build_stream_of_gains.py"


rule streams:
    """Target: all streams."""
    input:
        expand(STREAM, stream=settings.played),
    localrule: True
    message:
        f"Done: {RESULTS}/streams"
