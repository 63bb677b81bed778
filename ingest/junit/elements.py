"""The vocabulary of JUnit XML: known elements and outcomes. Unknown ones are reported, never taken for a pass."""

import re
from collections.abc import Mapping

from ingest.verdict import Verdict, worst

Attributes = Mapping[str, str]
ENDED = ("failure", "error")
AGAIN = ("rerunFailure", "rerunError")
BEFORE = ("flakyFailure", "flakyError")
ENDINGS = (*ENDED, *AGAIN, *BEFORE)
"""Elements that give an attempt's outcome: of the attempt itself, of later ones, and of ones before a pass."""
ERRORS = frozenset({"error", "rerunError", "flakyError"})
CONTAINERS = ("testsuites", "testsuite", "testcase")

_READ = (*CONTAINERS, *ENDINGS, "skipped", "property", "properties", "system-out", "system-err", "stackTrace")
_HARMLESS = frozenset(
    {
        *_READ,
        *("passed", "time", "duration", "timestamp", "datetime", "description", "title", "file", "line", "owner"),
        *("attachment", "attachments", "screenshot", "video", "link", "links", "url", "output", "log", "logs"),
        *("tag", "tags", "label", "labels", "category", "categories", "group", "groups", "metadata", "system.out"),
        *("parameter", "parameters", "argument", "arguments", "requirement", "requirements", "assertions"),
    }
)
"""Elements in a suite or a case that are read or irrelevant to its outcome."""
_CANONICAL = {tag.lower(): tag for tag in _READ}


def local_name(tag: str) -> str:
    """The element's name without its namespace, in the reader's own spelling whatever its case."""
    local = tag.rpartition("}")[2]
    return local if local in _HARMLESS else _CANONICAL.get(local.lower(), local)


def is_known(tag: str) -> bool:
    return tag in _HARMLESS


VERDICT_ATTRIBUTES = ("result", "status", "outcome", "state", "verdict")
_WORDS: dict[str, Verdict] = {
    **dict.fromkeys(("run", "ran", "executed", "completed", "complete", "done", "finished"), Verdict.PASS),
    **dict.fromkeys(("pass", "passed", "success", "successful", "succeeded", "ok", "fixed"), Verdict.PASS),
    # Qt Test: an expected failure, and outcomes of blacklisted tests, which do not fail the run.
    **dict.fromkeys(("xfail", "bpass", "bfail", "bxpass", "bxfail"), Verdict.PASS),
    **dict.fromkeys(("fail", "failed", "failure", "ko", "xpass", "unexpected"), Verdict.FAIL),
    **dict.fromkeys(("error", "errored", "broken", "crashed", "timeout", "timedout", "aborted"), Verdict.ERROR),
    **dict.fromkeys(("killed", "canceled", "cancelled", "interrupted"), Verdict.ERROR),
    **dict.fromkeys(("skip", "skipped", "notrun", "not run", "not_run", "notrunnable", "disabled"), Verdict.SKIP),
    **dict.fromkeys(("ignored", "suppressed", "pending", "todo", "inconclusive"), Verdict.SKIP),
}
COUNTED = frozenset({"bfail", "bxpass"})
"""Outcomes that Qt counts as failures in its header, though they are not."""


_FAILED_IF_TRUE = frozenset(
    {"failed", "failure", "failures", "error", "errors", "errored", "crashed", "broken", "aborted"}
)
_FAILED_IF_FALSE = frozenset({"success", "successful", "passed", "ok"})
_NO = frozenset({"false", "no", "n", "0"})
_SILENT = frozenset({"classname", "name", "time", "file", "line"})
"""Attributes that say nothing of an outcome; most cases have no others."""


def plain_names(attributes: Attributes) -> Attributes:
    """The attributes by lower-case name without a namespace; one without a namespace wins."""
    together = "".join(attributes)
    if "{" not in together and together.islower():
        return attributes
    return {name.rpartition("}")[2].lower(): value for name, value in attributes.items()} | dict(attributes)


def outcome_words(attributes: Attributes) -> list[str]:
    """The outcome words in the attributes of a case or a suite, in lower case."""
    if _SILENT.issuperset(attributes):
        return []
    words = [word.strip().lower() for name in VERDICT_ATTRIBUTES if (word := attributes.get(name, "")).strip()]
    return [*words, "failed"] if _is_flagged(attributes) else words


def _is_flagged(attributes: Attributes) -> bool:
    """Whether a boolean attribute says that it failed. Counts of a suite are compared elsewhere."""
    for name in _FAILED_IF_FALSE & attributes.keys():
        if attributes[name].strip().lower() in _NO:
            return True
    return any(attributes[name].strip().lower() in ("true", "yes") for name in _FAILED_IF_TRUE & attributes.keys())


def counts_failures(attributes: Attributes) -> bool:
    """Whether a case has a count of failures."""
    return not _SILENT.issuperset(attributes) and any(
        attributes[name].strip().lstrip("0").isdecimal() for name in _FAILED_IF_TRUE & attributes.keys()
    )


def property_word(name: str, value: str) -> str:
    """The word by which a property reports a failure; empty if it does not."""
    word = value.strip().lower()
    verdict = _WORDS.get(word) if name.strip().lower() in VERDICT_ATTRIBUTES else None
    return word if verdict is not None and verdict.failing else ""


FAILING_NAME = re.compile(r"fail|error|exception|crash|abort|timed?_?-?out|broken", re.IGNORECASE)
"""An element with such a name may report a failure anywhere."""


def words_verdict(words: list[str]) -> Verdict | None:
    """The worst verdict among the words; None if all are unknown."""
    known = [_WORDS[word] for word in words if word in _WORDS]
    if Verdict.SKIP in known and not any(verdict.failing for verdict in known):
        return Verdict.SKIP
    return worst(known) if known else None


def unknown_words(words: list[str]) -> list[str]:
    return [word for word in words if word not in _WORDS]
