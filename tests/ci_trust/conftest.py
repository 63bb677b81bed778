"""A local issuer whose keys may be fetched, a repository that the project trusts, and a worker that works at once."""

import secrets
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from django.test import Client
from joserfc import jwt
from joserfc.jwk import RSAKey

from dashboard.ci_trust.models import TrustedRepository
from dashboard.ci_trust.repositories import TrustRequest, repository_trust
from ingest.models import Project, Upload
from ingest.processing import upload_process
from tests.people.provider import Provider, running
from tests.quarantine.conftest import quarantined, report

__all__ = ["quarantined"]
SITE = "https://flakeboard.example"
PUSH = {
    "repository": "acme/shop",
    "repository_id": "4711",
    "event_name": "push",
    "ref": "refs/heads/main",
    "ref_protected": "true",
    "sha": "a" * 40,
    "run_id": "99",
    "run_attempt": "2",
}
"""What GitHub says of a job that a push started."""


@dataclass
class Issuer:
    """Signs what a test wants."""

    provider: Provider

    @property
    def url(self) -> str:
        return self.provider.issuer

    def claims(self, **changes: Any) -> dict[str, Any]:
        now = int(time.time())
        told = {"iss": self.url, "aud": SITE, "sub": "repo:acme/shop", "jti": secrets.token_hex(8), "iat": now}
        told |= {"nbf": now, "exp": now + 300, **PUSH, **changes}
        return {name: value for name, value in told.items() if value is not None}

    def token(self, *, key: RSAKey | None = None, header: dict[str, Any] | None = None, **changes: Any) -> str:
        signing = key or self.provider.key
        return jwt.encode({"alg": "RS256", "kid": signing.kid, **(header or {})}, self.claims(**changes), signing)


@pytest.fixture(scope="module")
def provider() -> Iterator[Provider]:
    with running() as started:
        yield started


@pytest.fixture
def issuer(provider: Provider, settings) -> Iterator[Issuer]:
    settings.OUTGOING_ALLOW, settings.PUBLIC_URL = ["127.0.0.0/8"], SITE
    settings.OIDC_CI_ISSUERS, settings.OIDC_CI_KEYS = [provider.issuer], ""
    kept = provider.key
    yield Issuer(provider)
    provider.key = kept


@pytest.fixture
def repository(project: Project, issuer: Issuer) -> TrustedRepository:
    return repository_trust(project=project, wanted=TrustRequest("github", issuer.url, "4711"))


@pytest.fixture(autouse=True)
def _worker(monkeypatch: pytest.MonkeyPatch) -> None:
    for place in ("upload.uploads", "quarantine.gate"):
        wake = lambda upload_id: upload_process(upload_id=upload_id)  # noqa: E731
        monkeypatch.setattr(f"dashboard.api.{place}.wake_worker", wake)


class Sender:
    """A CI job that shows a token."""

    def __init__(self) -> None:
        self._client = Client()

    def post(self, token: str, path: str = "uploads", body: bytes = b"", slug: str = "shop", **said: Any) -> Any:
        key = {"Idempotency-Key": said.pop("key")} if "key" in said else {}
        query = "&".join(f"{name}={value}" for name, value in said.items())
        return self._client.post(
            f"/api/v1/projects/{slug}/{path}?{query}",
            body or report(3),
            content_type="application/xml",
            headers={"Authorization": f"Bearer {token}", **key},
        )

    def get(self, token: str, path: str = "uploads", slug: str = "shop") -> Any:
        return self._client.get(f"/api/v1/projects/{slug}/{path}", headers={"Authorization": f"Bearer {token}"})


@pytest.fixture
def ci(db: None) -> Sender:
    return Sender()


def sent(answer: Any) -> Upload:
    """The upload that an accepting answer speaks of."""
    assert answer.status_code in (200, 202), answer.content
    return Upload.objects.select_related("run").get(pk=answer.json()["id"])
