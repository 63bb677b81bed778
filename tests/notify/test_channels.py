"""Channels by page and API: what is shown of them, what is not, and that secrets stay where they belong."""

import json
import logging
import re

import pytest
from django.db import connection
from django.test import Client

from analytics.services import analysis_refresh
from dashboard.notify.deliveries import deliveries_due, delivery_send
from dashboard.notify.encryption import Unsealable, seal, unseal
from dashboard.notify.fan_out import notifications_spread
from dashboard.notify.models import Channel, TrackerSettings
from dashboard.quarantine.labels.services import labels_set, view_save
from ingest.models import Project, Test
from ingest.services import project_create
from tests.dashboard.openapi import Schema
from tests.database_text import whole_database
from tests.notify.conftest import SECRET, Open
from tests.notify.receiver import Receiver, Says
from tests.quarantine.conftest import report
from tests.web.reading import queries

PAGE = "/projects/shop/notifications"
FORM = {"name": "Team", "kind": "webhook", "pace": "at_once", "enabled": "on", "owner": "", "secret": ""}


def test_a_channel_is_made_tried_changed_and_deleted_on_the_page(
    browser: Client, project: Project, receiver: Receiver
) -> None:
    assert "Nobody is notified" in browser.get(PAGE).content.decode()
    address = f"{receiver.url}/hooks/canary-path"
    browser.post(f"{PAGE}/channels", {**FORM, "address": address, "secret": SECRET, "wants": ["expired"]})
    made = Channel.objects.get()
    assert (made.plain_address, made.plain_secret, made.wants) == (address, SECRET, ["expired"])
    answer = browser.post(f"{PAGE}/channels/{made.pk}/test", follow=True).content.decode()
    assert "took the test message" in answer and receiver.received[0].json()["kind"] == "test"
    receiver.answers = [Says(403, b"go away")]
    answer = browser.post(f"{PAGE}/channels/{made.pk}/test", follow=True).content.decode()
    assert "It answered 403: go away." in answer
    browser.post(f"{PAGE}/channels/{made.pk}", {**FORM, "name": "Renamed", "address": ""})
    made.refresh_from_db()
    assert (made.name, made.plain_address, made.plain_secret) == ("Renamed", address, SECRET)
    browser.post(f"{PAGE}/channels/{made.pk}/delete")
    assert not Channel.objects.exists()


ALERTS = {
    "severity": "warning",
    "only": "label:payments  state:flaky",
    "rate_threshold": "5",
    "silence_hours": "48",
    "quiet_from": "22:00",
    "quiet_until": "07:00",
    "time_zone": "Europe/Berlin",
    "quiet_passes": "critical",
}


def test_alerts_and_quiet_hours_are_set_on_the_page_and_shown_again(browser: Client, channel: Open) -> None:
    made = channel()
    browser.post(f"{PAGE}/channels/{made.pk}", {**FORM, **ALERTS})
    made.refresh_from_db()
    assert (made.severity, made.only, made.rate_threshold, made.silence_hours) == (
        "warning", "label:payments state:flaky", 0.05, 48,
    )  # fmt: skip
    limits = (
        "tests that fit label:payments",
        "flaky rate above 5 %",
        "for 48 hours",
        "from 22:00 until 07:00, Europe/",
    )
    page = browser.get(PAGE).content.decode()
    ids = re.findall(r' id="([^"]+)"', page)
    assert all(words in page for words in limits) and len(ids) == len(set(ids)), "a label names one field"
    page = browser.get(f"{PAGE}/channels/{made.pk}").content.decode()
    assert 'value="22:00"' in page and 'value="5"' in page and 'value="Europe/Berlin"' in page


def test_the_form_counts_the_tests_that_fit_and_saves_nothing(browser: Client, project: Project, send) -> None:
    send(report(4))
    analysis_refresh(project=project)
    labels_set(test=Test.objects.get(name="test_02"), labels=["payments"])
    view_save(project=project, name="Payments", query="label:payments", by="anna")
    counted = browser.post(f"{PAGE}/channels", {**FORM, "only": "label:payments", "deed": "count"}).content.decode()
    address = "/projects/shop/tests?q=label%3Apayments"
    assert f'<a href="{address}">1 test</a> of 4 fits now.' in counted
    assert '<option value="label:payments">Payments</option>' in counted, "views are offered"
    assert not Channel.objects.exists() and "This field is required" not in counted


def test_a_new_address_clears_the_secret_and_says_so(browser: Client, channel: Open) -> None:
    made = channel(secret=SECRET)
    told = browser.post(f"{PAGE}/channels/{made.pk}", {**FORM, "address": "https://elsewhere.example/"}, follow=True)
    assert "its secret is cleared" in told.content.decode()
    made.refresh_from_db()
    assert (made.secret, made.hint) == ("", "https://elsewhere.example/…")


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"address": "ftp://x/"}, "http:// or https://"),
        ({"address": "http://u:p@x/"}, "no user name and no password"),
        ({"address": ""}, "Say where"),
        ({"kind": "email", "address": "not an address"}, "not an e-mail address"),
        ({"kind": "email", "address": "a@b.example\r\nBcc: c@d.example"}, "not an e-mail address"),
        ({"kind": "slack", "address": "https://x.example/", "secret": SECRET}, "Only webhooks"),
        ({"address": "https://x.example/", "secret": "short"}, "at least 16"),
        ({"address": "https://x.example/", "rate_threshold": "100"}, "between 0 and 100"),
        ({"address": "https://x.example/", "silence_hours": "0"}, "between 1 and 744"),
        ({"address": "https://x.example/", "quiet_from": "22:00"}, "a beginning and an end"),
        ({"address": "https://x.example/", "quiet_from": "22:00", "quiet_until": "22:00"}, "would be all day"),
        ({"address": "https://x.example/", "time_zone": "../etc/passwd"}, "no such time zone"),
    ],
)
def test_what_cannot_be_a_channel_is_said(changes, sentence: str, browser: Client, project: Project) -> None:
    answer = browser.post(f"{PAGE}/channels", {**FORM, **changes})
    assert answer.status_code == 422 and sentence in answer.content.decode()
    assert not Channel.objects.exists()


def test_a_failing_channel_and_a_missing_mail_server_are_shown(browser: Client, channel: Open, settings) -> None:
    settings.EMAIL_HOST = ""
    Channel.objects.filter(pk=channel().pk).update(failures=3, last_error="<b>It answered 500.</b>")
    page = browser.get(PAGE).content.decode()
    assert "1 of 1 channel is failing" in page and "&lt;b&gt;It answered 500." in page and "EMAIL_URL" in page


def test_queries_do_not_grow_with_channels(browser: Client, channel: Open) -> None:
    channel()
    before = queries(browser, PAGE)
    for number in range(10):
        channel(name=str(number))
    assert queries(browser, PAGE) == before


def test_another_projects_channel_is_not_there(browser: Client, channel: Open) -> None:
    made = channel()
    project_create(slug="other", name="Other")
    for address in ("", "/test", "/delete"):
        for method in (browser.get, browser.post):
            answer = method(f"/projects/other/notifications/channels/{made.pk}{address}")
            assert answer.status_code in (404, 405)
    assert browser.get(f"{PAGE}/channels/99999999999999999999").status_code == 404


# -- API ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def ask(quarantine_token: str, project: Project):
    def call(method: str, path: str = "", body: object = None, token: str = quarantine_token):
        return Client().generic(
            method,
            f"/api/v1/projects/shop/channels{path}",
            json.dumps(body) if body is not None else b"",
            content_type="application/json",
            headers={"Authorization": f"Bearer {token}"},
        )

    return call


def test_the_api_makes_changes_tries_and_deletes_as_its_schema_says(ask, receiver: Receiver) -> None:
    schema = Schema()
    body = {"name": "Bot", "kind": "webhook", "address": f"{receiver.url}/canary-path", "secret": SECRET}
    made = ask("POST", body=body)
    assert made.status_code == 201
    schema.check("channels_create", 201, made.json())
    assert made.json()["hint"] == f"{receiver.url}/…" and made.json()["signed"]
    one = f"/{made.json()['id']}"
    assert ask("POST", f"{one}/test").json() == {"ok": True, "error": ""}
    quiet = {"quiet_from": "22:00", "quiet_until": "07:00", "time_zone": "Asia/Tokyo", "quiet_passes": "critical"}
    alerts = {"severity": "warning", "only": "label:payments", "rate_threshold": 0.05, "silence_hours": 24}
    changed = ask("PATCH", one, {"wants": ["expired"], "owner": "@cart", **quiet, **alerts}).json()
    schema.check("channels_update", 200, changed)
    assert changed | quiet | alerts == changed
    assert (changed["wants"], changed["signed"], changed["secret_cleared"]) == (["expired"], True, False)
    moved = ask("PATCH", one, {"address": "https://elsewhere.example/"}).json()
    assert moved["secret_cleared"] and not moved["signed"]
    listed = ask("GET").json()
    schema.check("channels_list", 200, listed)
    assert "canary" not in json.dumps([made.json(), changed, moved, listed, ask("GET", one).json()])
    assert ask("DELETE", one).status_code == 204 and ask("GET", one).status_code == 404


def test_other_tokens_may_not_even_look(ask, read_token: str, upload_token: str) -> None:
    for token in (read_token, upload_token):
        assert ask("GET", token=token).status_code == 403 and ask("POST", body={}, token=token).status_code == 403
    assert ask("POST", body={"name": "x", "kind": "pigeon", "address": "x"}).status_code == 422
    assert ask("GET", "/99999999999999999999").status_code == 404


# -- no secret anywhere ------------------------------------------------------------------------------------------


def test_no_secret_in_logs_rows_pages_or_answers(
    browser: Client, ask, channel: Open, receiver: Receiver, held, caplog
) -> None:
    """A receiver that repeats what it was sent, errors of every sort, and a canary that is looked for everywhere."""
    caplog.set_level(logging.DEBUG)
    channel(secret=SECRET)
    TrackerSettings.objects.create(project=held.project, kind="github", repository="a/b", token=seal("canary-token"))
    echoes = iter([f"{'x' * 110} {SECRET}", "Cannot POST /hooks/canary-path"])
    receiver.answers = lambda got: Says(500, next(echoes, receiver.url + got.path).encode())
    notifications_spread()
    for one in deliveries_due():
        delivery_send(delivery_id=one)
    channel(name="gone", address="http://127.0.0.1:9/canary-path", secret=SECRET)
    shown = [browser.get(PAGE), *(browser.get(f"{PAGE}/channels/{one.pk}") for one in Channel.objects.all())]
    shown += [browser.post(f"{PAGE}/channels/{one.pk}/test", follow=True) for one in Channel.objects.all()]
    shown += [ask("GET"), *(ask("POST", f"/{one.pk}/test") for one in Channel.objects.all())]
    assert all(one.status_code == 200 for one in shown)
    page = "".join(one.content.decode() for one in shown) + caplog.text + whole_database()
    assert "It answered 500." in page
    assert "canary" not in page.replace(connection.settings_dict["NAME"], "")


def test_a_changed_key_makes_secrets_unreadable_and_says_so(settings) -> None:
    sealed = seal("canary")
    assert unseal(sealed) == "canary" and "canary" not in sealed and unseal("") == ""
    settings.SECRET_KEY = "another-key-of-another-installation"
    with pytest.raises(Unsealable, match="enter it again"):
        unseal(sealed)
