"""The claims ledger: what the papers state, beside what a computation finds.

Every row is a `Claim` made of two numbers, and its verdict follows from them. To add one: a
function from the root seed to claims, and its name in `ROWS` of the module of its paper.
"""
