"""What is said, and in which format: names are hostile, and none may become markup, a mention or a header."""

import hashlib
import hmac
import json
import re
import time
from datetime import UTC, datetime, timedelta

import pytest

from dashboard.notify.backoff import GIVE_UP, may_help, next_try, retry_after
from dashboard.notify.formats import slack, teams, webhook
from dashboard.notify.formats.digest import Digest, DigestProject, Entry, digest_message
from dashboard.notify.formats.message import TEXT, Message, clean, item, section
from tests.conftest import ROOT

HOSTILE = "<!channel> <script>alert(1)</script> [x](http://evil) *b* `c` @everyone\r\nBcc: evil@corp \u202egnp.exe\x00"
NOW = datetime(2026, 3, 2, 12, tzinfo=UTC)


def message(name: str = HOSTILE) -> Message:
    tests = [item(f"{name} {number}", name, "https://flakeboard.example/t/1") for number in range(12)]
    return Message(
        kind="proposed",
        project=clean(name),
        slug="shop",
        title=clean(name),
        sentence=clean(name),
        facts=(("Owner", clean(name)),),
        sections=(section("Tests", tests),),
        url="https://flakeboard.example/q/1",
    )


def test_names_are_one_bounded_line_without_what_turns_or_hides_text() -> None:
    told = clean(HOSTILE)
    assert not set("\r\n\0\u202e") & set(told)
    assert len(clean("x" * 10_000)) == TEXT and clean("x" * 10_000).endswith("…")


def test_a_message_is_the_same_after_the_queue() -> None:
    assert Message.from_json(json.loads(json.dumps(message().as_json()))) == message()


def test_slack_shows_names_as_text_and_escapes_the_fallback() -> None:
    answer = json.loads(slack.body(message()))
    assert "<" not in answer["text"] and "&lt;!channel&gt;" in answer["text"]
    kinds = {block["type"] for block in answer["blocks"]}
    assert kinds == {"rich_text", "context"}, "mrkdwn would read marks and mentions"
    listed = answer["blocks"][1]["elements"][1]["elements"]
    assert len(listed) == 11 and listed[-1]["elements"][0]["text"] == "and 2 more"
    assert {one["type"] for line in listed for one in line["elements"]} <= {"text", "link"}


def test_teams_shows_names_as_text_in_the_workflow_envelope() -> None:
    answer = json.loads(teams.body(message()))
    assert answer["type"] == "message"
    (attachment,) = answer["attachments"]
    assert attachment["contentType"] == "application/vnd.microsoft.card.adaptive"
    card = attachment["content"]
    assert card["type"] == "AdaptiveCard" and card["actions"][0]["url"] == "https://flakeboard.example/q/1"
    assert {one["type"] for one in card["body"]} == {"RichTextBlock"}, "a text block would read Markdown"
    assert len(json.dumps(answer)) < 28_000


def test_the_longest_names_stay_below_what_slack_and_teams_take() -> None:
    assert len(slack.body(message("é" * 4_000))) < 40_000 and len(teams.body(message("x" * 4_000))) < 28_000


def test_the_signature_is_what_the_documentation_says() -> None:
    content = webhook.body(message(), "7")
    told = webhook.headers(message(), "7", "a-secret", "1700000000", content)
    expected = hmac.new(b"a-secret", b"1700000000." + content, hashlib.sha256).hexdigest()
    assert told["X-Flakeboard-Signature"] == f"sha256={expected}"
    assert (told["X-Flakeboard-Timestamp"], told["X-Flakeboard-Delivery"]) == ("1700000000", "7")
    assert "X-Flakeboard-Signature" not in webhook.headers(message(), "7", "", "1", content)


def test_the_documented_check_takes_our_messages_and_no_others() -> None:
    text = (ROOT / "docs" / "notifications.md").read_text()
    (snippet,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    known: dict = {}
    exec(snippet, known)
    content, now = webhook.body(message(), "7"), str(int(time.time()))
    told = webhook.headers(message(), "7", "a-secret", now, content)
    check = known["is_from_flakeboard"]
    assert check("a-secret", told, content)
    assert not check("another", told, content) and not check("a-secret", told, content + b" ")
    old = webhook.headers(message(), "7", "a-secret", str(int(now) - 1_000), content)
    assert not check("a-secret", old, content), "a message that was kept and sent again"


# -- when to try again -------------------------------------------------------------------------------------------


def test_waits_double_with_jitter_up_to_three_hours() -> None:
    def wait(tries: int, chance: float) -> float:
        moment = next_try(tries=tries, made_at=NOW, now=NOW, chance=lambda: chance)
        assert moment is not None
        return (moment - NOW).total_seconds()

    assert [wait(tries, 1) for tries in (1, 2, 3, 4)] == [30, 60, 120, 240]
    assert wait(1, 0) == 15 and wait(50, 1) == 3 * 3600


def test_it_ends_within_a_day() -> None:
    now, tries = NOW, 0
    while (again := next_try(tries=tries + 1, made_at=NOW, now=now, chance=lambda: 0.5)) is not None:
        now, tries = again, tries + 1
    assert 8 < tries < 30 and timedelta(hours=20) < now - NOW <= GIVE_UP


def test_retry_after_is_heard_and_bounded() -> None:
    assert retry_after("120", NOW) == timedelta(seconds=120)
    assert retry_after("Mon, 02 Mar 2026 12:05:00 GMT", NOW) == timedelta(minutes=5)
    assert retry_after("Mon, 02 Mar 2020 12:05:00 GMT", NOW) == timedelta()
    for nothing in ("", "soon", "-5", "１２"):
        assert retry_after(nothing, NOW) is None
    told = retry_after("999999999999", NOW)
    assert told is not None and next_try(tries=1, made_at=NOW, now=NOW, server_delay=told) is None


@pytest.mark.parametrize(
    ("status", "helps"), [(500, True), (503, True), (429, True), (408, True), (400, False), (404, False), (410, False)]
)
def test_which_answers_may_be_better_later(status: int, helps: bool) -> None:
    assert may_help(status) is helps


# -- the digest --------------------------------------------------------------------------------------------------

DIGEST = Digest(
    proposed=(Entry("test_a", "@cart", "contradictions"),),
    expiring=(Entry("test_b", "anna@corp.example", "expires 2026-03-05"),),
    fix_first=(Entry("test_c", "@cart"), Entry("test_d")),
)


def test_an_owner_gets_their_part() -> None:
    assert DIGEST.of("@CART") == Digest(proposed=DIGEST.proposed, fix_first=DIGEST.fix_first[:1])
    assert DIGEST.owners == ["@cart", "anna@corp.example"]


def test_what_to_fix_first_alone_is_no_news() -> None:
    assert Digest(fix_first=DIGEST.fix_first).is_empty and Digest().is_empty and not DIGEST.is_empty


def test_a_digest_says_how_many_and_names_them() -> None:
    told = digest_message(DIGEST, DigestProject("Shop", "shop", "https://x/"), day="2026-03-02", owner="@cart")
    assert told.sentence == "1 waiting for a decision, 1 expiring soon."
    assert [one.title for one in told.sections] == [
        "Proposals that wait for a decision", "Expiring within 7 days", "Fix first",
    ]  # fmt: skip
    assert told.sections[0].items[0].note == "contradictions; owner @cart"
    assert told.title == "Digest of 2026-03-02 for @cart"
