"""The sections of the page on the standings."""

from dpol.studies.study import Exhibit, Section

SECTIONS = (
    Section(
        name="privacy-utility",
        chapter="answer",
        title="What privacy costs",
        about="The share of the possible gain that each system keeps: 0% for random choices, 100%"
        " for the best of every round. An attacker guesses whether a person was counted.",
        results=("standings",),
        figures=(
            Exhibit(
                name="privacy-utility",
                made_by="dpol.studies.league.figure:draw_privacy_utility",
                title="What privacy costs",
                description="There is a panel per stream, or per question with means over streams."
                " The vertical axis is the share of the possible gain: 0% is an expert drawn"
                " uniformly at random in every round, 100% is the oracle, which picks the best"
                " expert of every round. The horizontal axis is how often, at most, an attacker"
                " who knows everybody else’s data guesses correctly whether a person was counted."
                " Lines are the paper’s RW-Meta and RW-FTPL, the system that keeps most at each"
                " level, the best curator of each, who sees raw numbers, and dotted the best fixed"
                " expert. The last three are picked in hindsight. An algorithm that the config"
                " names takes the place of RW-FTPL. Bars are joint intervals for the noise; they"
                " do not cover other places or years.",
            ),
        ),
    ),
    Section(
        name="privacy",
        chapter="privacy",
        title="Right guesses",
        about="How often an attacker who knows all other data guesses right about one person in one"
        " round, at most, if exact counts get the noise.",
        results=("summary", "standings"),
        tables=(
            Exhibit(
                name="privacy",
                made_by="dpol.studies.league.privacy:privacy_table",
                title="How private is it?",
                place="folded",
            ),
        ),
    ),
    Section(
        name="league",
        title="Every system at every level",
        about="Systems are ranked among those with the same guarantee.",
        results=("standings", "summary"),
        tables=(
            Exhibit(
                name="league",
                made_by="dpol.studies.league.table:league_table",
                title="The league",
                place="folded",
            ),
        ),
    ),
)
"""Sections of the page, in their order."""
