"""How tests read a page: its words, its answer, and what it costs."""

import re
from html import unescape

from django.db import connection
from django.http import HttpResponse
from django.test import Client
from django.test.utils import CaptureQueriesContext


def flat(response: HttpResponse) -> str:
    """A page's source without its line breaks: where a template breaks a line is nothing that a reader sees."""
    return re.sub(r"\s*\n\s*", " ", response.content.decode())


def words(html: str) -> str:
    return " ".join(unescape(re.sub("<[^>]+>", "", html)).split())


def answer(client: Client, address: str) -> str:
    """The first sentence of a test's page, as it is read."""
    response = client.get(address)
    assert response.status_code == 200, address
    found = re.search(r'<p class="fb-lead fb-answer">(.*?)</p>', response.content.decode(), re.DOTALL)
    assert found is not None
    return words(found.group(1))


def queries(client: Client, address: str) -> int:
    client.get(address)
    with CaptureQueriesContext(connection) as captured:
        assert client.get(address).status_code == 200
    return len(captured)
