"""A project with a quarantine, a receiver on loopback that may be reached, and channels to it."""

from collections.abc import Callable, Iterator

import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.handlers import Message as Mailbox
from django.contrib.auth.models import User
from django.test import Client

from dashboard.notify.channels import ChannelValues, channel_create
from dashboard.notify.models import Channel
from dashboard.quarantine.models import Quarantine
from ingest.models import Project
from tests.faults.server import free_port
from tests.notify.receiver import Receiver
from tests.quarantine.conftest import quarantine_token, quarantined, report

__all__ = ["quarantine_token", "quarantined"]
SECRET = "canary-secret-0123456789"


@pytest.fixture
def receiver(settings) -> Iterator[Receiver]:
    settings.OUTGOING_ALLOW = ["127.0.0.0/8"]
    with Receiver().running() as started:
        yield started


@pytest.fixture
def held(project: Project, send, quarantined) -> Quarantine:
    send(report(4))
    return quarantined("test_00", owner="@cart", reason="It passed and failed 3 times on the same code.")


Open = Callable[..., Channel]


@pytest.fixture
def channel(project: Project, receiver: Receiver) -> Open:
    """channel(kind="slack"): a channel of the project that leads to the receiver."""

    def make(kind: str = "webhook", **wanted: object) -> Channel:
        told = {"name": kind, "kind": kind, "address": f"{receiver.url}/hooks/canary-path", **wanted}
        return channel_create(project=project, wanted=ChannelValues(**told), by="anna")

    return make


class Kept(Mailbox):
    def __init__(self) -> None:
        super().__init__()
        self.mails: list = []

    def handle_message(self, message) -> None:
        self.mails.append(message)


@pytest.fixture
def mailbox(settings) -> Iterator[Kept]:
    kept = Kept()
    controller = Controller(kept, hostname="127.0.0.1", port=free_port())
    controller.start()
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", controller.port
    yield kept
    controller.stop()


@pytest.fixture
def browser(db: None, settings) -> Client:
    """Of somebody who may do everything."""
    plain = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    settings.STORAGES = {**settings.STORAGES, "staticfiles": plain}
    client = Client()
    client.force_login(User.objects.create_superuser("anna", password="a-long-password"))
    return client
