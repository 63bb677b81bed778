"""What is said of quarantines, the policy and experiments; and the addresses of pages in messages."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.conf import settings
from django.urls import reverse

from analytics.history.names import names
from dashboard.notify.formats.message import LONG, TITLE, Item, Message, clean, item, section
from dashboard.quarantine.models import Notification, Quarantine
from dashboard.quarantine.selectors import members_of
from ingest.models import Project, Test

Kind = Notification.Kind
_TITLES = {
    Kind.PROPOSED: "{what}: quarantine proposed",
    Kind.QUARANTINED: "{what}: in quarantine, failures no longer block",
    Kind.RELEASED: "{what}: out of quarantine, failures block again",
    Kind.REOPENED: "{what}: back in quarantine",
    Kind.EXPIRES_SOON: "{what}: quarantine expires within {days}",
    Kind.EXPIRED: "{what}: quarantine expired, failures block again",
    Kind.CAP_REACHED: "{over} more flaky tests than the policy may quarantine",
    Kind.ORDER_DEPENDENT: "{what}: depends on the order of tests, shown by an experiment",
}
"""What happened, in a line."""


# -- a quarantine ------------------------------------------------------------------------------------------------


def quarantine_message(project: Project, kind: Kind, quarantine: Quarantine, payload: Mapping[str, Any]) -> Message:
    tests = members_of([quarantine]).get(quarantine.pk, [])
    what, days = called(quarantine, tests), payload.get("days", 0)
    title = _TITLES[kind].format(what=clean(what, TITLE), days="a day" if days == 1 else f"{days} days")
    return Message(
        kind=kind,
        project=clean(project.name),
        slug=project.slug,
        title=title,
        sentence=clean(payload.get("reason") or quarantine.reason, LONG),
        facts=_facts(quarantine, payload),
        sections=(section("Tests", test_items(project, tests)),),
        url=quarantine_address(project, quarantine),
        owner=clean(quarantine.owner),
        data={"quarantine": quarantine.pk, "state": quarantine.state, "tests": [test.number for test in tests]},
    )


def _facts(quarantine: Quarantine, payload: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    facts = {
        "Owner": quarantine.owner or "nobody",
        "By": payload.get("actor", ""),
        "Expires": f"{quarantine.expires_at:%Y-%m-%d}" if quarantine.is_live else "",
        "Ticket": quarantine.ticket_url,
    }
    return tuple((name, clean(value)) for name, value in facts.items() if value)


def called(quarantine: Quarantine, tests: Sequence[Test]) -> str:
    """A quarantine by its test, or by the first of its cluster."""
    if not tests:
        return f"Quarantine {quarantine.pk}"
    return tests[0].name if len(tests) == 1 else f"{tests[0].name} and {len(tests) - 1} more"


def test_items(project: Project, tests: Sequence[Test]) -> list[Item]:
    return [item(test.name, test.classname or test.suite, test_address(project, test.number)) for test in tests]


# -- the cap -----------------------------------------------------------------------------------------------------


def cap_message(project: Project, payload: Mapping[str, Any]) -> Message:
    numbers, over = payload.get("tests", []), payload.get("over", 0)
    known = names(project.pk, tests=numbers)
    items = [
        item(known.test(number).name, known.test(number).classname, test_address(project, number)) for number in numbers
    ]
    return Message(
        kind=Kind.CAP_REACHED,
        project=clean(project.name),
        slug=project.slug,
        title=_TITLES[Kind.CAP_REACHED].format(over=f"{over:,}"),
        sentence=f"The cap is {payload.get('cap', 0):,} tests. Nothing was done with the rest: they block.",
        sections=(section("Left out", items),),
        url=address("priorities", project.slug),
        data={"cap": payload.get("cap"), "over": over, "tests": numbers},
    )


# -- an experiment -----------------------------------------------------------------------------------------------


def order_message(project: Project, payload: Mapping[str, Any]) -> Message:
    """Tests that an experiment was the first to show to depend on the order."""
    numbers, key = payload.get("tests", []), payload.get("experiment", "")
    known = names(project.pk, tests=numbers)
    items = [
        item(known.test(number).name, known.test(number).classname, test_address(project, number)) for number in numbers
    ]
    first = known.test(numbers[0]).name if numbers else "A test"
    what = first if len(numbers) < 2 else f"{first} and {len(numbers) - 1} more"
    return Message(
        kind=Kind.ORDER_DEPENDENT,
        project=clean(project.name),
        slug=project.slug,
        title=_TITLES[Kind.ORDER_DEPENDENT].format(what=clean(what, TITLE)),
        sentence="The page of each test has the minimal order to run, and what it depends on.",
        sections=(section("Tests", items),),
        url=address("experiment", project.slug, key),
        data={"experiment": key, "tests": numbers},
    )


# -- addresses ---------------------------------------------------------------------------------------------------


def address(name: str, *arguments: Any) -> str:
    """A page, as it is reached from outside."""
    return settings.PUBLIC_URL + reverse(name, args=arguments)


def test_address(project: Project, number: int) -> str:
    return address("test", project.slug, number)


def quarantine_address(project: Project, quarantine: Quarantine) -> str:
    return address("quarantine", project.slug, quarantine.pk)


def trial_message(project: Project) -> Message:
    """What the button "Send a test message" sends."""
    return Message(
        kind="test",
        project=clean(project.name),
        slug=project.slug,
        title="A test message from Flakeboard",
        sentence="This channel works: alerts and news of this project will arrive here.",
        url=address("notifications", project.slug),
    )
