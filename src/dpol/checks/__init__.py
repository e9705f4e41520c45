"""Conformance checks of algorithms, learners and noises, of dpol and of other packages.

A check raises `CheckError` with a counterexample, or returns if it finds none. `dpol.checks.check`
runs all checks on a named object. The tests of dpol call the same checks.
"""


class CheckError(AssertionError):
    """A check failed. The message is the counterexample, with a remedy."""
