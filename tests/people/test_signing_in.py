"""Signing in: argon2, throttled failures, sessions that are listed and ended, passwords that are lost and changed."""

import re

import pytest
from django.contrib.auth.models import User
from django.core import mail
from django.test import Client

from dashboard.ops.start_message import sign_in_address
from dashboard.people.models import AuditEntry, Bucket, SignedIn
from dashboard.people.tokens import personal_token_make
from dashboard.templatetags.sessions import device
from tests.people.conftest import PASSWORD, People


def attempt(password: str = "wrong", username: str = "viewer", address: str = "192.0.2.1"):
    return Client(REMOTE_ADDR=address).post("/sign-in", {"username": username, "password": password})


def signed_in(username: str = "viewer", agent: str = "Firefox") -> Client:
    client = Client(headers={"user-agent": agent})
    assert client.post("/sign-in", {"username": username, "password": PASSWORD}).status_code == 302
    return client


def actions() -> list[str]:
    return list(AuditEntry.objects.order_by("pk").values_list("action", flat=True))


def test_passwords_are_kept_by_argon2(db: None, settings) -> None:
    settings.PASSWORD_HASHERS = settings.PASSWORD_HASHERS[1:]
    assert User.objects.create_user("anna", password=PASSWORD).password.startswith("argon2$argon2id$")


def test_failed_sign_ins_of_an_address_are_throttled_whatever_account_they_try(people: People, settings) -> None:
    settings.SIGN_INS_PER_ADDRESS = 3
    assert [attempt(username=f"guess{number}").status_code for number in range(3)] == [200] * 3
    refused = attempt(PASSWORD)
    assert refused.status_code == 429
    assert 0 < int(refused.headers["Retry-After"]) <= 900
    assert "Too many sign-ins failed" in refused.content.decode()
    assert attempt(PASSWORD, address="192.0.2.2").status_code == 302


def test_failed_sign_ins_of_an_account_are_throttled_from_wherever_they_come(people: People, settings) -> None:
    settings.SIGN_INS_PER_ACCOUNT = 3
    assert [attempt(username="Viewer ", address=f"192.0.2.{one}").status_code for one in range(3)] == [200] * 3
    assert attempt(PASSWORD, address="198.51.100.7").status_code == 429
    assert (
        attempt(PASSWORD, username="\uff36iewer", address="198.51.100.8").status_code == 429
    )  # NFKC of it is the same
    assert attempt(PASSWORD, username="maintainer").status_code == 302


def test_old_passwords_are_guessed_no_faster_in_a_session(people: People, settings) -> None:
    settings.SIGN_INS_PER_ACCOUNT = 3
    wrong = {"old_password": "wrong", "new_password1": "a-new-long-one", "new_password2": "a-new-long-one"}
    session = people.browser("viewer")
    assert [session.post("/password", wrong).status_code for _ in range(4)] == [200, 200, 200, 429]


def test_sign_ins_that_succeed_do_not_count(people: People, settings) -> None:
    settings.SIGN_INS_PER_ADDRESS = settings.SIGN_INS_PER_ACCOUNT = 2
    assert [attempt(PASSWORD).status_code for _ in range(6)] == [302] * 6


def test_addresses_of_one_network_share_a_bucket_and_empty_buckets_go(people: People, settings, monkeypatch) -> None:
    settings.SIGN_INS_PER_ADDRESS = 2
    for one in range(2):
        attempt(username=f"guess{one}", address=f"2001:db8::{one:x}")
    assert attempt(PASSWORD, address="2001:db8::ffff").status_code == 429
    Bucket.objects.update(empty_at=0)
    monkeypatch.setattr("dashboard.people.throttling.secrets.randbelow", lambda most: 0)
    attempt()
    assert Bucket.objects.count() == 2


def test_only_our_own_proxies_are_believed_about_addresses(people: People, settings) -> None:
    for proxies, seen in ((0, "127.0.0.1"), (1, "198.51.100.9"), (2, "203.0.113.5")):
        settings.PROXIES = proxies
        Client().post(
            "/sign-in", {"username": "x", "password": "y"}, headers={"x-forwarded-for": "203.0.113.5, 198.51.100.9"}
        )
        assert AuditEntry.objects.latest("pk").address == seen


def test_signing_in_failing_and_out_are_written_down_without_the_password(people: People) -> None:
    attempt("a-very-secret-guess")
    signed_in().post("/sign-out")
    assert actions() == ["sign_in.failed", "sign_in", "sign_out"]
    assert "secret" not in str(list(AuditEntry.objects.values()))


@pytest.mark.parametrize(
    ("agent", "shown"),
    [
        ("Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0", "Firefox on Linux"),
        ("Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 Chrome/126.0 Safari/537.36 Edg/126.0", "Edge on Windows"),
        ("Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) Version/17.5 Safari/604.1", "Safari on iPhone"),
        ("curl/8.5.0", "curl/8.5.0"),
        ("", "unknown"),
    ],
)
def test_a_device_is_named_by_its_browser_and_system(agent: str, shown: str) -> None:
    assert device(agent) == shown


def test_sessions_are_listed_and_ended_one_by_one(people: People) -> None:
    here, there = signed_in(agent="Firefox"), signed_in(agent="Old laptop")
    shown = here.get("/account").content.decode()
    assert "Old laptop" in shown and "this one" in shown
    other = SignedIn.objects.get(device="Old laptop")
    assert signed_in("maintainer").post(f"/account/sessions/{other.pk}/end").status_code == 404
    assert here.post(f"/account/sessions/{other.pk}/end").url == "/account"
    assert there.get("/account").status_code == 302
    assert here.get("/account").status_code == 200


def test_all_other_sessions_are_ended_at_once(people: People) -> None:
    here, others = signed_in(), [signed_in() for _ in range(2)]
    stranger = signed_in("stranger")
    here.post("/account/sessions/end-others")
    assert [other.get("/account").status_code for other in others] == [302, 302]
    assert (here.get("/account").status_code, stranger.get("/account").status_code) == (200, 200)


def test_a_session_from_before_is_listed_when_it_is_used(people: People) -> None:
    client = Client()
    client.force_login(people.viewer)
    client.get("/account")
    assert SignedIn.objects.get().user == people.viewer


def test_a_new_password_takes_the_old_one_and_ends_other_sessions(people: People) -> None:
    here, there = signed_in(), signed_in()
    new = {"new_password1": "another-password-1", "new_password2": "another-password-1"}
    assert here.post("/password", new).status_code == 200
    assert here.post("/password", {"old_password": PASSWORD, **new}).url == "/"
    assert (here.get("/account").status_code, there.get("/account").status_code) == (200, 302)
    assert SignedIn.objects.count() == 1
    assert "password.set" in actions()


def test_who_came_by_a_one_time_link_needs_no_old_password(people: People) -> None:
    client = Client()
    client.post(sign_in_address(people.viewer).partition("8000")[2])
    new = {"new_password1": "another-password-1", "new_password2": "another-password-1"}
    assert client.post("/password", new).url == "/"
    assert client.post("/password", new).status_code == 200


def test_a_first_password_is_chosen_while_signing_in_by_a_link(people: People) -> None:
    people.viewer.set_unusable_password()
    people.viewer.save()
    path, client = sign_in_address(people.viewer).partition("8000")[2], Client()
    short = client.post(path, {"new_password1": "short", "new_password2": "short"})
    assert "too short" in short.content.decode() and client.get("/").status_code == 302
    new = {"new_password1": "another-password-1", "new_password2": "another-password-1"}
    assert client.post(path, new).url == "/"
    assert client.get("/").status_code == 200
    assert people.viewer.__class__.objects.get(pk=people.viewer.pk).check_password("another-password-1")
    assert Client().post(path, new).status_code == 403


def test_tokens_stay_with_a_changed_password_and_one_is_told(people: People) -> None:
    here = signed_in()
    new = {"old_password": PASSWORD, "new_password1": "another-password-1", "new_password2": "another-password-1"}
    token, _ = personal_token_make(user=people.viewer, name="laptop", scope="read")
    assert "Your tokens stay" in here.post("/password", new, follow=True).content.decode()
    token.refresh_from_db()
    assert token.revoked_at is None


def test_tokens_end_with_a_password_that_was_lost_and_one_is_told(people: People) -> None:
    token, text = personal_token_make(user=people.viewer, name="laptop", scope="read")
    headers, url = {"Authorization": f"Bearer {text}"}, "/api/v1/projects/shop/uploads"
    assert Client().get(url, headers=headers).status_code == 200
    client = Client()
    client.post(sign_in_address(people.viewer).partition("8000")[2])
    new = {"new_password1": "another-password-1", "new_password2": "another-password-1"}
    assert "Your token is revoked too" in client.post("/password", new, follow=True).content.decode()
    assert Client().get(url, headers=headers).status_code == 401
    assert "token.revoked" in actions()


@pytest.fixture
def mailing(settings) -> None:  # type: ignore[no-untyped-def]
    settings.EMAIL_HOST = "mail.example"


def test_a_lost_password_is_chosen_anew_by_mail(people: People, mailing: None, settings) -> None:
    User.objects.filter(pk=people.viewer.pk).update(email="viewer@example.com")
    there = signed_in()
    token, _ = personal_token_make(user=people.viewer, name="laptop", scope="read")
    lost = Client().post("/password/lost", {"email": "viewer@example.com"}, headers={"host": "localhost"})
    unknown = Client().post("/password/lost", {"email": "nobody@example.com"})
    assert (lost.status_code, lost.url) == (unknown.status_code, unknown.url)
    [message] = mail.outbox
    link = re.search(r"http\S+", message.body).group()
    assert link.startswith(settings.PUBLIC_URL)
    client = Client()
    form = client.get(link.removeprefix(settings.PUBLIC_URL)).url
    assert (
        client.post(form, {"new_password1": "another-password-1", "new_password2": "another-password-1"}).url
        == "/sign-in"
    )
    assert there.get("/account").status_code == 302
    token.refresh_from_db()
    assert token.revoked_at is not None
    assert "Your token is revoked too" in client.get("/sign-in").content.decode()
    assert Client().post("/sign-in", {"username": "viewer", "password": "another-password-1"}).status_code == 302
    assert "Link not valid" in Client().get(link.removeprefix(settings.PUBLIC_URL), follow=True).content.decode()


def test_without_mail_nothing_is_promised(people: People, settings) -> None:
    settings.EMAIL_HOST = ""
    assert Client().get("/password/lost").status_code == 404
    assert "manage.py sign_in_link" in Client().get("/sign-in").content.decode()


def test_links_for_lost_passwords_are_throttled(people: People, mailing: None, settings) -> None:
    settings.SIGN_INS_PER_ADDRESS = 2
    asked = [Client().post("/password/lost", {"email": f"p{one}@example.com"}).status_code for one in range(3)]
    assert asked == [302, 302, 429]
