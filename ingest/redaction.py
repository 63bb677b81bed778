"""Removes secrets from failure text before it is stored: tests print their environment, requests and settings.

`redaction_rules` has a table of what secrets look like. A rule is tried only if the text has one of its hints, so that
text without secrets costs only a few searches."""

from dataclasses import replace

from ingest.junit.report import Attempt, Failure, ParsedReport, RunError
from ingest.redaction_rules import RULES


def redact(text: str) -> str:
    """The text with every recognised secret replaced by a word for its kind."""
    if not text:
        return text
    lowered = text.lower()
    for rule in RULES:
        if any(hint in lowered for hint in rule.hints):
            text = rule.pattern.sub(rule.replacement, text)
    return text


def redact_report(parsed: ParsedReport) -> ParsedReport:
    """A report without secrets in its failures, output and run errors. Signatures are made from the redacted text."""
    attempts = {row: tuple(map(_attempt, several)) for row, several in parsed.attempts.items()}
    errors = [RunError(error.where, _failure(error.failure)) for error in parsed.run_errors]
    return replace(parsed, attempts=attempts, run_errors=errors)


def _attempt(attempt: Attempt) -> Attempt:
    return replace(
        attempt,
        failures=tuple(map(_failure, attempt.failures)),
        system_out=redact(attempt.system_out),
        system_err=redact(attempt.system_err),
    )


def _failure(failure: Failure) -> Failure:
    return replace(failure, type=redact(failure.type), message=redact(failure.message), text=redact(failure.text))
