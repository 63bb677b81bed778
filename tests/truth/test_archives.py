"""Truth: real histories, imported as they are, judged as a careful engineer judges them."""

import copy
import json

import numpy as np
import pytest

from analytics.kernel.analysis import analyse
from analytics.kernel.flakiness import State
from analytics.loaders import load
from tests.conftest import needs_data
from tests.extent import WHOLE
from tests.truth.comparing import disagreements, of_tests
from tests.truth.crawling import differences
from tests.truth.derive import TABLES
from tests.truth.product import Product

PAGES = ("project", "priorities", "tests", "runs", "clusters", "reruns", "orders", "incidents", "uploads")
SMALLER = ["hector", "alluxio", *(["tfscreen"] if WHOLE else [])]
"""The API needs a request for 500 tests, and tfscreen has 13,166 of them: those are asked for in `make whole`."""


@needs_data
def test_a_history_is_judged_as_its_table_says(product: Product) -> None:
    table = json.loads((TABLES / f"{product.project.slug}.json").read_text(encoding="utf-8"))
    found = disagreements(table, product)
    assert not found, "\n".join(found)


@needs_data
def test_pages_files_and_api_show_the_same_numbers(product: Product) -> None:
    found = differences(product)
    assert not found, "\n".join(found)


@needs_data
@pytest.mark.parametrize("committed_history", SMALLER, indirect=True)
def test_the_api_says_of_every_test_what_the_kernel_concludes(product: Product) -> None:
    concluded = analyse(load(product.project).window)
    answered = {row["number"]: row for page in product.api.pages("tests?page_size=500") for row in page["results"]}
    listed = {row["number"]: row for row in product.tests.values()}
    present = np.flatnonzero(concluded.window.first >= 0).tolist()
    assert set(listed) == set(answered) == set(present)
    for number in present:
        counts = (int(concluded.rates.failed[number]), int(concluded.rates.executed[number]))
        state = State(concluded.state[number]).name.lower()
        for row in (listed[number], answered[number]):
            assert (row["failed"], row["executed"], row["state"]) == (*counts, state)


@needs_data
def test_every_page_opens(product: Product) -> None:
    answers = {page: product.browser.get(product.address(page)).status_code for page in PAGES}
    assert answers == dict.fromkeys(PAGES, 200)


@needs_data
def test_every_row_of_the_table_counts(product: Product) -> None:
    """A table that is wrong in one place, whichever, disagrees there."""
    table = json.loads((TABLES / f"{product.project.slug}.json").read_text(encoding="utf-8"))
    for place in range(len(table["ever_failed"])):
        for change in ({"state": ["unheard of"]}, {"failed": -1}, {"executed": -1}):
            wrong = copy.deepcopy(table)
            wrong["ever_failed"][place] |= change
            assert len(list(of_tests(wrong, product))) == 1, (table["ever_failed"][place]["test"], change)
    unnamed = {**table, "ever_failed": table["ever_failed"][1:]}
    (said,) = of_tests(unnamed, product)
    assert said.startswith(table["ever_failed"][0]["test"]) and "it never failed" in said
