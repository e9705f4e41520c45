"""What ran: the hash of the code that a job can reach, and the note of what it did.

Snakemake decides which jobs run, by their params, inputs and times. Among the params are a hash of
the code that the job can reach, the checksums of its tables, and a digest of what each job that
makes one of its inputs is asked. So the params of a job change with everything that it depends on.

A job leaves a note next to its log: what it was asked, and the checksums of the files of the run
that it read and wrote. `dpol.reruns.notes.unanswered` compares notes with a plan. Each job calls it
for what it reads, before it writes; the call itself calls it for all jobs that Snakemake does not
choose, before any job starts. So neither a flag of Snakemake, nor results without its records, nor
a file that was changed by hand leads to a table or a page with other numbers.

A file that is as noted counts as made in order, so results may be moved, copied or unpacked.
"""
