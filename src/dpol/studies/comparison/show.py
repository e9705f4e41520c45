"""The sections of the page that compare the baseline with ours."""

from dpol.studies.study import FigureSpec, Section, TableSpec

SECTIONS = (
    Section(
        name="questions",
        title="The cost of privacy depends on the question",
        about="The same noisy counts answer several questions. How much of the possible gain"
        " survives at each privacy level depends on the question.",
        results=("questions", "comparison"),
        chapter="answer",
        figures=(
            FigureSpec(
                name="questions",
                title="The cost of privacy, by question",
                description="One panel per question. The vertical axis is the share of the"
                " possible gain: 0% is an expert drawn uniformly at random in every round, 100% is"
                " the oracle, which picks the best expert of every round. The horizontal axis is"
                " how often, at most, an attacker who knows everybody else’s data guesses"
                " correctly whether a person was counted, from no privacy to the most. Lines are"
                " means over the streams of the baseline, its rivals (thin but for the first; of"
                " several systems the best at each level) and ours. Dots are streams. The dotted"
                " line is the best fixed expert in hindsight, mean over the streams. Bars are"
                " joint intervals of the means. They cover the noise on these streams, not other"
                " places or years.",
            ),
        ),
        tables=(
            TableSpec(
                name="answer-by-question",
                title="Share of the possible gain that is kept",
                place="seen",
            ),
        ),
        widget=True,
    ),
    Section(
        name="beyond",
        title="The baseline and ours at equal privacy",
        about="The baseline and its rivals compared with ours at each level.",
        results=("summary", "comparison"),
        tables=(TableSpec(name="comparison", title="The baseline and ours"),),
    ),
    Section(
        name="promises",
        title="Which noise for which promise",
        about="The same person can be promised different things. The promise decides which noise"
        " is the least, and how much of the possible gain is left.",
        results=("memory", "summary"),
        figures=(
            FigureSpec(
                name="promises",
                title="Which noise for which promise",
                description="Top left: for noises with the same best guess of an attacker, the"
                " least false negatives of any test against its false positives; pure guessing is"
                " the grey diagonal. A line that meets the left edge below 100% gives some people"
                " away for certain. The other panels, one per longest stay: the share of the"
                " possible gain that our reader keeps under the least noise of each kind that"
                " keeps a promise. Bars are joint intervals of means over the streams; they cover"
                " the noise on these streams.",
            ),
        ),
        tables=(TableSpec(name="promises", title="Share kept, by promise, noise and stay"),),
    ),
)
"""Sections of the page, in their order."""
