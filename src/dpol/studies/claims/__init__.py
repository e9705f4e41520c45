"""The claims ledger: what the papers state, beside what a computation finds.

Statements are data, in `statements.yaml`; functions find the numbers; the verdict follows from
them. To add one: its entry in `statements.yaml`, a function from the root seed to findings, and its
line in `study.py`.
"""
