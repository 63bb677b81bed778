"""What the product says of a project, read as people and programs read it: by the API and by the files of its pages."""

import csv
import io
import json
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.test import Client
from django.urls import reverse

from ingest.models import Project, Token
from ingest.services import token_create
from tests.api_client import Program
from tests.truth.pages import Page

Row = dict[str, Any]


@dataclass(frozen=True)
class Product:
    project: Project
    browser: Client

    @cached_property
    def api(self) -> Program:
        return Program(token_create(project=self.project, name="reader", scope=Token.Scope.READ)[1], self.project.slug)

    @cached_property
    def current(self) -> Row:
        """The current analysis: `analysis` is its headline, `summary` all that it says of the project."""
        answer: Row = self.api.read("analyses/current")
        return answer

    @cached_property
    def tests(self) -> dict[str, Row]:
        """By name, from the file of the Tests page: the API says the same, slowly where tests are many."""
        rows = {name_of(row): row for row in self.file("tests")}
        assert len(rows) == self.current["analysis"]["tests"], "two tests with one name"
        return rows

    @cached_property
    def incidents(self) -> list[Row]:
        return [row for row in self._listed("incidents") if row["incident"]]

    @cached_property
    def clusters(self) -> list[Row]:
        """Both views; each with all its tests."""
        listed = self._listed("clusters")
        return [self.api.read(f"clusters/{row['view']}/{row['number']}")["cluster"] for row in listed]

    @cached_property
    def priorities(self) -> list[Row]:
        return self._listed("priorities")

    @cached_property
    def runs(self) -> list[Row]:
        """Oldest first, those outside the window too."""
        return self.file("runs")[::-1]

    def file(self, page: str, *args: object) -> list[Row]:
        """The whole list of a page."""
        response = self.browser.get(self.address(page, *args), {"format": "json"})
        rows: list[Row] = json.loads(b"".join(response.streaming_content))
        return rows

    def page(self, name: str, *args: object, query: str = "") -> Page:
        """A page, asked for once however often it is read."""
        address = self.address(name, *args) + query
        return self._pages.setdefault(address, Page(self.browser, address))

    def spreadsheet(self, page: str) -> list[dict[str, str]]:
        """The same list as a file of CSV, asked for once."""
        if page not in self._spreadsheets:
            response = self.browser.get(self.address(page), {"format": "csv"})
            text = b"".join(response.streaming_content).decode()
            self._spreadsheets[page] = list(csv.DictReader(io.StringIO(text)))
        return self._spreadsheets[page]

    @cached_property
    def _pages(self) -> dict[str, Page]:
        return {}

    @cached_property
    def _spreadsheets(self) -> dict[str, list[dict[str, str]]]:
        return {}

    def address(self, page: str, *args: object) -> str:
        return reverse(page, args=(self.project.slug, *args))

    def _listed(self, what: str) -> list[Row]:
        return [row for page in self.api.pages(f"{what}?page_size=500") for row in page["results"]]


def name_of(test: Row) -> str:
    return f"{test['classname']}.{test['name']}"
