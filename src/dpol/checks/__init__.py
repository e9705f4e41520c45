"""Conformance checks of algorithms, learners, noises and studies, of dpol and of other packages.

A check is a function that raises `CheckError` with a counterexample, and returns if it finds none.
`dpol.checks.check` runs all checks on what a name stands for; the tests of dpol call the same ones.
"""


class CheckError(AssertionError):
    """A check failed: its counterexample, with a remedy."""
