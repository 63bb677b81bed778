"""How a run ended, and what a test did in another run."""

from collections.abc import Mapping

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from dashboard.builds.addresses import build_path
from dashboard.templatetags.flakeboard import mark
from ingest.models import Run
from ingest.verdict import Verdict

register = template.Library()

_ENDS = {
    "passed": ("pass", "passed"),
    "flaky": ("wait", "flaky only"),
    "regression": ("fail", "regression"),
    "broken": ("fail", "broken before"),
    "incident": ("error", "incident"),
    "failed": ("fail", "failed"),
    "red": ("fail", "failed in any way"),
}
"""End -> its shape, and what it is called."""


@register.simple_tag
def run_end(end: str) -> SafeString:
    shape, label = _ENDS[end]
    return format_html('<span class="verdict verdict-{}">{} {}</span>', shape, mark(shape), label)


@register.simple_tag
def environment(of_run: Mapping[str, object]) -> SafeString:
    """What a run ran on, a label each."""
    return format_html_join(" ", '<span class="fb-label"><bdi>{}={}</bdi></span>', of_run.items())


@register.filter
def end_label(end: str) -> str:
    return _ENDS[end][1]


_PROVENANCES = {
    "explicit": "The producer says that this was an attempt of its own",
    "duplicate": "The same test again, from a producer that writes its retries that way",
}
_AMBIGUOUS = "The same test again, and it is not known why: a retry, or two tests of one name"


@register.filter
def provenance_meaning(provenance: str) -> str:
    """How it is known that an attempt was one."""
    return _PROVENANCES.get(provenance, _AMBIGUOUS)


@register.simple_tag
def then(verdicts: Mapping[int, Verdict], number: int) -> str:
    """What a test did in the run that is compared with; empty where that did not have it."""
    verdict = verdicts.get(number)
    return "" if verdict is None else verdict.name.lower()


@register.simple_tag
def build_address(slug: str, run: Run) -> str:
    """The page of the build that a run belongs to; empty where nothing tells what else does."""
    return build_path(slug, run)


_JOB_ENDS = {
    "held": ("fail", "held back"),
    "failed": ("fail", "failed"),
    "incomplete": ("wait", "incomplete"),
    "gone": ("skip", "no longer kept"),
    "excused": ("pass", "let pass"),
    "passed": ("pass", "passed"),
}


@register.simple_tag
def job_end(end: str) -> SafeString:
    """How the newest attempt of a job ended: `dashboard.builds.verdict.End`."""
    shape, label = _JOB_ENDS[end]
    return format_html('<span class="verdict verdict-{}">{} {}</span>', shape, mark(shape), label)
