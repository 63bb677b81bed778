"""Which channels hear of something, and of which tests: by kind, severity, owner and query."""

from collections.abc import Collection
from functools import cached_property

from dashboard.notify.models import Channel, Delivery
from dashboard.notify.news import News
from dashboard.notify.severity import ASKED_BY_CHANNEL, is_at_least, severity_of
from dashboard.quarantine.labels.selectors import fitting_numbers
from dashboard.quarantine.models import Member, Notification
from dashboard.quarantine.owners.index import owned
from dashboard.quarantine.selectors import CALLED_NOW

Kind = Notification.Kind
_BY_TEST = (Kind.NEW_FLAKY, Kind.ORDER_DEPENDENT)
"""Of these a channel hears only of its own tests; others are told whole where one test is theirs."""
_BY_OWNER = (*_BY_TEST, Kind.MAIN_BROKEN)
"""Of these the owners are those of the tests; quarantines have an owner of their own."""


class Audience:
    def __init__(self, news: News) -> None:
        self._news = news

    def news_for(self, channel: Channel) -> News | None:
        """What a channel is to hear of it; None for nothing. What names no test and no owner is for everybody."""
        news = self._news
        if news.kind in ASKED_BY_CHANNEL:
            return news if news.payload["channel"] == channel.pk else None
        if channel.wants and news.kind not in channel.wants:
            return None
        if not is_at_least(severity_of(news.kind), channel.severity):
            return None
        if news.kind == Kind.MAIN_MENDED:
            return news if self._heard(channel) else None
        if news.target and channel.owner and channel.owner.casefold() != news.target.casefold():
            return None
        return self._narrowed(channel)

    def _narrowed(self, channel: Channel) -> News | None:
        """The news as far as it concerns the channel's tests."""
        tests = self._tests
        theirs = set(tests)
        if channel.owner and self._news.kind in _BY_OWNER:
            theirs &= set(owned(self._news.project).numbers(channel.owner).tolist())
        fitting = fitting_numbers(self._news.project, channel.only) if theirs else None
        if fitting is not None:
            theirs &= fitting
        if tests and not theirs:
            return None
        if self._news.kind not in _BY_TEST:
            return self._news
        return self._news.among([number for number in tests if number in theirs])

    @cached_property
    def _tests(self) -> Collection[int]:
        """Numbers of the tests that it is about; none where it is about the project."""
        quarantine = self._news.payload.get("quarantine")
        if quarantine is None:
            return [] if self._news.payload.get("errors") else list(self._news.payload.get("tests", []))
        members = Member.objects.filter(quarantine=quarantine, quarantine__project=self._news.project)
        return list(members.annotate(now=CALLED_NOW).values_list("now", flat=True))

    def _heard(self, channel: Channel) -> bool:
        """Whether a channel was told that the default branch is broken; a digest has both."""
        if channel.pace == Channel.Pace.DAILY:
            return True
        return Delivery.objects.filter(channel=channel, notification=self._news.payload.get("broken")).exists()
