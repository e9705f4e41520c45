"""The section of the page on learning from private labels."""

from dpol.show.words import DISTRIBUTIONS, cited
from dpol.studies.study import Exhibit, Section

SECTIONS = (
    Section(
        name="labels",
        chapter="paper3",
        about="A learner predicts labels from messages that hide each label. This is the"
        f" system of {cited(DISTRIBUTIONS)}, which reports no experiments. Measured"
        " risk is drawn beside the rate of its Theorem 5.",
        results=("labels",),
        figures=(
            Exhibit(
                name="labels-risk",
                made_by="dpol.studies.paper3.figures:risk",
                title="Risk beside the rate of Theorem 5",
                description="KL risk in nats, on a logarithmic axis, against the number of rounds"
                " T, of labels M and of hypotheses K, and the privacy ε of a message. All rounds of"
                " these games have the same feature; the ledger (config/ledger.yaml) has the risk"
                " if an adversary sets the features. Each algorithm has a line for its mean and a"
                " dot for each run; labels.parquet has the numbers. The line of short dashes is the"
                " bound of Theorem 5 for private EXP3, multiplied by one number in each panel so"
                " that it starts at the mean of EXP3: it shows the rate, not the bound. Other black"
                " lines are bounds as stated: Theorem 5 on random classes, and Theorem 3, which"
                " holds for every ε-private learner, on the hard class. On a stream, a label is the"
                " hospital of a random patient of a week, and the K forecasts use earlier weeks,"
                " taken as public: none is exactly right, and the black line is the one with the"
                " smallest risk over all weeks. Log loss is larger by the entropy of the labels,"
                " the same for all.",
            ),
            Exhibit(
                name="labels-selection",
                made_by="dpol.studies.paper3.figures:selection",
                title="Selecting the true hypothesis",
                description="Total variation distance between estimate and truth against the"
                " number of rounds T, both on logarithmic axes. There is a panel for each class of"
                " hypotheses, which are constants: all rounds have the same feature. Each algorithm"
                " has a line for its mean and a dot for each run; a Scheffé tournament selects one"
                " hypothesis, so that its distance may be 0, which has no marker. Black lines show"
                " the slopes T^(−1/4) and T^(−1/2).",
                place="folded",
            ),
        ),
    ),
)
"""Sections of the page, in their order."""
