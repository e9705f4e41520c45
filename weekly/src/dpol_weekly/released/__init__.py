"""Release files: how a row is written, and how files are found and read.

`dpol privatize` writes one signed JSON file for each release; `dpol_weekly.records` says what it
holds.
"""
