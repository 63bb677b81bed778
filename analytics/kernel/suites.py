"""Which suite a test belongs to, from the names that its report gives it."""

_GENERIC = frozenset(
    {"", "pytest", "unittest", "junit", "surefire", "gradle", "jest tests", "mocha tests", "root suite"}
)
"""Names that producers give to everything they run: they tell nothing apart."""


def suite_of(suite: str, classname: str) -> str:
    """The suite's name where it has one of its own, else the class's module: the class name up to its last dot."""
    if suite.strip().lower() not in _GENERIC:
        return suite
    return classname.rpartition(".")[0] or classname
