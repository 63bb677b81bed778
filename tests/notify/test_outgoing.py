"""Requests to addresses that somebody told us: what is refused, and what an answer may cost."""

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from dashboard.notify.addresses import Allowed, is_open, read_address
from dashboard.notify.safe_http import LARGEST_ANSWER, Refused, Unreachable, request, target_of
from dashboard.ops.environment import BadSetting, mail_server
from tests.notify.receiver import Receiver, Says

PRIVATE = (
    *("127.0.0.1", "10.0.0.1", "172.16.0.1", "192.168.1.1", "169.254.169.254", "0.0.0.0", "100.64.0.1", "224.0.0.1"),
    *("255.255.255.255", "240.0.0.1", "192.0.2.1", "::1", "::", "fe80::1", "fc00::1", "ff02::1", "fec0::1"),
    *("::ffff:127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::7f00:1", "64:ff9b:1::1", "2002:7f00:1::1", "::7f00:1"),
    *("2001:db8::1", "fe80::1%eth0"),
)


@pytest.mark.parametrize("address", PRIVATE)
def test_addresses_that_are_not_of_the_open_internet(address: str) -> None:
    assert not is_open(read_address(address))


@pytest.mark.parametrize("address", ["93.184.216.34", "2606:2800:220:1::1", "::ffff:93.184.216.34"])
def test_addresses_of_the_open_internet(address: str) -> None:
    assert is_open(read_address(address))


def test_the_operator_allows_networks_and_hosts() -> None:
    allowed = Allowed.read(["10.1.0.0/16", "Hooks.Corp.", "fd00::/8"])
    assert allowed.takes("x", read_address("10.1.2.3")) and allowed.takes("x", read_address("::ffff:10.1.2.3"))
    assert allowed.takes("x", read_address("fd00::1")) and allowed.takes("hooks.corp", read_address("10.9.9.9"))
    assert not allowed.takes("x", read_address("10.2.0.1")) and not allowed.takes("evil.corp", read_address("10.9.9.9"))


@pytest.mark.parametrize(
    "url",
    [
        *("http://127.0.0.1/", "http://localhost/", "http://2130706433/", "http://0177.0.0.1/", "http://0x7f.1/"),
        *("http://127.1/", "http://0/", "http://[::1]/", "http://[::ffff:127.0.0.1]/", "http://[::ffff:7f00:1]/"),
        "http://[64:ff9b::7f00:1]/",
    ],
)
def test_our_own_machine_is_refused_however_it_is_written(url: str) -> None:
    with pytest.raises((Refused, Unreachable)) as told:
        request("POST", url)
    assert told.type is Refused or "cannot be found" in str(told.value)


@pytest.mark.parametrize(
    "url",
    [
        *("ftp://example.com/", "file:///etc/passwd", "gopher://example.com", "javascript:alert(1)", "example.com", ""),
        *(
            "http://",
            "http:///x",
            "http://user:pass@example.com/",
            "http://user@example.com/",
            "http://example.com:99999/",
        ),
        *(
            "http://exa mple.com/",
            "http://example.com/\r\nX: y",
            "http://ex\tample.com",
            "http://[::1",
            "http://é.example/",
        ),
        "http://example.com/" + "x" * 2_000,
    ],
)
def test_what_is_no_plain_web_address_is_refused(url: str) -> None:
    with pytest.raises(Refused):
        target_of(url)


def test_a_name_that_answers_differently_a_moment_later_changes_nothing(settings, monkeypatch) -> None:
    """Rebinding: the first answer is public, every later one is our own machine."""
    answers = iter([["93.184.216.34"], ["127.0.0.1"], ["127.0.0.1"]])
    tried = []

    def connect(address, timeout):
        tried.append(address)
        raise ConnectionRefusedError

    monkeypatch.setattr(socket, "create_connection", connect)
    with pytest.raises(Unreachable):
        request("POST", "http://rebinding.example/", resolver=lambda host, port: next(answers))
    assert tried == [("93.184.216.34", 80)]


def test_one_private_address_among_public_ones_is_enough_to_refuse(monkeypatch) -> None:
    monkeypatch.setattr(socket, "create_connection", lambda *_, **__: pytest.fail("connected"))
    with pytest.raises(Refused, match="OUTGOING_ALLOW"):
        request("GET", "http://mixed.example/", resolver=lambda host, port: ["93.184.216.34", "10.0.0.1"])


def test_an_allowed_host_is_reached_by_its_checked_address_under_its_own_name(receiver: Receiver, settings) -> None:
    settings.OUTGOING_ALLOW = ["hooks.corp"]
    answer = request(
        "POST", f"http://hooks.corp:{receiver.port}/in?x=1", body=b"hi", resolver=lambda host, port: ["127.0.0.1"]
    )
    assert answer.ok
    got = receiver.received[0]
    assert (got.path, got.body, got.headers["host"]) == ("/in?x=1", b"hi", f"hooks.corp:{receiver.port}")


def test_redirects_are_not_followed(receiver: Receiver) -> None:
    receiver.answers = [Says(302, headers={"Location": "http://169.254.169.254/latest/meta-data"})]
    assert request("GET", receiver.url).status == 302
    assert len(receiver.received) == 1


def test_no_proxy_is_taken_from_the_environment(receiver: Receiver, monkeypatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    assert request("GET", receiver.url).ok


def test_no_more_is_read_of_an_answer_than_the_limit(receiver: Receiver) -> None:
    receiver.answers = [Says(200, b"x" * (LARGEST_ANSWER + 100_000))]
    assert len(request("GET", receiver.url).body) == LARGEST_ANSWER


@contextmanager
def dripping(drip: Callable[[socket.socket], None]) -> Iterator[str]:
    """A server that hands its connection to a function that never ends by itself."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            connection, _ = listening.accept()
            with connection:
                try:
                    connection.recv(65_536)
                    drip(connection)
                except OSError:
                    pass

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/"
        thread.join(120)
        assert not thread.is_alive()


def _for_ever(part: bytes) -> Callable[[socket.socket], None]:
    def drip(connection: socket.socket) -> None:
        while True:
            connection.sendall(part)
            time.sleep(0.02)

    return drip


def _body_for_ever(connection: socket.socket) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
    _for_ever(b"x")(connection)


@pytest.mark.parametrize("drip", [_for_ever(b"H"), _body_for_ever], ids=["head", "body"])
def test_a_server_that_drips_is_left_at_the_deadline(drip, settings) -> None:
    settings.OUTGOING_ALLOW = ["127.0.0.1"]
    with dripping(drip) as url, pytest.raises(Unreachable, match="in time"):
        request("GET", url, seconds=0.3)


def test_a_server_that_says_nothing_is_left_at_the_deadline(settings) -> None:
    settings.OUTGOING_ALLOW = ["127.0.0.1"]
    with dripping(lambda connection: connection.recv(1)) as url, pytest.raises(Unreachable, match="in time"):
        request("GET", url, seconds=0.2)


def test_a_handshake_that_never_ends_is_left_at_the_deadline(settings) -> None:
    settings.OUTGOING_ALLOW = ["127.0.0.1"]
    with dripping(_for_ever(b"\x16")) as url, pytest.raises(Unreachable):
        request("GET", url.replace("http://", "https://"), seconds=0.3)


def test_what_is_no_http_is_no_answer(settings) -> None:
    settings.OUTGOING_ALLOW = ["127.0.0.1"]
    with dripping(lambda connection: connection.sendall(b"220 smtp ready\r\n")) as url, pytest.raises(Unreachable):
        request("GET", url)


def test_a_mail_server_is_read_from_its_url(monkeypatch) -> None:
    monkeypatch.setenv("M", "smtp+tls://kim%40corp:p%3Aw@mail.corp")
    read = mail_server("M")
    assert (read.host, read.port, read.user, read.password) == ("mail.corp", 587, "kim@corp", "p:w")
    assert read.starttls and not read.tls
    monkeypatch.setenv("M", "smtps://user:canary@")
    with pytest.raises(BadSetting) as told:
        mail_server("M")
    assert "canary" not in str(told.value)
