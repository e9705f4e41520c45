# dpol: from a table of hospitals to the paper's Table 2 and Figure 2.
#   snakemake --cores 2                                    the paper (config/config.yaml)
#   snakemake --cores 2 --configfile config/demo.yaml      simulated hospitals, no network
from snakemake.utils import min_version

min_version("9.8")


# Snakemake merges a --configfile into this one key by key; a config of ours stands alone.
if not workflow.overwrite_configfiles:

    configfile: "config/config.yaml"


include: "workflow/rules/common.smk"
include: "workflow/rules/fetch.smk"
include: "workflow/rules/clean.smk"


if not RELEASED:

    include: "workflow/rules/streams.smk"
    include: "workflow/rules/hospitals.smk"


include: "workflow/rules/studies.smk"
include: "workflow/rules/report.smk"


localrules:
    all,
    data,


rule all:
    default_target: True
    input:
        rules.render_report.input,
        rules.render_report.output,
    message:
        "Done: {RESULTS}/report/index.html"


onsuccess:
    announce_results()


onerror:
    announce_errors()
