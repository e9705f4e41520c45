from dpol.reruns.job import job_log

with job_log(snakemake.log[0], snakemake.input, snakemake.output, snakemake.params):
    from dpol.core.files import read_json
    from dpol.data.panel import provenance_of_stream, read_panel
    from dpol.data.question import Gain
    from dpol.data.stream import build_stream, write_stream

    panel = read_panel(snakemake.input.panel)
    report = read_json(snakemake.input.report)
    label = snakemake.params.of
    stream = build_stream(
        panel,
        label,
        snakemake.params.count_sensitivity,
        provenance_of_stream(report, label),
        stay=snakemake.params.stay,
        gain=Gain.model_validate(snakemake.params.gain),
        named=snakemake.wildcards.stream,
        counted=snakemake.params.counted,
    )
    write_stream(stream, snakemake.output.stream)
