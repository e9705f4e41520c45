"""The sections of the report that show the main experiment; those of `STUDY`."""

from __future__ import annotations

from dpol.studies.study import FigureSpec, Section, TableSpec

_HERE = "dpol.studies.hospitals"

_PRIVACY_UTILITY = FigureSpec(
    name="privacy-utility",
    title="What privacy costs",
    description="Share of the possible gain compared with privacy, a panel for each stream."
    " Upwards: 0% is the gain of an expert drawn at random in every round (chance). 100% is that"
    " of the best expert of every round (foresight). To the right: how often, at most, an attacker"
    " who knows everybody else’s data guesses correctly whether a person was counted. 50% is a"
    " coin, 100% no privacy. Below it is μ, the parameter of Gaussian differential privacy. Each"
    " algorithm and noise has a line, placed by its guarantee. Bands are confidence intervals for"
    " all cells of the table of total gains together. They cover the noise on this one data set,"
    " not other places or years.",
    draw=f"{_HERE}.privacy_utility:draw_privacy_utility",
)
_CUMULATIVE = FigureSpec(
    name="cumulative-gain",
    title="Cumulative gain",
    description="Mean cumulative gain against time, from the first round to the last. A row of"
    " panels for each stream, a column for each privacy level; a line with a narrow band of its"
    " colour, its confidence interval, for each algorithm; a wide orange shade for the range of"
    " the single learners, which is not an interval. Without privacy, algorithms that add noise of"
    " their own have no line. Dotted lines: the best expert of every round (foresight), the best"
    " single expert in hindsight, and an expert drawn at random in every round (chance). In each"
    " round the intervals hold for all cells of the table of total gains together, where the lines"
    " end; they cover the noise on this one data set, not other states or years.",
    draw=f"{_HERE}.cumulative_gain:draw_cumulative_gain",
)
_COMPARISON = FigureSpec(
    name="comparison",
    title="The paper’s way and ours",
    description="Total gain against the privacy level, from no privacy on the left to the most"
    " privacy on the right, a panel for each stream. Lines: the paper’s way, ours, the best other"
    " local row, the best with a curator; dashed: the best of the paper’s learners without noise;"
    " dotted: chance, the best fixed expert in hindsight, and foresight. Intervals cover the noise"
    " on this one data set, not other states or years. The numbers are in the table below.",
    draw=f"{_HERE}.comparison_figure:draw_comparison",
)

_DECISIONS = FigureSpec(
    name="decisions",
    title="All decisions at once",
    description="The first run on the first stream: a row for each expert that is shown, a column"
    " for each round. The darker, the larger the true gain. Circles: the best expert of the round"
    " (foresight). Dots: what the algorithm chose from noisy gains of earlier rounds, in a panel"
    " for each privacy level. A round without a dot or a circle was spent on an expert that is not"
    " shown.",
    draw=f"{_HERE}.decisions_figure:draw_decisions",
)
_RIVALS = FigureSpec(
    name="rivals",
    title="Local algorithms and central rivals",
    description="Share of the possible gain against the privacy level, from no privacy on the left"
    " to the most privacy on the right: 0% is the gain of an expert drawn at random, 100% that of"
    " the best expert of every round. A row of panels for each noise, a column for each stream; a"
    " line for each algorithm, and a dotted line for the best fixed expert in hindsight. Intervals"
    " cover the noise on this one data set, not other states or years.",
    draw=f"{_HERE}.rivals_figure:draw_rivals",
)
_NOISE_MEMORY = FigureSpec(
    name="memory",
    title="What noise with memory gains, and what longer stays pay",
    description="A column of panels for each stream, a colour and marker for each unit of privacy:"
    " a person in at most so many weeks in a row. Top: by how much total gain with designed memory"
    " exceeds that with independent noise, against the μ of that person on a logarithmic axis;"
    " bars are intervals that hold together, and cover the noise on this one data set, not other"
    " states or years. Bottom: the μ of a person against the weeks of the stay, both on"
    " logarithmic axes, at the smallest μ: solid with memory, dashed with independent noise. The"
    " numbers are in the table below.",
    draw=f"{_HERE}.noise_memory_figure:draw",
)

PRIVACY_UTILITY = Section(
    name="privacy-utility",
    title="What privacy costs",
    about="Share of the possible gain that is left at each level of privacy.",
    results=("summary",),
    figures=lambda main: (_PRIVACY_UTILITY,),
)
REPLAY = Section(
    name="replay",
    title="Week by week",
    about="One run, choice by choice. Every choice is made before the round is seen.",
    results=("replay",),
    figures=lambda main: (_DECISIONS,),
    widget=f"{_HERE}.replay_figure:replay_widget",
)
TOTAL_GAIN = Section(
    name="average-gain",
    title="Total gain",
    about="Each algorithm at each privacy level.",
    results=("summary",),
    tables=(
        TableSpec(
            name="average-gain",
            title="Total gain",
            build=f"{_HERE}.average_gain:average_gain_table",
        ),
    ),
)
GAIN_OVER_TIME = Section(
    name="cumulative-gain",
    title="Gain over time",
    about="Gain added up week by week. Where the curves part, noise starts to hurt.",
    results=("summary", "cumulative"),
    figures=lambda main: (_CUMULATIVE,),
)
RIVALS = Section(
    name="rivals",
    title="Local or central",
    about="The value of a trusted curator. The paper’s local algorithms are compared with its"
    " central baseline and with stronger ones. Each plays with the same noise for all experts, and"
    " with noise scaled for each.",
    results=("summary",),
    figures=lambda main: (_RIVALS,) if main.report.rivals else (),
)
NOISE_COSTS = Section(
    name="noise-costs",
    title="What noise costs",
    about="How much an algorithm loses when its inputs have noise, compared with itself without.",
    results=("summary",),
    tables=(
        TableSpec(name="cost", title="Total gain lost to noise", build=f"{_HERE}.costs:cost_table"),
    ),
)
BEYOND = Section(
    name="beyond",
    title="Beyond the paper, at the same privacy",
    about="The paper’s way compared with ours, and the separate costs of noise, learners and"
    " selection.",
    results=("summary", "comparison", "ablation"),
    figures=lambda main: (_COMPARISON,),
    tables=(
        TableSpec(
            name="comparison",
            title="The paper's way and ours",
            build=f"{_HERE}.comparison_tables:comparison_table",
        ),
        TableSpec(
            name="ablation",
            title="Losses in parts",
            build=f"{_HERE}.comparison_tables:ablation_table",
        ),
    ),
)
NOISE_MEMORY = Section(
    name="memory",
    title="Noise with memory",
    about="A hospital may let this week’s noise cancel part of its earlier noise, at the same μ."
    " People who stay longer than the unit of privacy then pay more than with independent noise.",
    results=("memory",),
    figures=lambda main: (_NOISE_MEMORY,),
    tables=(
        TableSpec(
            name="memory",
            title="Independent noise and memory",
            build=f"{_HERE}.noise_memory_table:build",
        ),
    ),
)
SECTIONS = (
    PRIVACY_UTILITY,
    REPLAY,
    TOTAL_GAIN,
    GAIN_OVER_TIME,
    RIVALS,
    NOISE_COSTS,
    BEYOND,
    NOISE_MEMORY,
)
