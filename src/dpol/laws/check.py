"""A name held to all laws of its kind."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from pydantic import ValidationError

from dpol.core.plugins import load_named, registered
from dpol.experts.interface import LearnerBank, Member
from dpol.experts.registry import entry_of, make_members
from dpol.laws import LawError, algorithms, learners, noises, studies
from dpol.noise import NOISES, Noise, find_noise
from dpol.noise.noises import NOISE_GROUP
from dpol.studies.registry import STUDIES, STUDY_GROUP, find_study, load_study
from dpol.studies.study import Study


@dataclass(frozen=True)
class Verdict:
    """The finding about a law.

    Args:
        law: in a few words.
        counterexample: what breaks it, with the remedy; empty if nothing was found.
    """

    law: str
    counterexample: str = ""

    @property
    def holds(self) -> bool:
        """True if nothing breaks it."""
        return not self.counterexample


def check(name: str) -> tuple[Verdict, ...]:
    """Hold an algorithm, a bank of learners, a noise or a study to the laws of its kind.

    Args:
        name: as in a config: registered, or `package.module:Class`. Parameters are the defaults.

    Raises:
        ValueError: nobody brings the name, it cannot be imported or made, or is of no such kind.

    >>> all(verdict.holds for verdict in check("isotropic"))
    True
    """
    return tuple(Verdict(law, counterexample(hold)) for law, hold in laws_of(name))


def laws_of(name: str) -> Iterator[tuple[str, Callable[[], object]]]:
    """The laws of what a name stands for, each with a call that holds it to them."""
    named = load_named(name, name) if all(name.partition(":")[::2]) else None
    if isinstance(named, Noise) or name in NOISES or name in registered(NOISE_GROUP):
        noise = find_noise(name)
        yield from ((law, partial(hold, noise)) for law, hold in noises.LAWS.items())
    elif isinstance(named, Study) or name in STUDIES or name in registered(STUDY_GROUP):
        study = load_study(name) if name in STUDIES else find_study(name)
        assert study is not None
        yield from ((law, partial(hold, study)) for law, hold in studies.LAWS.items())
        try:
            settings = study.settings()
        except ValidationError:  # settings without defaults: only a config has them
            return
        yield "points are plain", partial(studies.points_are_plain, study, settings)
    else:
        members = make_members(name)
        for law, own in algorithms.laws_of(members[0].algorithm).items():
            yield law, partial(_each, own, members)
        bank = entry_of("algorithm", name).make(name, {})
        if isinstance(bank, LearnerBank):
            yield from ((law, partial(hold, bank)) for law, hold in learners.LAWS.items())


def _each(law: algorithms.Law, members: tuple[Member, ...]) -> None:
    for member in members:
        try:
            law(member)
        except LawError as broken:
            raise LawError(f"{member.label}: {broken}" if len(members) > 1 else broken) from None


def counterexample(hold: Callable[[], object]) -> str:
    """The counterexample to a law of `laws_of`; empty if there is none."""
    try:
        hold()
    except LawError as broken:
        return str(broken)
    except Exception as error:  # whatever a stranger's code raises is its counterexample
        notes = "; ".join(getattr(error, "__notes__", ()))
        return f"{type(error).__name__}: {error}" + (f" ({notes})" if notes else "")
    return ""
