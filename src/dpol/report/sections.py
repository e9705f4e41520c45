"""Which figures and tables a run has, in what order, and what each shows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from dpol.config.models import Config
from dpol.studies.hospitals.reported import PAPER as TABLE_TWO
from dpol.studies.registry import load_study
from dpol.studies.study import Study
from dpol.tables.lazy import PAPER as LAZY
from dpol.tables.lazy import SETTINGS


@dataclass(frozen=True)
class FigureOf:
    """A figure of the run.

    Args:
        name: its file below figures/, without suffix.
        title: what it shows, in a few words.
        description: what is drawn where, for those who cannot see it.
    """

    name: str
    title: str
    description: str


@dataclass(frozen=True)
class SectionOf:
    """A section of the page.

    Args:
        key: its anchor.
        title: its heading.
        intro: what it is about.
        figures: figures of the run.
        tables: files below tables/, without suffix.
    """

    key: str
    title: str
    intro: str
    figures: tuple[FigureOf, ...] = ()
    tables: tuple[str, ...] = ()


def sections_of(config: Config) -> tuple[SectionOf, ...]:
    """The sections with figures and tables of a run, by what its config asks for."""
    return tuple(_sections(config))


def _sections(config: Config) -> Iterator[SectionOf]:
    yield _TOTAL_GAIN
    yield _GAIN_OVER_TIME
    if config.block("batching") is not None:
        yield _AMPLIFIED
    if config.lazy is not None or config.convex is not None:
        yield _lazy_section(lazy=config.lazy is not None, convex=config.convex is not None)
    if (labels := config.block("labels")) is not None:
        yield _section_of(load_study("labels"), labels)
    if config.comparison is not None:
        yield _BEYOND
    if config.block("audits") is not None:
        yield _AUDITS
        yield _CLAIMS


def _section_of(study: Study, block: Any) -> SectionOf:
    figures = (FigureOf(it.name, it.title, it.description) for it in study.figures(block))
    tables = tuple(table.name for table in study.tables)
    return SectionOf(study.name, study.title, study.about, tuple(figures), tables)


def _lazy_section(*, lazy: bool, convex: bool) -> SectionOf:
    figures, tables = [_RATES], []
    if lazy:
        figures.append(_regret("lazy", "the best of d experts"))
        tables.append("lazy-regret")
    if convex:
        figures.append(_regret("convex", "the best point of a ball"))
        tables.append("convex-regret")
    return SectionOf(
        "lazy",
        "Lazy algorithms: L2P, experts and convex losses",
        f"L2P redraws its action only now and then, and hides why. The first figure is what"
        f" {LAZY} states; the regrets were measured by this run.",
        tuple(figures),
        tuple(tables),
    )


def _regret(study: str, against: str) -> FigureOf:
    return FigureOf(
        f"{study}-regret",
        f"Regret against {against}",
        "Mean regret against the number of rounds T, both on logarithmic axes. A panel for each"
        " dimension d (rows) and privacy ε (columns); a marker for each algorithm, those of one T"
        " side by side, joined by a line where there are at least three T. Bars are intervals"
        " (Student’s t) that hold together; one that leaves the panel below reaches 0 or less."
        " They cover the randomness of the runs on these losses, not other losses. Means of 0 or"
        " less have no marker. All numbers are in the table “Measured regret,"
        f" {SETTINGS[study]}”.",
    )


_CUMULATIVE = FigureOf(
    "cumulative-gain",
    "Cumulative gain",
    "Mean cumulative gain against time, from the first round to the last. A row of panels for each"
    " stream, a column for each privacy level; a line with a confidence band for each algorithm, a"
    " dotted line for the best single expert in hindsight, a shade for the range of the single"
    " learners. In each round the bands hold for all cells of the table of total gains together,"
    " where the lines end; they cover the noise on this one data set, not other states or years.",
)
_AMPLIFICATION = FigureOf(
    "amplification",
    "Trade-off curves of RW-AdaBatch",
    "Error rates of the best attack on one round: false negative against false positive rate, on"
    " linear axes, and true positive against false positive rate on logarithmic ones. A column of"
    " panels for each μ. Curves: perfect privacy, not amplified, analytic bound and Monte Carlo"
    " estimate for each switching bound. ε for each curve is in the table below.",
)
_RATES = FigureOf(
    "lazy-rates",
    "Rates that the paper of L2P states",
    "Three panels: online convex optimisation with d = polylog T and with d = T^(1/3), and"
    " prediction with d = T experts. Each draws the exponent b of the regret T^b against a, where"
    " ε = T^(−a): L2P, prior work, and the lower bound for few switches where one is known."
    " Formulas of the paper are drawn; nothing is measured.",
)
_COMPARISON = FigureOf(
    "comparison",
    "The paper’s way and ours",
    "Total gain against the privacy level, from no privacy on the left to the most privacy on the"
    " right, a panel for each stream. Lines: the paper’s way, ours, the best other local row, the"
    " best with a curator; dotted: the best of the paper’s learners without noise. Intervals cover"
    " the noise on this one data set, not other states or years. The numbers are in the table"
    " below.",
)
_AUDIT = FigureOf(
    "audit",
    "What the outputs prove, beside what is claimed",
    "A line for each audit: its lower bound as a share of the claimed parameter; a vertical line"
    " marks the claim, and a bound to its right refutes it. The numbers are in the table below.",
)

_TOTAL_GAIN = SectionOf(
    "average-gain",
    "Total gain (the paper’s Table\u00a02)",
    f"Each algorithm at each privacy level, as in {TABLE_TWO}. Numbers in brackets are the"
    " paper’s, where it has comparable ones; all others were computed by this run.",
    tables=("average-gain",),
)
_GAIN_OVER_TIME = SectionOf(
    "cumulative-gain",
    "Gain over time (the paper’s Figure\u00a02)",
    "How the gains add up, and when noise begins to cost. The paper has no numbers for its"
    " figure but those of its Table 2.",
    figures=(_CUMULATIVE,),
)
_AMPLIFIED = SectionOf(
    "amplification",
    "Privacy amplified by batches",
    "RW-AdaBatch plays the same action while its leader is far ahead. Who sees only the"
    " actions then learns less about one round than the noise alone would allow.",
    figures=(_AMPLIFICATION,),
    tables=("amplification", "batching"),
)
_BEYOND = SectionOf(
    "beyond",
    "Beyond the paper, at the same privacy",
    "The paper’s way beside ours, and what noise, learners and selection each cost.",
    figures=(_COMPARISON,),
    tables=("comparison", "ablation"),
)
_AUDITS = SectionOf(
    "audits",
    "Audits of privacy",
    "Every mechanism is attacked. What its outputs give away is a lower bound on its true"
    " parameter; a sound claim is not below it. The notes below the table say what ran.",
    figures=(_AUDIT,),
)
_CLAIMS = SectionOf(
    "claims",
    "What the papers state, checked",
    "Each statement that a computation can check, what was computed, and the verdict.",
    tables=("claims",),
)
