"""Which jobs must run, and which ran: their proofs and notes, hashes of their code, and locks.

A job hashes its script, the code that it can reach, its tables and its inputs when it starts, and
fails where they are not what it is asked, or where they or the files that it wrote change until it
ends. Then it notes, next to its log, what it was asked and the checksums of what it read and wrote.
The next plan reads the notes:

=================  =====================  =================  ===========================
asked now as then  the files as noted     its outputs there  the job
=================  =====================  =================  ===========================
yes                yes                    yes                does not run
no                 yes                    yes                runs
(no note)          (no note)              yes                runs
any                any                    no                 runs
any                an output was changed  yes                the plan stops and names it
=================  =====================  =================  ===========================

The page compares all notes with the plan, and is not made where one differs: no flag of Snakemake
and no other run gets a page with other numbers. One call at a time works on `results/<run>`, and
one process on a job.

Times of files decide nothing, nor does the folder of a table, so results and tables may be moved,
copied, unpacked or kept by a storage provider.
"""
