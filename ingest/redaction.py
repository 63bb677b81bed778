"""Secrets out of failure text, before it is stored: tests print the environment, requests and settings they ran with.

A rule is asked only where one of its hints is in the text, so that text without secrets costs a few searches. Time is
linear: every repetition is bounded, or possessive and begun only where the run of characters begins."""

import re
from dataclasses import dataclass, replace

from ingest.junit.report import Attempt, Failure, ParsedReport, RunError


@dataclass(frozen=True, slots=True)
class Rule:
    """What a secret looks like, and what takes its place."""

    name: str
    hints: tuple[str, ...]
    """In lower case: without one of these in the text there is no such secret in it."""
    pattern: "re.Pattern[str]"
    replacement: str


def _rule(name: str, hints: str, pattern: str, *, keep: str = "", flags: int = 0) -> Rule:
    """`hints` with bars between them; `keep` names the groups that stay before the word in the secret's place."""
    return Rule(name, tuple(hints.split("|")), re.compile(pattern, flags), f"{keep}[redacted {name}]")


_KEY_LINES = r"(?:[A-Za-z0-9+/=\s\\:,]|-(?!----)|\[… cut …\]){0,20000}+"
_NAME = (
    r"(?:pass(?:word|wd|phrase)|pwd|secret|api[_-]?key|(?:access|account|private|shared)[_-]?key"
    r"|(?:auth|access|refresh|session|id|bot|deploy)[_-]token)(?:[_-][A-Za-z0-9_-]{0,40}+)?"
)
_IS = r"[\"'\\\]]{0,3}[ \t]{0,3}(?:=>|:=|=(?!=)|:(?!:))"
_PASSED_ON = (
    r"(?:[A-Za-z]{0,40}+[_.(][A-Za-z_.]{0,60}+[(),\[\]]"
    r"|(?:password|passwd|pwd|secret|token|key|value|str|string|none|null|nil|true|false|undefined)\b)"
)
"""A name, a call or a constant: the source text in a trace, and no secret."""
_FIRST = r"[^\s\"'\\\[\]{}<>(),;&|*=:]"
_REST = r"[^\s\"'\\\[\]{}<>(),;&|]"
_NO_WORD = r"(?=[^\s\"',;]{0,100}[0-9!#$%^+/~])"
"""After a blank comes prose as often as a secret: only what no word looks like is taken."""
_ASKED_BY = (
    "passw|passphrase|pwd|secret|api_key|api-key|apikey|access_key|access-key|accesskey|account_key|accountkey|"
    "private_key|shared_key|_token|-token"
)

RULES = (
    _rule(
        "private key",
        "private key",
        r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----" + _KEY_LINES + r"(?:-----END [A-Z0-9 ]{0,60}-----)?",
    ),
    _rule("AWS key", "akia|asia", r"(?<![A-Za-z0-9])A[KS]IA[A-Z2-7]{16}(?![A-Za-z0-9])"),
    _rule("Google key", "aiza", r"(?<![A-Za-z0-9_-])AIza[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])"),
    _rule("Google token", "ya29.|gocspx-", r"\bya29\.[A-Za-z0-9_-]{20,2000}+|\bGOCSPX-[A-Za-z0-9_-]{20,40}+"),
    _rule("Azure key", "q~", r"(?<![A-Za-z0-9_~.-])[A-Za-z0-9_~.-]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34}(?![A-Za-z0-9_~.-])"),
    _rule("Azure signature", "sig=", r"([?&;]sig=)[A-Za-z0-9%+/=_-]{20,200}+", keep=r"\1"),
    _rule("GitHub token", "ghp_|gho_|ghu_|ghs_|ghr_", r"\bgh[pousr]_[A-Za-z0-9]{30,255}+"),
    _rule("GitHub token", "github_pat_", r"\bgithub_pat_[A-Za-z0-9_]{40,255}+"),
    _rule(
        "GitLab token",
        "glpat-|glptt-|gldt-|glrt-|glcbt-",
        r"\bgl(?:pat|ptt|dt|rt|cbt)-[A-Za-z0-9_.-]{20,300}+",
    ),
    _rule("Slack token", "xox|xapp-", r"\b(?:xox[abcdeoprs]|xapp)-[A-Za-z0-9-]{10,250}+"),
    _rule("Slack address", "hooks.slack.com", r"(hooks\.slack\.com/[a-z]{1,20}/)[A-Za-z0-9/_-]{16,200}+", keep=r"\1"),
    _rule("npm token", "npm_", r"\bnpm_[A-Za-z0-9]{36}(?![A-Za-z0-9])"),
    _rule("PyPI token", "pypi-", r"\bpypi-[A-Za-z0-9_-]{50,500}+"),
    _rule("Stripe key", "k_live_", r"\b[sr]k_live_[A-Za-z0-9]{16,250}+"),
    _rule("Flakeboard token", "flk_", r"flk_[a-z]{2,12}_[A-Za-z0-9]{8,200}+"),
    _rule(
        "JSON web token",
        "eyj",
        r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,}+\.eyJ[A-Za-z0-9_-]{8,}+(?:\.[A-Za-z0-9_-]*+)?",
    ),
    _rule("password", "://", r"(://[^\s/:@'\"<>]{0,256}+:)[^\s/@'\"<>]{1,256}+(?=@)", keep=r"\1"),
    _rule(
        "authorization",
        "authorization",
        r"(authorization[\"'\\]{0,3}[ \t]{0,3}[:=][ \t]{0,3}[\"'\\]{0,3}(?:bearer|basic|token|apikey|digest)[ \t]{1,3})"
        r"[^\s\"'\\,;\[][^\s\"'\\,;]{2,4000}+",
        keep=r"\1",
        flags=re.IGNORECASE,
    ),
    _rule(
        "authorization",
        "bearer",
        r"(\bbearer[ \t]{1,3})(?=[A-Za-z._~+/=-]{0,100}[0-9])[A-Za-z0-9._~+/=-]{16,4000}+",
        keep=r"\1",
        flags=re.IGNORECASE,
    ),
    _rule(
        "secret",
        _ASKED_BY,
        rf"(?=[pasridb])({_NAME}{_IS})(?:([ \t]{{0,3}}\\?[\"'])[^\s\"'\\\[][^\s\"'\\]{{2,1000}}+(?=[\"'\\]|$)"
        rf"|(?!{_PASSED_ON}){_FIRST}{_REST}{{2,500}}+"
        rf"|([ \t]{{1,3}})(?!{_PASSED_ON}){_NO_WORD}{_FIRST}{_REST}{{5,500}}+)",
        keep=r"\1\2\3",
        flags=re.IGNORECASE,
    ),
)


def redact(text: str) -> str:
    """The text with every secret that we know the look of replaced by a word that says what it was."""
    lowered = text.lower()
    for rule in RULES:
        if any(hint in lowered for hint in rule.hints):
            text = rule.pattern.sub(rule.replacement, text)
    return text


def redact_report(parsed: ParsedReport) -> ParsedReport:
    """A report whose failures, output and run errors tell no secrets. Signatures are made of what is left."""
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
