from dpol.reruns.job import job_log

with job_log(snakemake.log[0], snakemake.input, snakemake.output, params=snakemake.params):
    from dpol.core.files import read_json, write_json, write_text
    from dpol.data.cleaning import joined, log_warnings, report_as_markdown

    report = joined([read_json(path) for path in snakemake.input.reports])
    log_warnings(report["provenance"]["file"], report)
    write_json(snakemake.output.report, report)
    write_text(snakemake.output.page, report_as_markdown(report))
