"""Failure signatures: a failure's text without volatile parts, so that one problem has one signature.

A signature is made from the type, the message and the innermost frames, not from the whole text: that names the test,
and the same problem in two tests must have one signature. Time is linear: the text is bounded first, and every
pattern has only possessive or bounded repetitions."""

import re
from dataclasses import dataclass

from ingest.identity import digest_of

_BOUND = 8_192
"""Characters examined at each end of a text; messages are cut to the same length."""
_FRAMES = 3
_LINES = 12

_VOLATILE = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r"\x1b\[[0-9;]{0,20}[A-Za-z]", ""),
        (r"\b[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}\b", "<uuid>"),
        (
            r"\b[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:[.,][0-9]{1,9})?)?"
            r"(?:Z|[+-][0-9]{2}:?[0-9]{2})?",
            "<time>",
        ),
        (r"\b[0-9]{4}[-/][0-9]{2}[-/][0-9]{2}\b", "<date>"),
        (r"\b[0-9]{2}:[0-9]{2}:[0-9]{2}(?:[.,][0-9]{1,9})?\b", "<time>"),
        (r"(?:/private)?(?:/var)?/(?:tmp|folders)/[^\s:'\"),;]{1,400}+", "<tmp>"),
        (r"\b[A-Za-z]:\\[^\s:'\"),;]{1,400}+", "<path>"),
        (r"(?<![\w<.])/(?:[\w.@+-]{1,120}+/){1,40}+(?=[\w.@+-])", ""),
        (r"\b0x[0-9a-fA-F]{1,16}\b", "<hex>"),
        (r"\b[0-9]{1,3}(?:\.[0-9]{1,3}){3}(?::[0-9]{1,5})?\b", "<address>"),
        (r"@[0-9a-f]{5,16}\b", "@<hex>"),
        (r"\b(?=[a-f]{0,39}[0-9])(?=[0-9]{0,39}[a-f])[0-9a-f]{7,40}\b", "<hex>"),
        (
            r"\b[0-9]{1,30}(?:[.,][0-9]{1,30})?(?:[eE][+-]?[0-9]{1,4})?(?:ns|us|µs|ms|s|secs?|seconds|min|m)\b",
            "<duration>",
        ),
        (r"[0-9]++(?:[.,][0-9]++)*+", "<n>"),
        (r"\s++", " "),
    )
)

_FRAME = re.compile(
    r"^\s{0,20}+at (?P<jvm>[\w.$<>/@~ -]{1,300}+)\((?P<file>[^()\n]{0,200})\)"
    r"|^\s{0,20}+at (?P<js>[^\n(]{0,200}+)?\(?(?P<jsfile>[^\s()]{1,300}):[0-9]{1,7}:[0-9]{1,7}\)?"
    r"|^\s{0,20}+File \"(?P<py>[^\"\n]{1,300}+)\", line [0-9]{1,7}(?:, in (?P<pyname>[^\n]{1,200}))?"
    r"|^(?P<pytest>[\w./\\-]{1,300}\.py):[0-9]{1,7}: (?P<pytype>[\w.]{0,100})"
    r"|^\s{0,20}+(?P<go>[\w./\\-]{1,300}\.(?:go|rs|c|cc|cpp|cxx|h|hpp|rb|php|cs|kt|swift)):[0-9]{1,7}",
    re.MULTILINE,
)
_FRAMEWORK = re.compile(
    r"\b(?:org\.junit|junit\.framework|java\.lang\.reflect|sun\.reflect|jdk\.internal|org\.testng|org\.apache\.maven"
    r"|org\.gradle|node:internal|node_modules|internal/process|site-packages/_?pytest|unittest/)"
)


@dataclass(frozen=True, slots=True)
class FailureSignature:
    """A failure's signature: its digest and text."""

    digest: bytes
    text: str


def signature_of(type_: str, message: str, text: str) -> FailureSignature:
    """The signature of a failure: the same for the same problem on another day, host or line."""
    text = text if len(text) <= 2 * _BOUND else f"{text[:_BOUND]}\n{text[-_BOUND:]}"
    head = _stripped(message[:_BOUND])
    frames = _innermost_frames(text)
    if not frames:
        frames = [_stripped(line) for line in _telling_lines(text, head)]
    parts = [type_[:500].strip(), head, *frames]
    words = "\n".join(part for part in parts if part)
    return FailureSignature(digest_of("signature", words), words[:4_000])


def _stripped(text: str) -> str:
    for pattern, replacement in _VOLATILE:
        text = pattern.sub(replacement, text)
    return text.strip()


def _innermost_frames(text: str) -> list[str]:
    """The frames nearest to the failure: first in JVM and JavaScript traces, last in Python's."""
    found = [match for match in _FRAME.finditer(text) if not _FRAMEWORK.search(match[0])]
    if not found:
        return []
    python = [match for match in found if match["py"] or match["pytest"]]
    chosen = python[-_FRAMES:][::-1] if python else found[:_FRAMES]
    return [_stripped(_frame_words(match)) for match in chosen]


def _frame_words(match: "re.Match[str]") -> str:
    kind = match.lastgroup
    if kind in ("file", "jvm"):
        return match["jvm"]
    if match["jsfile"]:
        return f"{(match['js'] or '').strip()} {match['jsfile']}"
    if match["py"]:
        return f"{match['py']} {match['pyname'] or ''}"
    return f"{match['pytest']} {match['pytype']}" if match["pytest"] else match["go"]


def _telling_lines(text: str, head: str) -> list[str]:
    """For a text without frames: its first lines that add something to the message."""
    lines = (line.strip() for line in text.splitlines())
    return [line for line in lines if line and line not in head][:_LINES]
