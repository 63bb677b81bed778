"""Pages, files and API of a simulated project show the same numbers."""

from django.test import Client

from tests.truth.crawling import differences
from tests.truth.product import Product
from tests.web.analysed_project import Demo


def test_pages_files_and_api_show_the_same_numbers(demo: Demo, reader: Client) -> None:
    found = differences(Product(demo.project, reader))
    assert not found, "\n".join(found)
