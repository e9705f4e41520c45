from dpol.core.logs import job_log
from dpol.data.gains import read_gains
from dpol.data.panel import provenance_of
from dpol.data.settings import GainsSource
from dpol.data.stream import write_stream

with job_log(snakemake.log[0]):
    source = GainsSource.model_validate(snakemake.params.source)
    provenance = provenance_of(source.file, simulated=source.simulated)
    stream = read_gains(source, snakemake.wildcards.stream, provenance)
    write_stream(stream, snakemake.output.stream)
