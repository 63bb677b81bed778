"""What a ticket says of a quarantine; and the link that opens one in any tracker, filled in."""

import re
from collections.abc import Sequence
from urllib.parse import quote, urlsplit

from django.utils.crypto import salted_hmac

from analytics.kernel.causes.remedies import remedy
from analytics.selectors import current_tests
from dashboard.notify.formats.message import ITEMS, LONG, TITLE, clean
from dashboard.notify.messages import called, quarantine_address
from dashboard.notify.tickets.tracker import Draft
from dashboard.quarantine.gate.service import rows_of
from dashboard.quarantine.models import Quarantine
from dashboard.quarantine.selectors import members_of
from dashboard.quarantine.similar_fixes import similar_fixes
from ingest.models import Test

PLACES = ("title", "body", "url", "owner")
"""What a link template may hold, in braces."""
_PLACE = re.compile(r"\{([^{}]*)\}")
_LONGEST_LINK = 6_000
_BODY_IN_LINK = 1_500


def draft_of(quarantine: Quarantine) -> Draft:
    tests = members_of([quarantine]).get(quarantine.pk, [])
    return Draft(clean(f"Flaky test: {called(quarantine, tests)}", TITLE), _body(quarantine, tests), marker(quarantine))


def marker(quarantine: Quarantine) -> str:
    """A word that nobody else can guess, so that no other ticket can pass for this quarantine's."""
    digest = salted_hmac("flakeboard ticket", f"{quarantine.project_id}:{quarantine.pk}").hexdigest()
    return f"flakeboard-{digest[:24]}"


def refutation(quarantine: Quarantine, reason: str) -> str:
    """The comment that opens a ticket again."""
    why = f"Why: {code(reason, LONG)}\n\n" if reason else ""
    where = f"What it did since: {quarantine_address(quarantine.project, quarantine)}"
    return f"Flakeboard: the fix is refuted, and the quarantine holds again.\n\n{why}{where}"


def refutation_marker(quarantine: Quarantine, version: int) -> str:
    """One for each time that a fix was refuted."""
    digest = salted_hmac("flakeboard refutation", f"{quarantine.project_id}:{quarantine.pk}:{version}").hexdigest()
    return f"flakeboard-{digest[:24]}"


def _body(quarantine: Quarantine, tests: Sequence[Test]) -> str:
    named = [f"- {code(' '.join(part for part in (test.classname, test.name) if part))}" for test in tests[:ITEMS]]
    if len(tests) > ITEMS:
        named.append(f"- and {len(tests) - ITEMS} more")
    owner = f"Owner: {code(quarantine.owner)}\n\n" if quarantine.owner else ""
    why = f"Why: {code(quarantine.reason, LONG)}\n\n" if quarantine.reason else ""
    where = f"Its history, its evidence and its quarantine: {quarantine_address(quarantine.project, quarantine)}"
    return f"Flaky, by Flakeboard:\n\n{chr(10).join(named)}\n\n{why}{_helps(quarantine, tests)}{owner}{where}"


def _helps(quarantine: Quarantine, tests: Sequence[Test]) -> str:
    """What helps against the causes of its tests, a line each."""
    _, columns = current_tests(quarantine.project_id)
    rows = rows_of(columns, [test.number for test in tests])
    causes = dict.fromkeys(cause for test in tests if test.number in rows for cause in rows[test.number].causes)
    lines = [f"- {cause}: {remedy(cause)}" for cause in causes if remedy(cause)]
    helps = f"What helps, by cause:\n\n{chr(10).join(lines)}\n\n" if lines else ""
    return helps + _fixes(quarantine, tests, list(causes))


def _fixes(quarantine: Quarantine, tests: Sequence[Test], causes: Sequence[str]) -> str:
    """Confirmed fixes of other tests like its first, as comparisons of commits."""
    if not tests:
        return ""
    found = similar_fixes(quarantine.project, tests[0].number, causes)
    lines = [f"- {code(fix.test.name)}: {fix.address}" for fix in found if fix.address]
    return f"Confirmed fixes of tests like it:\n\n{chr(10).join(lines)}\n\n" if lines else ""


def code(text: str, longest: int = 300) -> str:
    """Foreign text in Markdown: as code, so that it mentions nobody and marks nothing."""
    plain = clean(text, longest)
    runs = re.findall("`+", plain)
    fence = "`" * (max(map(len, runs), default=0) + 1)
    return f"{fence} {plain} {fence}" if runs else f"{fence}{plain}{fence}"


# -- a link for any tracker --------------------------------------------------------------------------------------


class BadTemplate(Exception):
    """A link template that cannot be: the text says why."""


def template_check(template: str) -> None:
    try:
        parts = urlsplit(template)
        fits = parts.scheme in ("http", "https") and bool(parts.hostname) and "{" not in parts.netloc
    except ValueError:
        fits = False
    if not fits or any(not 33 <= ord(letter) <= 126 for letter in template):
        raise BadTemplate("A link starts with http:// or https:// and names a host; it holds no blanks.")
    unknown = [name for name in _PLACE.findall(template) if name not in PLACES]
    if unknown:
        allowed = ", ".join(f"{{{name}}}" for name in PLACES)
        raise BadTemplate(f"There is no {{{unknown[0][:40]}}}; there are {allowed}.")


def ticket_link(template: str, quarantine: Quarantine) -> str:
    """The template filled in. Every value is quoted: none can become another part of the address."""
    draft = draft_of(quarantine)
    values = {
        "title": draft.title,
        "body": draft.body[:_BODY_IN_LINK],
        "url": quarantine_address(quarantine.project, quarantine),
        "owner": clean(quarantine.owner),
    }
    link = _PLACE.sub(lambda found: quote(values[found[1]], safe=""), template)
    return (
        link
        if len(link) <= _LONGEST_LINK
        else _PLACE.sub(lambda found: quote(values[found[1]], safe="") if found[1] != "body" else "", template)
    )
