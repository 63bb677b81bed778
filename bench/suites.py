"""Reports for measurements: a large suite in pytest's style, with one failure in a thousand by default."""

from collections.abc import Iterable

_FAILURE = (
    '<failure message="AssertionError: assert {i} == 3">def test_x():\n&gt;       assert f() == 3\n'
    "E       assert {i} == 3\n\ntests/pkg/test_mod.py:{i}: AssertionError</failure>"
)


def case(i: int, seed: int, every: int) -> str:
    name = f'classname="tests.pkg{i // 1000}.test_mod{i // 50}.TestThing" name="test_does_something_useful_{i}"'
    head = f'<testcase {name} time="{((i * 7919 + seed * 104729) % 2000) / 1000:.3f}"'
    failing = every and (i * 31 + seed * 17) % every == 0
    return f"{head}>{_FAILURE.format(i=i)}</testcase>" if failing else f"{head} />"


def document(tests: Iterable[int], seed: int = 0, every: int = 1_000) -> bytes:
    cases = "".join(case(i, seed, every) for i in tests)
    return f'<?xml version="1.0" encoding="utf-8"?>\n<testsuites><testsuite name="pytest" time="99999">{cases}</testsuite></testsuites>'.encode()


def files(count: int, each: int, seed: int = 0, every: int = 1_000) -> list[tuple[str, bytes]]:
    """The same suite in Surefire's style: a file for each class."""
    return [
        (f"target/surefire-reports/TEST-tests.pkg.Mod{n}.xml", _surefire(n, each, seed, every)) for n in range(count)
    ]


def _surefire(n: int, each: int, seed: int, every: int) -> bytes:
    cases = "".join(case(i, seed, every) for i in range(n * each, (n + 1) * each))
    schema = 'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:noNamespaceSchemaLocation="surefire.xsd"'
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<testsuite {schema} name="tests.pkg.Mod{n}">{cases}</testsuite>'.encode()
