"""Laws that every algorithm, learner, noise and study keeps, of dpol and of other packages.

A law is a function that raises `LawError` with a counterexample, and returns where it finds none.
`dpol.laws.check` holds a name to all laws of its kind; the tests of dpol call the same functions.
"""


class LawError(AssertionError):
    """A counterexample to a law: what was seen, and a remedy."""
