"""Numbers as pages show them: whatever is read here was rendered for a person."""

import re
from dataclasses import dataclass
from functools import cached_property

from django.test import Client
from lxml import html

_COUNT = r"(\d[\d,]*)"
_ADDRESS = re.compile(r"/(tests|clusters/together)/(\d+)$")
Pair = tuple[int, int]


@dataclass(frozen=True)
class Page:
    browser: Client
    address: str

    @cached_property
    def tree(self) -> html.HtmlElement:
        response = self.browser.get(self.address)
        assert response.status_code == 200, self.address
        tree = html.fromstring(response.content.decode())
        for extra in tree.xpath("//*[contains(@class, 'fb-said')] | //script | //*[local-name()='svg']"):
            extra.drop_tree()  # what a word means, and pictures
        return tree

    @property
    def lead(self) -> str:
        return " ".join(words(one) for one in self.tree.xpath("//p[contains(@class, 'fb-lead')]"))

    def rows(self, path: str = "//table[contains(@class, 'fb-tests')]/tbody/tr") -> list["Row"]:
        return [Row(element) for element in self.tree.xpath(path)]

    def chart_table(self, name: str) -> list[dict[str, str]]:
        """The figures of a chart, which are the same as a table."""
        headers = [words(one) for one in self.tree.xpath(f"//figure[@id='{name}']//thead//th")]
        lines = self.tree.xpath(f"//figure[@id='{name}']//tbody/tr")
        return [dict(zip(headers, map(words, line), strict=True)) for line in lines]


@dataclass(frozen=True)
class Row:
    """A line of a list that speaks of a test or a cluster."""

    element: html.HtmlElement

    @property
    def what(self) -> tuple[str, int]:
        """ "tests" or "clusters/together", and its number."""
        found = next(filter(None, (_ADDRESS.search(link.get("href")) for link in self.element.xpath(".//a[@href]"))))
        return found[1], int(found[2])

    @property
    def state(self) -> str:
        return words(self.element.xpath(".//*[contains(@class, 'fb-state')]")[0])

    @property
    def text(self) -> str:
        return words(self.element)

    def cell(self, header: str) -> str:
        """Its cell in the column of this name."""
        headers = [words(one) for one in self.element.xpath("ancestor::table//thead//th")]
        place = next(at for at, one in enumerate(headers) if one.startswith(header))
        return words(self.element[place])


def words(element: html.HtmlElement) -> str:
    return " ".join(" ".join(element.itertext()).split())


def number(text: str) -> int:
    return int(text.replace(",", ""))


def first_number(text: str) -> int:
    found = re.search(_COUNT, text)
    assert found is not None, text
    return number(found[1])


def pair(text: str, after: str = "") -> Pair | None:
    """The first "14 of 1,203" after some words; None for none."""
    found = re.search(re.escape(after) + rf".*?{_COUNT} of {_COUNT}", text)
    return (number(found[1]), number(found[2])) if found else None


def percent(text: str) -> float | None:
    """The first share, as a number from 0 to 1."""
    found = re.search(r"(\d[\d.]*) %", text)
    return float(found[1]) / 100 if found else None
