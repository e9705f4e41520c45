"""Names in the standings: what a system promises, and its role."""

THE_LEVEL, ONE_WEEK, RAW = "the level", "one week", "raw"
"""What a row promises: its level, and for longer stays as much as independent noise at the level;
its level for one week only; its level from a curator or nobody, who see raw gains."""
THE_BASELINE, OUR_METHOD = "the baseline", "our method"
"""Roles: the first paper's RW-Meta with its noise, and our method, or the reader's."""
