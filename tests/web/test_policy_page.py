"""The policy: what it is, what it would do, what it would have done; and its versions."""

import re
from datetime import datetime
from types import SimpleNamespace

import pytest
from django.contrib.auth.models import User
from django.test import Client

from dashboard.people.models import Role
from dashboard.quarantine.models import Policy, Quarantine
from dashboard.quarantine.policy import rehearsal
from dashboard.quarantine.policy.settings import PolicySettings
from dashboard.quarantine.services import policy_set
from dashboard.web.quarantine.policy_form import initial_of
from ingest.models import Token
from ingest.services import token_create
from tests.api_client import Program
from tests.people.signed_in import browser_of, member
from tests.web.analysed_project import Demo
from tests.web.listing import new_project, words_of
from tests.web.quarantining import ANNA
from tests.web.reading import answer, words


def settings(**changed: object) -> dict[str, object]:
    """What the form sends; boxes that are not ticked are not sent."""
    told = {**initial_of(PolicySettings()), **changed}
    return {name: "on" if value is True else value for name, value in told.items() if value is not False}


def bot(demo: Demo) -> Program:
    """A program that may try policies."""
    text = token_create(project=demo.project, name="bot", scope=Token.Scope.QUARANTINE)[1]
    return Program(text, demo.project.slug)


def test_the_defaults_hold_until_somebody_saves(reader: Client, demo: Demo) -> None:
    assert "No policy has been set; the defaults apply." in answer(reader, demo.at("policy"))
    done = reader.post(
        demo.at("policy"), {**settings(mode="quarantine", release=False), "version": 0, "deed": "save"}, follow=True
    )
    assert "Version 1 of the policy is in force." in words(done.content.decode())
    stored = PolicySettings.from_json(Policy.objects.get().settings)
    assert (stored.mode, stored.release, stored.reopen) == ("quarantine", False, True)
    shown = words_of(reader, demo.at("policy"))
    assert "by robin" in shown and "quarantines at once" in shown
    assert "What it does: propose became quarantine." in shown and "Release: yes became no." in shown


def test_a_policy_that_was_changed_meanwhile_is_not_overwritten(reader: Client, demo: Demo) -> None:
    policy_set(project=demo.project, settings=PolicySettings(days=7), version=0, actor=ANNA)
    late = reader.post(demo.at("policy"), {**settings(days=9), "version": 0, "deed": "save"})
    assert late.status_code == 409
    shown = late.content.decode()
    assert "The policy was changed meanwhile: its version is 1 now." in words(shown)
    assert 'name="version" value="1"' in shown and 'name="days" value="9"' in shown
    assert Policy.objects.count() == 1


@pytest.mark.parametrize(
    "wrong",
    [{"days": "0"}, {"most_share": "7"}, {"mode": "odd"}, {"least_evidence": "x"}, {"exit_codes": "go=0"},
     {"exit_codes": "go"}, {"missing_share": ""}],
)  # fmt: skip
def test_what_cannot_be_is_told(reader: Client, demo: Demo, wrong: dict[str, str]) -> None:
    done = reader.post(demo.at("policy"), {**settings(**wrong), "version": 0, "deed": "save"})
    assert done.status_code == 422
    assert re.search(r"invalid-feedback|alert-danger", done.content.decode())
    assert not Policy.objects.exists()


def test_trying_changes_nothing_and_tells_what_the_api_tells(reader: Client, demo: Demo) -> None:
    tried = reader.post(demo.at("policy"), {**settings(mode="quarantine", most_share=1), "deed": "try"})
    assert tried.status_code == 302 and "csrf" not in tried["Location"]
    shown = reader.get(tried["Location"].partition("#")[0]).content.decode()
    told = bot(demo).post("policy/dry-run", settings={"mode": "quarantine", "most_share": 1}, days=0).json()["today"]
    assert "Trying these settings" in shown
    assert f"{len(told['steps'])} changes; limit {told['cap']} tests." in words(shown).replace(" ?", "")
    for step in told["steps"]:
        assert demo.at("test", step["tests"][0]) in shown
    assert not Quarantine.objects.exists() and not Policy.objects.exists()


def test_the_cap_is_shouted(reader: Client, demo: Demo) -> None:
    address = f"{demo.at('policy')}?" + "&".join(f"{name}={value}" for name, value in settings(most_tests=1).items())
    assert "The cap keeps" in words_of(reader, address)


def test_the_past_is_told_by_day(reader: Client, demo: Demo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rehearsal, "time", SimpleNamespace(monotonic=float))  # a busy machine would stop it early
    shown = words_of(reader, demo.at("policy"), past=1)
    told = bot(demo).post("policy/dry-run", days=90).json()
    meant = told["meant"]
    assert f"Of {meant['flaky']} runs that flaky tests alone made fail, {meant['flaky_passed']}" in shown
    days = {f"{datetime.fromisoformat(row['at']):%d %b %Y}".lstrip("0") for row in told["past"]}
    assert days and all(day in shown for day in days)


def test_a_project_without_results_says_so(demo: Demo) -> None:
    project = new_project()
    somebody = browser_of(member(User.objects.create_user("somebody"), project))
    shown = words_of(somebody, f"/projects/{project.slug}/policy", past=1)
    assert "Available after the first analysis." in shown and "There are no results from that time." in shown


def test_only_administrators_save(demo: Demo) -> None:
    maintainer = browser_of(member(User.objects.create_user("max"), demo.project, Role.MAINTAINER))
    assert "Save as a new version" not in words_of(maintainer, demo.at("policy"))
    assert maintainer.post(demo.at("policy"), {**settings(), "version": 0, "deed": "save"}).status_code == 403
    assert maintainer.post(demo.at("policy"), {**settings(), "deed": "try"}).status_code == 302
