"""Secrets in failure text are replaced; everything else stays as it was."""

import re
from collections import Counter

import pytest

from ingest.redaction import redact, redact_report
from ingest.redaction_rules import RULES
from ingest.tokens import new_token
from tests.extent import repeats
from tests.ingest.junit.reading import read
from tests.paths import DATA, needs_data

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


_HEX, _UPPER = "0123456789abcdef" * 4, "ABCDEFGHIJ234567" * 4
FORMS = {
    "GITLAB_TOKEN={}": "abcdef1234567890abcd",
    "CI_JOB_TOKEN: {}": "64_nQ8xT7hY2kLmP9vRz",
    "NPM_TOKEN='{}'": "0f1e2d3c-4b5a-6978",
    "PRIVATE-TOKEN: {}": "9koXpg98eAheJpvBs5tK",
    "X-Auth-Token: {}": "gAAAAABf3q9Zx81",
    "x-api-key: {}": "Zx81Spectrum48k",
    "AWS_SESSION_TOKEN={}": "FwoGZXIvYXdzEBYaDG1",
    "Cookie: {}": "sessionid=38afes7a8; csrftoken=x9",
    "Set-Cookie: {}": "sid=s%3Aabc.def; Path=/; HttpOnly",
    'password = "{}"': "correct horse 8attery!",
    "password: '{}'": "it is 1 secret",
    "DB_PASS={}": "hunter2hunter2",
    "--password {} --host db": "hunter2",
    "mysql --user root --token {}": "q1w2e3r4",
    "curl -u bob:{} https://x": "s3cr3tpw",
    "machine git.example login bob password {}": "tr0ub4dor",
    '{{"auths": {{"x": {{"auth": "{}"}}}}}}': "Ym9iOmh1bnRlcjI=",
    "//registry.npmjs.org/:_authToken={}": "b7f0d1c2-aaaa-bbbb",
    "SECRET_KEY = '{}'": "django-insecure-k3y#x",
    "signing_key={}": "c2lnbmluZy1rZXk",
    "?access_token={}&x=1": "ya0.a0AfH6SM",
    "X-Amz-Signature={}": _HEX,
    "Basic {} was sent": "Ym9iOmh1bnRlcjI5OTk=",
    "https://discord.com/api/webhooks/{}": "123456789/" + _TAIL,
    "https://x.webhook.office.com/webhookb2/{}": "0f1e2d3c@aa/IncomingWebhook/" + _TAIL,
    "anthropic {}": "sk-ant-api03-" + _TAIL,
    "openai {}": "sk-proj-" + _TAIL,
    "old openai {}": "sk-abcdefghijklmnopqrstT3BlbkFJabcdefghijklmnopqrst",
    "hub {}": "hf_" + _TAIL[:34],
    "do {}": "dop_v1_" + _HEX,
    "docker {}": "dckr_pat_" + _TAIL[:27],
    "doppler {}": "dp.pt." + _TAIL[:43],
    "figma {}": "figd_" + _TAIL[:40],
    "grafana {}": "glsa_" + _TAIL[:32] + "_0f1e2d3c",
    "heroku {}": "HRKU-" + _TAIL[:36],
    "linear {}": "lin_api_" + _TAIL[:40],
    "mailchimp {}": _HEX[:32] + "-us12",
    "mailgun {}": "key-" + _HEX[:32],
    "newrelic {}": "NRAK-" + _UPPER[:27],
    "postman {}": "PMAK-" + _HEX[:24] + "-" + _HEX[:34],
    "pulumi {}": "pul-" + _HEX[:40],
    "gem {}": "rubygems_" + _HEX[:48],
    "sendgrid {}": "SG." + _TAIL[:22] + "." + _TAIL[:43],
    "sentry {}": "sntryu_" + _HEX,
    "shopify {}": "shpat_" + _HEX[:32],
    "square {}": "sq0atp-" + _TAIL[:22],
    "stripe {}": "whsec_" + _TAIL[:32],
    "telegram {}": "123456789:AA" + _TAIL[:33],
    "twilio {}": "SK" + _HEX[:32],
    "vault {}": "hvs." + _TAIL[:40],
    "databricks {}": "dapi" + _HEX[:32],
    "atlassian {}": "ATATT3" + _TAIL + _TAIL,
    "terraform {}": _TAIL[:14] + ".atlasv1." + (_TAIL + _TAIL)[:67],
    "planetscale {}": "pscale_tkn_" + _TAIL[:43],
    "age {}": "AGE-SECRET-KEY-1" + _UPPER[:58],
    "openshift {}": "sha256~" + _TAIL[:43],
    "alibaba {}": "LTAI" + _TAIL[:20],
    "supabase {}": "sbp_" + _HEX[:40],
    "netlify {}": "nfp_" + _TAIL[:36],
    "ci {}": "glcbt-64_" + _TAIL[:20],
    "adobe {}": "p8e-" + _TAIL[:32],
    "artifactory {}": "AKCp" + (_TAIL + _TAIL)[:69],
    "clojars {}": "CLOJARS_" + _HEX[:60],
    "dynatrace {}": "dt0c01." + _UPPER[:24] + "." + _UPPER,
    "fastly {}": "fastly_" + _TAIL[:32],
    "fly {}": "fo1_" + _TAIL[:43],
    "hubspot {}": "pat-na1-01234567-89ab-cdef-0123-456789abcdef",
    "mapbox {}": "sk.eyJ" + _TAIL + "." + _TAIL[:22],
    "notion {}": "ntn_" + _TAIL[:46],
    "1password {}": "ops_eyJ" + _TAIL + _TAIL,
    "perplexity {}": "pplx-" + _TAIL[:48],
    "sendinblue {}": "xkeysib-" + _HEX + "-" + _TAIL[:16],
    "typeform {}": "tfp_" + _TAIL + "_x1",
    "yandex {}": "y0_" + (_TAIL + _TAIL)[:55],
}


@pytest.mark.parametrize("around", FORMS)
def test_every_common_form_is_redacted(around: str) -> None:
    secret = FORMS[around]
    redacted = redact(f"E   AssertionError: {around.format(secret)}\nnext line")
    assert secret not in redacted and "[redacted " in redacted
    assert redacted.endswith("\nnext line")
    assert redact(redacted) == redacted


_A = "[redacted authorization]"
EXACT = {
    f"token {_JWT} expired": "token [redacted JSON web token] expired",
    "Authorization: Token hunter2": f"Authorization: Token {_A}",
    "AUTHORIZATION=digest abc;": f"AUTHORIZATION=digest {_A};",
    f"sent bearer {_TAIL[:24]} on": f"sent bearer {_A} on",
    f"sent BEARER {_TAIL[:24]} on": f"sent BEARER {_A} on",
    f"GET /c?sv=1&sig={_TAIL[:30]}&se=1": "GET /c?sv=1&sig=[redacted Azure signature]&se=1",
    "COOKIE: sid=38afes7a8": "COOKIE: sid=[redacted cookie]",
    "set-cookie: sid=38afes7a8": "set-cookie: sid=[redacted cookie]",
    f"POST https://hooks.slack.com/services/T0/B0/{_TAIL[:24]}": "POST https://hooks.slack.com/services/[redacted Slack address]",
    f"POST https://discord.com/api/webhooks/123456/{_TAIL} 401": "POST https://discord.com/api/webhooks/[redacted Discord address] 401",
    f"POST https://x.webhook.office.com/webhookb2/{_TAIL} 401": "POST https://x.webhook.office.com/webhookb2/[redacted Teams address] 401",
    f"SIGNATURE={_HEX}&x=1": "SIGNATURE=[redacted signature]&x=1",
    f"X-Amz-Signature={_HEX}&x=1": "X-Amz-Signature=[redacted signature]&x=1",
    "machine a login bob password tr0ub4dor": "machine a login bob password [redacted password]",
    "curl -u bob:s3cr3tpw https://x": "curl -u bob:[redacted password] https://x",
    "psql --Password hunter2 -h db": "psql --Password [redacted password] -h db",
    "login --api-key 'hunter2'": "login --api-key '[redacted password]'",
    '{"auth": "Ym9iOmh1bnRlcjI="}': f'{{"auth": "{_A}"}}',
    "BASIC Ym9iOmh1bnRlcjI5OTk= was sent": f"BASIC {_A} was sent",
    "redis://:hunter2@cache/0": "redis://:[redacted password]@cache/0",
    'Password = "correct horse 8attery!"': "Password = [redacted secret]",
    "PASSWORD=letmein": "PASSWORD=[redacted secret]",
    "password: 'letmein'": "password: '[redacted secret]'",
    "password: tr0ub4dor": "password: [redacted secret]",
}  # fmt: skip


@pytest.mark.parametrize("text", EXACT)
def test_no_more_than_the_secret_is_taken_and_the_case_of_letters_is_no_matter(text: str) -> None:
    assert redact(text) == EXACT[text]


_MARK = re.compile(r"\[redacted ([^\]]+)\]")
MOST_CHANGED = 0.0005
"""Of the texts of real reports, which hold next to no secrets: what is changed beyond is read by nobody any more."""


@needs_data
def test_next_to_nothing_of_real_reports_is_redacted() -> None:
    texts, changed = 0, Counter[str]()
    for path in sorted((DATA / "junit").rglob("*.xml")):
        said = path.read_bytes()[:2_000_000].decode("utf-8", "replace")
        for text in re.findall(r">([^<]{20,})<|message=\"([^\"]{20,})\"", said):
            texts += 1
            changed.update(_MARK.findall(redact("".join(text))))
    print(texts, changed)
    assert texts > 5_000
    assert changed.total() <= MOST_CHANGED * texts, changed


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
    *(
        "cookie: a=",
        "set-cookie:",
        "cookie: a",
        "login a password ",
        "login ",
        " -u a:",
        " -u ",
        "--password ",
        "--token",
    ),
    *(
        '"auth": "',
        "basic a",
        "basic ",
        "sk-ant-",
        "sk-",
        "hf_",
        "SG.",
        "SG.aaaaaaaaaaaaaaaaaaaa.",
        "-us1",
        "1:AA",
        "key-",
    ),
    *("a_token=", "a-token: ", "_pass=", 'password="a 1', "signature=", "fo1_", ".atlasv1.", "pk.eyJ", "sk.eyJa."),
)


LONG = repeats(30_000, 200_000)


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("filler", ["", "a" * 997, "-" * 1_003, "A1\n"])
def test_a_long_text_made_to_be_slow_ends(unit: str, filler: str) -> None:
    """What comes back to every character would take minutes for so many."""
    piece = unit * (40 if filler else 1) + filler
    text = (piece * (LONG // len(piece) + 1))[:LONG]
    assert len(redact(text)) <= 4 * len(text)


def test_every_rule_has_a_secret_here() -> None:
    texts = [around.format(secret).lower() for secret, around in SECRETS.items()]
    texts += [around.format(secret).lower() for around, secret in FORMS.items()]
    unused = [rule.name for rule in RULES if not any(hint in text for hint in rule.hints for text in texts)]
    assert unused == []


def test_no_part_of_a_report_tells_the_secret() -> None:
    parts = {
        "type": '<testcase name="t"><failure type="password=hunter2"/></testcase>',
        "message": '<testcase name="t"><failure message="password=hunter2"/></testcase>',
        "text": '<testcase name="t"><failure>password=hunter2</failure></testcase>',
        "system_out": '<testcase name="t"><failure/><system-out>password=hunter2</system-out></testcase>',
        "system_err": '<testcase name="t"><failure/><system-err>password=hunter2</system-err></testcase>',
        "run error": '<testcase name="t"/><error message="password=hunter2"/>',
    }
    for part, inside in parts.items():
        report = read(f'<testsuite name="s">{inside}</testsuite>')
        redacted = redact_report(report)
        told, said = (str([one.attempts, one.run_errors]) for one in (report, redacted))
        assert "hunter2" in told, part
        assert said == told.replace("hunter2", "[redacted secret]"), part
        assert list(redacted.attempts) == list(report.attempts)
