from pathlib import Path

from dpol.reruns.job import job_log

with job_log(snakemake.log[0], snakemake.input, snakemake.output, snakemake.params):
    import pandas as pd

    from dpol.data.panel import read_panel
    from dpol.show.heat_map import heat_map
    from dpol.show.panels import save_figure

    panels = pd.concat([read_panel(path) for path in snakemake.input.panels], ignore_index=True)
    save_figure(heat_map(panels, *snakemake.params.shown), [Path(snakemake.output.picture)])
