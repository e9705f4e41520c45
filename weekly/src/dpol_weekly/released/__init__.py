"""Release files: how a row, a record and a file are written, found and read.

`dpol privatize` writes one file for each release: a zip of a table of noisy counts, a record in
JSON and a statement in words.
"""
