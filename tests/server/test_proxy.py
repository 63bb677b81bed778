"""The proxy that is shipped: two hundred half requests keep nobody out, and no log of it tells a secret."""

import http.client
import json
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from tests.faults.server import BUSY, assert_each_counted_once, free_port, suite
from tests.server.installation import Installation
from tests.server.provision import NO_NGINX, nginx
from tests.server.proxy import Proxy, proxied

pytestmark = [pytest.mark.processes, pytest.mark.skipif(nginx() is None, reason=NO_NGINX)]
SLOW = 200
LINKS = (
    *("/invitations/canary", "/invitations/canary/", "/sign-in/MQ/canary", "/Sign-In/canary/canary/"),
    *("//sign-in/MQ/canary?next=/", "/password/reset/MQ/canary"),
)


@pytest.fixture(scope="module")
def proxy(installation: Installation, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxy]:
    program = nginx()
    assert program is not None
    with proxied(program, tmp_path_factory.mktemp("nginx"), installation.port) as running:
        yield running


def head_of(installation: Installation, content: bytes) -> bytes:
    return (
        f"POST /api/v1/projects/my-project/uploads?build_id=half HTTP/1.1\r\nHost: localhost\r\n"
        f"Authorization: Bearer {installation.token}\r\nContent-Type: application/xml\r\n"
        f"Content-Length: {len(content)}\r\n\r\n"
    ).encode()


def halves(installation: Installation) -> dict[str, bytes]:
    content = suite(1)
    head = head_of(installation, content)
    return {"headers": head[: len(head) // 2], "body": head + content[: len(content) // 2]}


def asked(proxy: Proxy, method: str, path: str, body: bytes | None = None, **headers: str) -> tuple[int, bytes]:
    with closing(
        http.client.HTTPSConnection("localhost", proxy.port, timeout=30 * BUSY, context=proxy.tls)
    ) as connection:
        connection.request(method, path, body, headers)
        response = connection.getresponse()
        return response.status, response.read()


def send(installation: Installation, proxy: Proxy, build: int) -> None:
    headers = {"Authorization": f"Bearer {installation.token}", "Content-Type": "application/xml"}
    path = f"/api/v1/projects/my-project/uploads?build_id={build}"
    status, answer = asked(proxy, "POST", path, suite(build), **headers)
    assert status == 202
    installation.accepted[build] = json.loads(answer)["id"]


@pytest.mark.parametrize(("what", "build"), [("headers", 102), ("body", 103)])
def test_two_hundred_half_requests_keep_nobody_out(
    installation: Installation, proxy: Proxy, what: str, build: int
) -> None:
    half = halves(installation)[what]
    with ExitStack() as slow:
        for _ in range(SLOW):
            slow.enter_context(proxy.connect()).sendall(half)
        assert asked(proxy, "GET", "/sign-in")[0] == 200
        send(installation, proxy, build)
        assert_each_counted_once(installation, installation.accepted)


def test_no_log_of_the_proxy_tells_a_link_that_lets_somebody_in(tmp_path: Path) -> None:
    """Web is away, so that nginx has an error to tell with each request."""
    program = nginx()
    assert program is not None
    with proxied(program, tmp_path, free_port()) as proxy:
        for path in (*LINKS, "/sso/callback?code=canary"):
            assert asked(proxy, "GET", path, Referer=f"https://localhost{path}")[0] == 502
        assert asked(proxy, "GET", "/projects/shop/runs")[0] == 502
    logs = {name: (tmp_path / name).read_text() for name in ("access.log", "error.log")}
    assert "/projects/shop/runs" in logs["access.log"] and "/projects/shop/runs" in logs["error.log"]
    assert logs["access.log"].count("/invitations/...") == 2
    assert "canary" not in logs["access.log"]
    assert not [line for line in logs["error.log"].splitlines() if "canary" in line and "/sso/" not in line]
