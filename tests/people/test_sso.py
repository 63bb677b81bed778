"""Single sign-on against a provider on the loopback: what is right signs in, every lie is refused."""

import time
from collections.abc import Iterator

import pytest
from django.contrib.auth.models import User
from django.test import Client
from joserfc.jwk import RSAKey

from dashboard.ops.environment import BadSetting
from dashboard.people import sso
from dashboard.people.groups import rules
from dashboard.people.models import AuditEntry, Identity, Membership
from ingest.models import Project
from tests.people.conftest import People
from tests.people.provider import CLIENT_ID, CLIENT_SECRET, Provider, running
from tests.people.signed_in import browser_of


@pytest.fixture(scope="module")
def server() -> Iterator[Provider]:
    with running() as provider:
        yield provider


@pytest.fixture
def provider(server: Provider, settings, db: None) -> Provider:  # type: ignore[no-untyped-def]
    sso._client.cache_clear()
    fresh = Provider(issuer=server.issuer, key=server.key)
    server.__dict__.update(fresh.__dict__)
    settings.OIDC_ISSUER, settings.OIDC_CLIENT_ID, settings.OIDC_CLIENT_SECRET = server.issuer, CLIENT_ID, CLIENT_SECRET
    return server


def sign_on(provider: Provider, client: Client | None = None, **query: str):
    client = client or Client()
    begun = client.get("/sso", query)
    assert begun.status_code == 302, begun.content
    return client, client.get(provider.authorize(begun.url))


def test_a_person_of_the_provider_gets_an_account_and_comes_back_to_it(provider: Provider) -> None:
    provider.claims = {"preferred_username": "anna", "email": "anna@example.com", "email_verified": True}
    client, response = sign_on(provider)
    assert response.url == "/"
    assert client.get("/account").status_code == 200
    sign_on(provider)
    anna = User.objects.get()
    assert (anna.username, anna.email, anna.has_usable_password()) == ("anna", "anna@example.com", False)
    assert list(Identity.objects.values_list("issuer", "subject")) == [(provider.issuer, "subject-1")]


def test_the_request_carries_state_nonce_and_a_pkce_challenge(provider: Provider) -> None:
    address = Client().get("/sso").url
    assert address.startswith(f"{provider.issuer}/authorize?")
    assert "code_challenge_method=S256" in address
    assert all(f"{name}=" in address for name in ("state", "nonce", "code_challenge"))


LIES = {
    "another audience": {"aud": "somebody-else"},
    "another issuer": {"iss": "https://evil.example"},
    "another nonce": {"nonce": "replayed"},
    "expired": {"exp": int(time.time()) - 3_600},
    "from the future": {"iat": int(time.time()) + 86_400},
    "nobody": {"sub": ""},
    "several audiences, another party": {"aud": [CLIENT_ID, "other"], "azp": "other"},
}


@pytest.mark.parametrize("lie", LIES)
def test_a_token_that_is_not_for_us_now_is_refused(provider: Provider, lie: str) -> None:
    provider.claims = LIES[lie]
    client, response = sign_on(provider)
    assert response.status_code == 403
    assert "Not signed in" in response.content.decode()
    assert client.get("/account").status_code == 302
    assert not User.objects.exists()
    assert AuditEntry.objects.get().action == "sign_in.failed"


@pytest.mark.parametrize("algorithm", ["none", "HS256"])
def test_a_token_that_is_not_signed_by_rs256_is_refused(provider: Provider, algorithm: str) -> None:
    provider.algorithm = algorithm
    if algorithm == "HS256":
        from joserfc.jwk import OctKey

        provider.signing_key = OctKey.import_key(CLIENT_SECRET)  # type: ignore[assignment]
    assert sign_on(provider)[1].status_code == 403
    assert not User.objects.exists()


def test_a_token_of_an_unknown_key_is_refused(provider: Provider) -> None:
    provider.signing_key = RSAKey.generate_key(2048, {"kid": "one"})
    assert sign_on(provider)[1].status_code == 403


def test_a_new_key_of_the_provider_is_fetched(provider: Provider) -> None:
    sign_on(provider)
    provider.key = RSAKey.generate_key(2048, {"kid": "two"})
    assert sign_on(provider)[1].status_code == 302


def test_coming_back_without_having_left_is_refused(provider: Provider) -> None:
    begun = Client().get("/sso").url
    assert Client().get(provider.authorize(begun)).status_code == 403


def test_a_code_is_of_use_once(provider: Provider) -> None:
    client = Client()
    back = provider.authorize(client.get("/sso").url)
    assert client.get(back).status_code == 302
    assert client.get(back).status_code == 403


def test_neither_a_mail_address_nor_a_name_opens_an_account_that_exists(provider: Provider, people: People) -> None:
    User.objects.filter(pk=people.root.pk).update(email="root@example.com")
    provider.claims = {"preferred_username": "root", "email": "root@example.com", "email_verified": True}
    sign_on(provider)
    made = Identity.objects.get().user
    assert (made.username, made.is_superuser) == ("root2", False)


def test_an_unverified_mail_address_is_not_kept(provider: Provider) -> None:
    provider.claims = {"email": "boss@example.com"}
    sign_on(provider)
    assert User.objects.get().email == ""


def test_an_account_is_bound_only_when_its_owner_asks(provider: Provider, people: People) -> None:
    browser = browser_of(people.viewer)
    assert browser.post("/account/sso").status_code == 200
    assert sign_on(provider, browser)[1].url == "/account"
    assert Identity.objects.get().user == people.viewer
    assert sign_on(provider)[0].get("/account").context["user"] == people.viewer
    provider.subject = "subject-2"
    sign_on(provider, browser_of(people.maintainer))
    assert not people.maintainer.identities.exists()


def test_a_deactivated_person_is_refused(provider: Provider) -> None:
    sign_on(provider)
    User.objects.update(is_active=False)
    assert sign_on(provider)[1].status_code == 403


def test_one_comes_back_to_where_one_wanted_to_go_and_to_no_other_site(provider: Provider) -> None:
    assert sign_on(provider, next="/search")[1].url == "/search"
    assert sign_on(provider, next="https://evil.example/")[1].url == "/"


def test_groups_give_roles_and_take_back_what_they_gave(provider: Provider, project: Project, settings) -> None:
    settings.OIDC_GROUP_ROLES = ["devs=shop:maintainer", "leads=shop:administrator", "ops=*"]
    provider.claims = {"groups": ["devs", "leads"]}
    sign_on(provider)
    assert Membership.objects.get().role == "administrator"
    provider.claims = {"groups": ["ops"]}
    sign_on(provider)
    assert not Membership.objects.exists()
    assert User.objects.get().is_superuser


def test_a_rule_that_cannot_be_read_stops_the_start(settings) -> None:
    settings.OIDC_GROUP_ROLES = ["devs=shop:king"]
    with pytest.raises(BadSetting, match="devs=shop:king"):
        rules()


def test_a_provider_that_calls_itself_otherwise_is_refused(provider: Provider, settings) -> None:
    settings.OIDC_ISSUER = provider.issuer + "/tenant"
    assert Client().get("/sso").status_code == 403


def test_the_sign_in_page_offers_it_where_it_is_set(provider: Provider, settings) -> None:
    settings.OIDC_NAME = "Example ID"
    assert "Sign in with" in Client().get("/sign-in").content.decode()
    settings.OIDC_ISSUER = ""
    assert "Sign in with" not in Client().get("/sign-in").content.decode()
    assert Client().get("/sso").status_code == 404
