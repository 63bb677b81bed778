"""A program that asks the API, and projects that are made once for all tests of a module."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol, TypeVar

from django.test import Client

from ingest.models import Project


class Program:
    """One that asks the API with a token."""

    def __init__(self, token: str, slug: str = "shop") -> None:
        self._headers = {"authorization": f"Bearer {token}"}
        self._address = f"/api/v1/projects/{slug}/"
        self._client = Client()

    def get(self, path: str, **headers: str):
        return self._client.get(self._address + path, headers=self._headers | headers)

    def post(self, path: str, **data: Any):
        return self.post_raw(path, json.dumps(data))

    def post_raw(self, path: str, body: str):
        return self._client.post(self._address + path, body, content_type="application/json", headers=self._headers)

    def put(self, path: str, data: Any):
        return self._client.put(self._address + path, data, content_type="application/json", headers=self._headers)

    def read(self, path: str) -> Any:
        response = self.get(path)
        assert response.status_code == 200, response.content
        return response.json()

    def pages(self, path: str) -> Iterator[Any]:
        """All pages of a list, by their links."""
        answer = self.read(path)
        while True:
            yield answer
            if answer["next"] is None:
                return
            answer = self.read(answer["next"].split(self._address)[1])


def code(response) -> tuple[int, str]:
    """Status and code of an answer that says no; it has a sentence too."""
    error = response.json()["error"]
    assert error["sentence"]
    return response.status_code, error["code"]


class HasProject(Protocol):
    @property
    def project(self) -> Project: ...


Made = TypeVar("Made", bound=HasProject)


@contextmanager
def committed_once(django_db_blocker: Any, make: Callable[[], Made]) -> Iterator[Made]:
    """Make a project outside of any test's transaction, and delete it at the end: what a test changes is rolled back."""
    with django_db_blocker.unblock():
        made = make()
    yield made
    with django_db_blocker.unblock():
        made.project.delete()
