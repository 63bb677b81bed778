"""What a reader sees and takes home: a page's words, a list as a file."""

import csv
import html
import io
import json
import re
from typing import Any

from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from ingest.models import Project
from ingest.services import project_create
from tests.web.reading import flat

_CELL = re.compile(r"</(?:td|th|li|p|div|dt|dd|h\d|option)>")
_TAG = re.compile(r"<(script|style)\b.*?</\1>|<[^>]+>", re.DOTALL)


def source_of(client: Client, address: str, **query: object) -> str:
    response = client.get(address, query)
    assert response.status_code == 200, address
    return flat(response)


def words_of(client: Client, address: str, **query: object) -> str:
    """The text of a page, without its tags, on one line."""
    page = _CELL.sub(" ", source_of(client, address, **query))
    return " ".join(html.unescape(_TAG.sub("", page)).split())


def rows_of(client: Client, address: str, **query: object) -> list[dict[str, Any]]:
    """The whole list, as its JSON export has it."""
    return json.loads(_file(client, address, format="json", **query))


def table_of(client: Client, address: str, **query: object) -> list[dict[str, str]]:
    """The same as CSV."""
    return list(csv.DictReader(io.StringIO(_file(client, address, format="csv", **query))))


def _file(client: Client, address: str, **query: object) -> str:
    response = client.get(address, query)
    assert response.status_code == 200, address
    return b"".join(response.streaming_content).decode()


def queries_of(client: Client, address: str, **query: object) -> int:
    """How often a page that was read before asks the database, the session and the person included."""
    source_of(client, address, **query)
    with CaptureQueriesContext(
        connection,
    ) as asked:
        source_of(client, address, **query)
    return len(asked)


def new_project() -> Project:
    """One that nothing was sent to."""
    return project_create(slug="new", name="New")
