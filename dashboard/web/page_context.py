"""What the sentence above a page needs of its request: addresses for its links, and the "?" behind a word."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from django.http import HttpRequest, QueryDict
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from dashboard.templatetags.flakeboard import help_button
from ingest.models import Project

NOTHING = SafeString("")


@dataclass(frozen=True, slots=True)
class PageContext:
    slug: str
    """The project's."""
    query: QueryDict
    help: Callable[[str], SafeString]
    """Word of the glossary -> its "?"."""

    @classmethod
    def read(cls, request: HttpRequest, project: Project) -> "PageContext":
        return cls(project.slug, request.GET, lambda word: help_button(request, word))

    def url(self, name: str, *rest: object) -> str:
        """The address of one of the project's pages."""
        return reverse(name, args=(self.slug, *rest))

    def here(self, **changes: str | None) -> str:
        """This page with some parameters changed; None takes one away."""
        return changed_query(self.query, **changes)


def changed_query(query: QueryDict, **changes: str | None) -> str:
    """A relative address that keeps the other parameters."""
    changed = query.copy()
    for name, value in changes.items():
        if value is None:
            changed.pop(name, None)
        else:
            changed[name] = value
    return f"?{changed.urlencode()}"


def link(address: str, text: object) -> SafeString:
    return format_html('<a href="{}">{}</a>', address, text)


def strong(text: object) -> SafeString:
    return format_html("<strong>{}</strong>", text)


def isolated(text: object) -> SafeString:
    """A name that others chose: its writing direction must not turn the sentence around."""
    return format_html("<bdi>{}</bdi>", text)


def joined(parts: Iterable[SafeString | str], between: str = " ") -> SafeString:
    """The parts that say something."""
    return format_html_join(between, "{}", ((part,) for part in parts if part))
