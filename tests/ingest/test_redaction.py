"""Secrets in failure text are replaced before anything is stored; everything else stays as it was."""

import pytest

from ingest.models import Failure, Project, Report, Signature
from ingest.redaction import RULES, redact
from ingest.tokens import new_token
from tests.conftest import Send, report_of

_TAIL = "0123456789abcdefghijABCDEFGHIJ0123456789abcdefghij"
_JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P"
_PEM = (
    "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nMIIEowIBAAKCAQEA7\n+/aB==\n-----END RSA PRIVATE KEY-----"
)

SECRETS = {
    "AKIA" + "IOSFODNN7EXAMPLE": "key {} was denied",
    "ASIA" + "IOSFODNN7EXAMPLE": "id='{}'",
    "AIza" + _TAIL[:35]: "https://maps.example/?key={}",
    "ya29." + _TAIL: "token {}",
    "GOCSPX-" + _TAIL[:28]: "client {}",
    "abc8Q~" + _TAIL[:34]: "azure said {} is wrong",
    "Zm9vYmFyMTIzNDU2Nzg5MGFiY2RlZmdoaWprbG1ub3BxcnN0dXZ3eHl6QUJDREVGRw==": "AccountName=a;AccountKey={};Endpoint=b",
    "ab%2Bcd%2Fef0123456789abcdefgh%3D": "https://a.blob.core.windows.net/c?sv=2020&sig={}&se=1",
    "ghp_" + _TAIL[:36]: "remote: {} is not valid",
    "github_pat_" + _TAIL + "_" + _TAIL: "using {}",
    "glpat-" + _TAIL[:20]: "PRIVATE: {}",
    "xoxb-123456789012-abcdefGHIJKL": "slack {}",
    "T01ABCDEF/B01ABCDEF/" + _TAIL[:24]: "POST https://hooks.slack.com/services/{}",
    "npm_" + _TAIL[:36]: "//registry/:_authToken is {}",
    "pypi-AgEIcHlwaS5vcmc" + _TAIL: "twine {}",
    "sk_live_" + _TAIL[:24]: "stripe.{}",
    new_token("upload"): "curl -d {}",
    _JWT: "cookie: session={}",
    _PEM: "key:\n{}\nend",
    _PEM.replace("\n", "\\n"): '{{"private_key": "{}"}}',
    "s3cret!": "postgresql://shop:{}@db:5432/shop",
    "hunter": "redis://:{}@cache/0",
    "YWxhZGRpbjpvcGVuc2VzYW1l": "Authorization: Basic {}",
    "abcdef.0123456789": "{{'Authorization': 'Bearer {}'}}",
    _TAIL[:24]: "sent Bearer {} to the shop",
    "letmein": "PASSWORD={}",
    "hunter2": "user=bob, password=hunter2, host=db".replace("hunter2", "{}"),
    "tr0ub4dor": "password: {}",
    "correct-horse": '{{"password": "{}"}}',
    "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY": "aws_secret_access_key = {}",
    "0f1e2d3c": "--api-key={}",
    "deadbeef01": '\\"client_secret\\": \\"{}\\"',
    "abc123def456": "CI_JOB_TOKEN is not, but DEPLOY_TOKEN={} is",
}


@pytest.mark.parametrize(("secret", "around"), SECRETS.items(), ids=[key[:10] for key in SECRETS])
def test_a_secret_is_replaced_and_the_words_around_it_stay(secret: str, around: str) -> None:
    redacted = redact(around.format(secret))
    before, after = around.format("\0").split("\0")
    assert secret not in redacted
    assert "[redacted " in redacted
    assert redacted.startswith(before[:20]) and redacted.endswith(after)
    assert redact(redacted) == redacted


PLAIN = (
    "",
    "commit 2fd4e1c67a2d28fced849ee1bb76e7391b93eb12 of main",
    "request 123e4567-e89b-12d3-a456-426614174000 failed",
    "Traceback (most recent call last):\n"
    '  File "shop/login.py", line 12, in test_login\n'
    "    client.login(username=user, password=password)\n"
    "    client.login(user.name, password=self.password, secret=get_secret())\n"
    "AssertionError: assert 403 == 200",
    "    password = settings.PASSWORD\n    token = response.json()['token']",
    "assert password == other_password",
    "java.lang.IllegalStateException: password must not be empty\n\tat org.shop.Login.check(Login.java:41)",
    "password: must be at least 8 characters",
    "{'password': ['This field is required.']}",
    '{"password": "This field is required."}',
    "SyntaxError: Unexpected token: punc (})",
    "Unexpected token < in JSON at position 0",
    "expected token=EOF but was token=IDENTIFIER",
    "https://shop.example:8080/a@b?c=d:e@f",
    "GET http://[::1]:8000/ at 12:34:56",
    "git@github.com:shop/shop.git",
    "the bearer of good news, bearer responsibilities",
    "Authorization failed: the header is missing",
    "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
    "eyJust words, not a token. eyJ.eyJ.",
    "glib-2.0-development-headers-and-more are missing; npm_config_registry_is_not_set_anywhere_at_all_x",
    "password=None, secret=null, api_key=***",
    "std::password::verify() at pwd=/",
)


@pytest.mark.parametrize("text", PLAIN)
def test_what_is_no_secret_stays(text: str) -> None:
    assert redact(text) == text


def test_a_key_that_the_reader_cut_in_the_middle_is_still_one_key() -> None:
    text = "-----BEGIN PRIVATE KEY-----\nMIIEow\n[… cut …]\nAAKCAQ==\n-----END PRIVATE KEY-----\nafter"
    assert redact(text) == "[redacted private key]\nafter"


UNITS = (
    *("eyJ", "eyJa.", "eyJaaaaaaaaa.eyJ", "-----BEGIN PRIVATE KEY-----", "-----BEGIN PRIVATE KEY----", "private key"),
    *("://", "://a:", "://a:b", "AKIA", "AKIAA", "ghp_", "github_pat_", "glpat-", "xoxb-", "pypi-", "npm_", "flk_aa_"),
    *("password", "password=", 'password="', "password='", "password : ", "pwd", 'pwd\\"', "secret_", "api-key-", "q~"),
    *("authorization", "authorization: bearer ", "bearer ", "bearer a", "sig=", "&sig=", "a8Q~", "_token=", "AIza"),
    *("ya29.", "hooks.slack.com/a/", "k_live_", "sk_live_"),
)


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("filler", ["", "a" * 997, "-" * 1_003, "A1\n"])
def test_a_megabyte_made_to_be_slow_ends(unit: str, filler: str) -> None:
    piece = unit * (40 if filler else 1) + filler
    text = (piece * (1_000_000 // len(piece) + 1))[:1_000_000]
    assert len(redact(text)) <= 4 * len(text)


def test_every_rule_has_a_secret_here() -> None:
    texts = [around.format(secret).lower() for secret, around in SECRETS.items()]
    unused = [rule.name for rule in RULES if not any(hint in text for hint in rule.hints for text in texts)]
    assert unused == []


_LEAKING = (
    b"<testsuite name='s'><testcase classname='a' name='one'>"
    b"<failure type='E' message='password=hunter2'>at postgres://u:hunter2@db/x</failure>"
    b"<system-out>PASSWORD=hunter2</system-out><system-err>api_key=hunter2</system-err></testcase>"
    b"<testcase classname='a' name='two'/></testsuite>"
)


def _stored(report: Report) -> str:
    failure = Failure.objects.get(report=report)
    parts = (failure.message, failure.text, failure.system_out, failure.system_err)
    return "\n".join((*parts, Signature.objects.get(pk=failure.signature_id).text, str(report.run_errors)))


def test_nothing_stored_of_a_failure_tells_the_secret(send: Send) -> None:
    stored = _stored(report_of(send(_LEAKING, build_id="1")))
    assert "hunter2" not in stored
    assert stored.count("[redacted ") >= 4


def test_a_project_can_switch_it_off(project: Project, send: Send) -> None:
    Project.objects.filter(pk=project.pk).update(redact=False)
    assert "password=hunter2" in _stored(report_of(send(_LEAKING, build_id="1")))


def test_two_passwords_make_one_signature(send: Send) -> None:
    first = report_of(send(_LEAKING, build_id="1"))
    second = report_of(send(_LEAKING.replace(b"hunter2", b"zebra-Q"), build_id="2"))
    assert Failure.objects.get(report=first).signature_id == Failure.objects.get(report=second).signature_id
