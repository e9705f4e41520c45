# What `snakemake` runs in a clone; workflow/Snakefile holds the rules.
#   snakemake --cores 2                                    the paper (config/config.yaml)
#   snakemake --cores 2 --configfile config/demo.yaml      real hospitals, no network
include: "workflow/Snakefile"


# The default target of an included file is none of this one. The name `all` is left to those who
# import workflow/Snakefile, for a rule of their own.
rule all:
    input:
        rules.results.input,
    localrule: True
    message:
        done
