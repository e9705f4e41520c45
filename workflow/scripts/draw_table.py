from pathlib import Path

from dpol.reruns.job import job_log

with job_log(snakemake.log[0], snakemake.input, snakemake.output, params=snakemake.params):
    import pandas as pd

    from dpol.core.schemas import read_frame
    from dpol.data.panel import PANEL
    from dpol.show.heat_map import heat_map
    from dpol.show.panels import save_figure

    panels = [read_frame(Path(path), PANEL) for path in snakemake.input.panels]
    whole = pd.concat(panels, ignore_index=True)
    save_figure(heat_map(whole, *snakemake.params.shown), [Path(snakemake.output.picture)])
