"""A query over tests in one line, such as `label:payments state:flaky owner:@a total`. Pure.

What is no condition is text that name, class, suite or file must hold: no query is an error, it only finds less."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from analytics.columns.schema import FILTERS

WORDS: Mapping[str, tuple[str, ...]] = {
    parameter: tuple(number.choices) for parameter, number in FILTERS.items() if number.words
}
"""Conditions with known words, such as `state:flaky`."""
_TOKEN = re.compile(r'(?:([a-z_]+):)?(?:"([^"]*)"|(\S+))')


@dataclass(frozen=True, slots=True)
class TestQuery:
    """All of its conditions hold; of one with several words, any of them."""

    __test__ = False  # the name means something to pytest

    words: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """By parameter of `FILTERS`."""
    owner: str = ""
    labels: tuple[str, ...] = ()
    """A test has each of them."""
    text: str = ""

    def __bool__(self) -> bool:
        return bool(self.words or self.owner or self.labels or self.text)

    def __str__(self) -> str:
        conditions = [f"label:{_quoted(label)}" for label in self.labels]
        conditions += [f"{parameter}:{_quoted(word)}" for parameter, several in self.words.items() for word in several]
        conditions += [f"owner:{_quoted(self.owner)}"] if self.owner else []
        return " ".join([*conditions, *([self.text] if self.text else [])])


def read_query(written: str) -> TestQuery:
    words: dict[str, list[str]] = {}
    labels: list[str] = []
    owner, text = "", []
    for found in _TOKEN.finditer(written):
        name, quoted, plain = found.groups()
        value = plain if quoted is None else quoted
        if name == "label" and value:
            labels.append(value)
        elif name == "owner" and value:
            owner = value
        elif name in WORDS and value in WORDS[name]:
            words.setdefault(name, []).append(value)
        else:
            text.append(quoted if quoted is not None and name is None else found[0])
    distinct = {name: tuple(dict.fromkeys(several)) for name, several in words.items()}
    return TestQuery(distinct, owner, tuple(dict.fromkeys(labels)), " ".join(text))


def _quoted(word: str) -> str:
    return f'"{word}"' if re.search(r"\s", word) else word
