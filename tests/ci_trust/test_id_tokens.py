"""ID tokens of CI: what is right lets a job in, once; whatever is wrong about one keeps it out."""

import base64
import hmac
import json
import time
from datetime import timedelta
from hashlib import sha256
from typing import Any

import pytest
from django.db.models import F
from joserfc.jwk import RSAKey

from dashboard.ci_trust.models import IssuerKeys, TrustedRepository, UsedToken
from dashboard.ci_trust.repositories import repository_switch
from dashboard.notify import safe_http
from ingest.models import Project, Upload
from ingest.services import project_create
from tests.api_client import code
from tests.ci_trust.conftest import Issuer, Sender, sent

pytestmark = pytest.mark.usefixtures("repository")


def refused(answer: Any, words: str) -> None:
    assert code(answer) == (401, "unauthenticated")
    assert words in answer.json()["error"]["sentence"]
    assert not Upload.objects.exists()


def test_a_job_of_a_trusted_repository_sends_and_its_claims_win_over_what_it_says(issuer: Issuer, ci: Sender) -> None:
    said = {"commit": "b" * 40, "branch": "forged", "build_id": "1", "pull_request": "7", "job": "unit", "wait": 1}
    run = sent(ci.post(issuer.token(), **said)).run
    assert (run.commit, run.branch, run.pull_request) == ("a" * 40, "main", "")
    assert (run.build_id, run.attempt, run.job, run.untrusted) == ("99", 2, "unit", False)
    assert run.build_url == "https://127.0.0.1/acme/shop/actions/runs/99"


def test_the_gate_takes_one_too(issuer: Issuer, ci: Sender) -> None:
    answer = ci.post(issuer.token(), "gate", exit_code=0)
    assert answer.status_code == 200
    assert answer.json()["passed"] is True


def test_it_may_send_ask_and_read_and_nothing_else(issuer: Issuer, ci: Sender) -> None:
    upload = sent(ci.post(issuer.token()))
    assert ci.get(issuer.token(), f"uploads/{upload.pk}").status_code == 200
    for path in (f"uploads/{upload.pk}/reprocess", "analyses"):
        assert code(ci.post(issuer.token(), path)) == (403, "forbidden")


def test_one_with_the_scope_gate_cannot_upload(issuer: Issuer, ci: Sender, repository: TrustedRepository) -> None:
    TrustedRepository.objects.update(scope="gate")
    assert code(ci.post(issuer.token())) == (403, "forbidden")
    assert ci.post(issuer.token(), "gate", exit_code=0).status_code == 200


# -- what is wrong about it --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "audience", ["https://elsewhere.example", "", None, ["https://flakeboard.example", "https://x"]]
)
def test_a_token_for_somebody_else_or_for_us_and_others_is_refused(issuer: Issuer, ci: Sender, audience: Any) -> None:
    refused(ci.post(issuer.token(aud=audience)), "https://flakeboard.example")


@pytest.mark.parametrize("claimed", ["https://token.actions.githubusercontent.com", "http://127.0.0.1:1", None, 3, ""])
def test_an_issuer_that_is_not_listed_is_refused_and_never_asked(
    issuer: Issuer, ci: Sender, claimed: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(safe_http, "request", lambda *args, **kwargs: pytest.fail("it was asked"))
    refused(ci.post(issuer.token(iss=claimed)), "OIDC_CI_ISSUERS")


def part(value: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()


@pytest.mark.parametrize("algorithm", ["none", "None", "NONE"])
def test_a_token_without_a_signature_is_refused(issuer: Issuer, ci: Sender, algorithm: str) -> None:
    header = part({"alg": algorithm, "kid": issuer.provider.key.kid})
    refused(ci.post(f"{header}.{part(issuer.claims())}."), "RS256")


def test_the_public_key_is_no_secret_to_sign_with(issuer: Issuer, ci: Sender) -> None:
    signed = f"{part({'alg': 'HS256', 'kid': issuer.provider.key.kid})}.{part(issuer.claims())}"
    public = issuer.provider.key.as_pem(private=False)
    signature = base64.urlsafe_b64encode(hmac.new(public, signed.encode(), sha256).digest()).rstrip(b"=").decode()
    refused(ci.post(f"{signed}.{signature}"), "RS256")


def test_another_key_of_the_same_name_is_refused(issuer: Issuer, ci: Sender) -> None:
    forged = RSAKey.generate_key(2048, {"kid": issuer.provider.key.kid})
    refused(ci.post(issuer.token(key=forged)), "signature")


def test_a_key_that_the_token_brings_along_is_not_used(issuer: Issuer, ci: Sender) -> None:
    forged = RSAKey.generate_key(2048, {"kid": "mine"})
    header = {"jwk": forged.as_dict(private=False), "jku": f"{issuer.url}/keys"}
    answer = ci.post(issuer.token(key=forged, header=header))
    assert answer.status_code == 401
    assert not Upload.objects.exists()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"exp": -61}, "expired"),
        ({"iat": 90}, "future"),
        ({"nbf": 90}, "future"),
        ({"exp": None}, "expires"),
        ({"iat": None}, "made"),
    ],
)
def test_a_token_of_another_time_is_refused(issuer: Issuer, ci: Sender, changes: dict[str, Any], words: str) -> None:
    now = int(time.time())
    moved = {name: None if value is None else now + value for name, value in changes.items()}
    refused(ci.post(issuer.token(**moved)), words)


@pytest.mark.parametrize("changes", [{"exp": "soon"}, {"exp": True}, {"exp": 1e300}, {"iat": [1]}])
def test_a_time_that_is_none_is_refused(issuer: Issuer, ci: Sender, changes: dict[str, Any]) -> None:
    assert ci.post(issuer.token(**changes)).status_code == 401


def test_clocks_may_differ_by_a_minute(issuer: Issuer, ci: Sender) -> None:
    now = int(time.time())
    sent(ci.post(issuer.token(exp=now - 30)))
    sent(ci.post(issuer.token(iat=now + 30, nbf=now + 30, run_id="100")))


@pytest.mark.parametrize("text", ["a.b.c", "..", "a..", "e30.e30.e30", "eyJhbGciOiJSUzI1NiJ9.W10.x", "é.a.b"])
def test_what_is_no_token_is_refused(issuer: Issuer, ci: Sender, text: str) -> None:
    assert ci.post(text).status_code == 401


# -- whose it is -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", ["4712", "", None, 0])
def test_another_repository_of_the_same_name_is_refused(issuer: Issuer, ci: Sender, number: Any) -> None:
    refused(ci.post(issuer.token(repository_id=number)), "No project here trusts")


def test_a_renamed_repository_is_the_same_and_is_called_by_its_new_name(
    issuer: Issuer, ci: Sender, repository: TrustedRepository
) -> None:
    sent(ci.post(issuer.token(repository="acme/store")))
    repository.refresh_from_db()
    assert repository.name == "acme/store"
    assert repository.last_used_at is not None


def test_another_project_is_answered_as_one_that_is_not_there(issuer: Issuer, ci: Sender) -> None:
    project_create(slug="other", name="Other")
    there, nowhere = (ci.post(issuer.token(), slug=slug) for slug in ("other", "nowhere"))
    assert code(there) == (404, "not_found")
    assert there.content == nowhere.content


def test_a_repository_that_is_paused_or_gone_is_refused(
    issuer: Issuer, ci: Sender, repository: TrustedRepository
) -> None:
    repository_switch(repository=repository, enabled=False)
    refused(ci.post(issuer.token()), "No project here trusts")
    repository_switch(repository=repository, enabled=True)
    sent(ci.post(issuer.token()))
    repository.delete()
    assert ci.post(issuer.token()).status_code == 401


@pytest.mark.parametrize(
    ("rule", "good", "bad"),
    [
        ({"refs": ["main", "release/*"]}, {"ref": "refs/heads/release/1"}, {"ref": "refs/heads/feature"}),
        ({"refs": ["main"]}, {}, {"ref": "refs/tags/main"}),
        ({"refs": ["refs/pull/*"]}, {"ref": "refs/pull/3/merge", "event_name": "pull_request"}, {}),
        ({"protected_only": True}, {}, {"ref_protected": "false"}),
        ({"protected_only": True}, {}, {"ref": "refs/pull/3/merge", "event_name": "pull_request"}),
        ({"environment": "ci"}, {"environment": "ci"}, {"environment": "prod"}),
        ({"environment": "ci"}, {"environment": "ci"}, {}),
    ],
)
def test_a_project_may_ask_for_a_branch_protection_or_an_environment(
    issuer: Issuer, ci: Sender, rule: dict[str, Any], good: dict[str, Any], bad: dict[str, Any]
) -> None:
    TrustedRepository.objects.update(**rule)
    refused(ci.post(issuer.token(**bad)), "The project")
    sent(ci.post(issuer.token(**good)))


# -- once --------------------------------------------------------------------------------------------------------


def test_a_token_lets_one_thing_be_sent(issuer: Issuer, ci: Sender) -> None:
    token = issuer.token()
    sent(ci.post(token))
    assert "used before" in ci.post(token).json()["error"]["sentence"]
    assert "used before" in ci.post(token, "gate", exit_code=0).json()["error"]["sentence"]
    assert Upload.objects.count() == 1


def test_the_same_request_again_is_a_retry_and_nothing_else_is(issuer: Issuer, ci: Sender) -> None:
    token = issuer.token()
    first = sent(ci.post(token, key="k1"))
    assert sent(ci.post(token, key="k1")) == first
    assert ci.post(token, key="k2").status_code == 401
    assert ci.post(token, "gate", key="k1", exit_code=0).status_code == 401
    assert code(ci.post(token, key="k1", body=b"<testsuite><testcase name='x'/></testsuite>"))[0] == 409


def test_reading_uses_nothing_up(issuer: Issuer, ci: Sender) -> None:
    token = issuer.token()
    assert ci.get(token).status_code == 200
    sent(ci.post(token))
    assert ci.get(token).status_code == 200


def test_a_token_without_a_number_sends_nothing(issuer: Issuer, ci: Sender) -> None:
    refused(ci.post(issuer.token(jti=None)), "jti")


def test_used_tokens_are_forgotten_when_they_have_expired(issuer: Issuer, ci: Sender) -> None:
    sent(ci.post(issuer.token()))
    UsedToken.objects.update(expires_at=F("expires_at") - timedelta(hours=1))
    sent(ci.post(issuer.token(run_id="100")))
    assert UsedToken.objects.count() == 1


# -- keys --------------------------------------------------------------------------------------------------------


def a_while_ago(**by: int) -> None:
    IssuerKeys.objects.update(**{name: F(name) - timedelta(seconds=seconds) for name, seconds in by.items()})


def counted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Addresses that we asked for, from now on."""
    asked: list[str] = []
    request = safe_http.request

    def counting(method: str, url: str, **options: Any) -> safe_http.Answer:
        asked.append(url)
        return request(method, url, **options)

    monkeypatch.setattr(safe_http, "request", counting)
    return asked


def test_keys_are_fetched_once(issuer: Issuer, ci: Sender, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = counted(monkeypatch)
    for number in range(3):
        sent(ci.post(issuer.token(run_id=str(number))))
    assert asked == [f"{issuer.url}/.well-known/openid-configuration", f"{issuer.url}/keys"]


def test_a_new_key_is_found_and_the_old_one_ends(issuer: Issuer, ci: Sender) -> None:
    old = issuer.provider.key
    sent(ci.post(issuer.token()))
    issuer.provider.key = RSAKey.generate_key(2048, {"kid": "two"})
    a_while_ago(tried_at=11, fetched_at=11)
    sent(ci.post(issuer.token(run_id="100")))
    assert ci.post(issuer.token(key=old, run_id="101")).status_code == 401


def test_a_storm_of_unknown_keys_asks_the_issuer_once(
    issuer: Issuer, ci: Sender, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = counted(monkeypatch)
    stranger = RSAKey.generate_key(2048)
    for number in range(20):
        forged = issuer.token(key=stranger, header={"kid": f"unknown-{number}"})
        assert ci.post(forged).status_code == 401
    assert len(asked) == 2
    sent(ci.post(issuer.token()))


def test_an_issuer_that_is_down_is_believed_by_the_keys_that_it_had_for_a_day(
    issuer: Issuer, ci: Sender, settings: Any
) -> None:
    sent(ci.post(issuer.token()))
    settings.OUTGOING_ALLOW = []
    a_while_ago(tried_at=7_200, fetched_at=7_200)
    sent(ci.post(issuer.token(run_id="100")))
    a_while_ago(tried_at=90_000, fetched_at=90_000)
    assert code(ci.post(issuer.token(run_id="101"))) == (503, "unavailable")


def test_an_issuer_that_never_answered_is_said_to_be_away(issuer: Issuer, ci: Sender, settings: Any) -> None:
    settings.OUTGOING_ALLOW = []
    answer = ci.post(issuer.token())
    assert code(answer) == (503, "unavailable")
    assert answer.headers["Retry-After"]
    assert not Upload.objects.exists()


def test_keys_on_another_host_than_the_issuers_are_not_fetched(
    issuer: Issuer, ci: Sender, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = {"issuer": issuer.url, "jwks_uri": "http://127.0.0.1:9/keys"}
    asked: list[str] = []

    def answered(method: str, url: str, **options: Any) -> safe_http.Answer:
        asked.append(url)
        return safe_http.Answer(200, body=json.dumps(elsewhere).encode())

    monkeypatch.setattr(safe_http, "request", answered)
    assert ci.post(issuer.token()).status_code == 503
    assert asked == [f"{issuer.url}/.well-known/openid-configuration"]


def test_keys_of_a_file_are_enough_and_nobody_is_asked(
    issuer: Issuer, ci: Sender, settings: Any, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = counted(monkeypatch)
    file = tmp_path / "keys.json"
    public = issuer.provider.key.as_dict(private=False, use="sig", alg="RS256")
    file.write_text(json.dumps({issuer.url: {"keys": [public]}}))
    settings.OIDC_CI_KEYS = str(file)
    sent(ci.post(issuer.token()))
    stranger = RSAKey.generate_key(2048, {"kid": "stranger"})
    assert ci.post(issuer.token(key=stranger)).status_code == 401
    assert asked == []


@pytest.mark.filterwarnings("ignore::joserfc.errors.SecurityWarning")
def test_a_short_key_is_not_used(issuer: Issuer, ci: Sender) -> None:
    sent(ci.post(issuer.token()))
    short = RSAKey.generate_key(1024, {"kid": "short"})
    IssuerKeys.objects.update(keys=[short.as_dict(private=False)])
    assert ci.post(issuer.token(key=short)).status_code == 401


def test_the_token_is_written_nowhere(
    issuer: Issuer, ci: Sender, project: Project, caplog: pytest.LogCaptureFixture
) -> None:
    token = issuer.token(jti="canary-number")
    upload = sent(ci.post(token))
    again = ci.post(token)
    kept = [
        *UsedToken.objects.values(),
        *Upload.objects.filter(pk=upload.pk).values(),
        *TrustedRepository.objects.values(),
    ]
    for text in (str(kept), again.content.decode(), caplog.text):
        assert token.rpartition(".")[2] not in text
        assert "canary-number" not in text
