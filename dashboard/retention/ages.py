"""How old each kind of data may become: every age that retention goes by is here. Pure."""

from dataclasses import dataclass, fields
from datetime import datetime, timedelta


@dataclass(frozen=True, slots=True)
class Ages:
    """Days; None for ever."""

    uploads: int | None = 30
    """The bytes that CI sent, after they were processed."""
    texts: int | None = 180
    """What failures say: message, text and output. Type and signature stay as long as the report."""
    reports: int | None = 400
    """Reports and runs, with everything that hangs on them."""
    traces: int | None = 30
    """What single executions of flaky tests did. Differences that were found in them stay."""
    attachments: int | None = 30
    """Screenshots, traces of browsers and logs that CI sent beside reports."""
    analyses: int | None = 90
    """Analyses before the current one, which is always kept."""
    decisions: int | None = 400
    """Answers of the gate."""
    deliveries: int | None = 90
    """Messages that were sent, or given up."""


MOST_DAYS = 36_500
"""A hundred years: whoever wants more says for ever."""
LONGEST = Ages(
    uploads=MOST_DAYS,
    texts=MOST_DAYS,
    reports=MOST_DAYS,
    traces=MOST_DAYS,
    attachments=MOST_DAYS,
    analyses=90,
    decisions=MOST_DAYS,
    deliveries=90,
)
"""The most that a project can ask for: what is for trends, or tells whether a message went out, is not for ever."""
AUDIT_DAYS = 0
"""The audit log is the instance's and not a project's: by default for ever (AUDIT_DAYS)."""
LEAST_AUDIT_DAYS = 90
DIGEST_DAYS = 30
"""Notes that a project's digest of a day was made; the last one stays, since the next digest begins where it ended."""
SKETCH_DAYS = 90
"""Sketches of tests that nobody sent again, as long as the window."""
CHANGE_DAYS = 90
"""What runs changed stays at least as long as the window, since it says what changed when a test became flaky."""
TREND_DAYS = 800
"""What trends are drawn from, so that a month can be compared with that of a year before: counts, and no texts."""
ANSWER_DAYS = 30
"""What pull requests were answered about their tests."""
ENDED_SESSION_DAYS = 1
"""A session of somebody who signed in, after its end (SESSION_SECONDS); it lets nobody in from its end on."""


@dataclass(frozen=True, slots=True)
class Cutoffs:
    """What is older than this goes; None: nothing."""

    uploads: datetime | None
    texts: datetime | None
    reports: datetime | None
    traces: datetime | None
    attachments: datetime | None
    changes: datetime | None
    analyses: datetime | None
    decisions: datetime | None
    deliveries: datetime | None
    digests: datetime | None
    sketches: datetime | None
    answers: datetime | None
    trends: datetime | None


def cutoffs(ages: Ages, now: datetime) -> Cutoffs:
    of_project = {field.name: _before(getattr(ages, field.name), now) for field in fields(Ages)}
    fixed = {"digests": DIGEST_DAYS, "sketches": SKETCH_DAYS, "answers": ANSWER_DAYS, "trends": TREND_DAYS}
    changes = None if ages.traces is None else max(ages.traces, CHANGE_DAYS)
    return Cutoffs(**of_project, **{name: _before(days, now) for name, days in {**fixed, "changes": changes}.items()})


def sessions_cutoff(now: datetime) -> datetime:
    return now - timedelta(days=ENDED_SESSION_DAYS)


def _before(days: int | None, now: datetime) -> datetime | None:
    return None if days is None else now - timedelta(days=days)
