"""Names in the games: the first paper's algorithms and exhibits, references, and roles.

Jobs that draw read these and import no algorithm.
"""

from __future__ import annotations

PAPER_NOISE = "isotropic"
"""Noise behind the first paper's numbers."""
META, MIN_NOISE, MIN_REGRET = "rw-meta", "tree-ftpl-min-noise", "tree-ftpl-min-regret"
TITLES = {META: "RW-Meta", MIN_NOISE: "Min Noise", MIN_REGRET: "Min Regret"}
"""The paper's names for single algorithms, by label."""
LINEAR, BEST_LINEAR = "ridge", "best-linear-model"
"""The family of the paper's linear models, and the column of the best of them."""
TABLE_2 = "paper 1, Table 2: "
"""Beginning of the column `exhibit` in rows of Table 2, which Figure 2 draws too; the column of the
table follows."""
VARIANT = "beside paper 1, Table 2: "
"""The same in rows of variants, each a column of its own beside the paper's."""
BEST_FIXED = "best-fixed-expert"
"""Label of the best fixed expert in hindsight, in the curves of cumulative gain."""
UNIFORM = "uniform-random"
"""Label of an expert drawn uniformly in every round, in the same curves."""
ORACLE = "oracle"
"""Label of the best expert of every round, in the same curves."""
REFERENCE_TOTALS = {UNIFORM: "uniform_gain", BEST_FIXED: "best_fixed_gain", ORACLE: "oracle_gain"}
"""Columns of the summary with the total gain of each reference, by label."""
REFERENCE_NAMES = {UNIFORM: "uniform random", BEST_FIXED: "best fixed expert", ORACLE: "oracle"}
"""Names that readers see."""
THE_LEVEL, ONE_WEEK, RAW, LESS = "the level", "one week", "raw", "less"
"""What a row promises: its level, and for longer stays as much as independent noise at the level;
its level for one week only; its level from a curator or nobody, who see raw gains; less."""
BASELINE, OURS = "the baseline", "our method"
"""Roles: the first paper's RW-Meta with its noise, and our method, or the reader's."""
