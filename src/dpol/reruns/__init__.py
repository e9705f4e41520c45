"""What must run, and what ran: the notes of jobs, hashes of their code, and the record of a run.

When a job ends, it notes next to its log what it was asked (settings and hashes of its code) and
the checksums of the files that it read and wrote. The next plan reads the notes:

=================  =====================  =================  ===========================
asked now as then  the files as noted     its outputs there  the job
=================  =====================  =================  ===========================
yes                yes                    yes                does not run
no                 yes                    yes                runs
(no note)          (no note)              yes                runs
any                any                    no                 runs
any                an output was changed  yes                the plan stops and names it
=================  =====================  =================  ===========================

Times of files decide nothing, so results may be copied, unpacked or kept by a storage provider.
"""
