"""The documentation, as pages: docs/*.md, in the version that runs here."""

import re
from functools import lru_cache
from pathlib import Path

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt
from markdown_it.token import Token

DOCS = Path(settings.BASE_DIR) / "docs"
_ORDER = ("running", "uploading", "concepts", "accuracy", "quarantine", "api", "limits-and-errors", "developing")
"""First for whoever sets it up; a page that is not named here comes last."""


def contents(request: HttpRequest) -> HttpResponse:
    return render(request, "docs_contents.html", {"pages": [(name, _title(name)) for name in names()]})


def page(request: HttpRequest, name: str) -> HttpResponse:
    if name not in names():
        raise Http404
    context = {
        "name": name,
        "title": _title(name),
        "body": body(name),
        "pages": [(one, _title(one)) for one in names()],
    }
    return render(request, "docs.html", context)


@lru_cache(maxsize=1)
def names() -> tuple[str, ...]:
    found = {path.stem for path in DOCS.glob("*.md")}
    return (*(name for name in _ORDER if name in found), *sorted(found.difference(_ORDER)))


@lru_cache(maxsize=32)
def body(name: str) -> SafeString:
    """A page as HTML. Markdown's own HTML is off, so what is in it is text."""
    reader = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = reader.parse((DOCS / f"{name}.md").read_text())
    used: set[str] = set()
    for at, token in enumerate(tokens):
        words = _heading(tokens, at)
        if words:
            token.attrSet("id", _anchor(words, used))
        for inner in token.children or ():
            _link(inner)
        _table(token)
    made = reader.renderer.render(tokens, reader.options, {})
    return mark_safe(made.replace("<pre>", '<pre tabindex="0">'))  # noqa: S308 - made of our own files


def _heading(tokens: list[Token], at: int) -> str:
    """The words of a heading, or of a paragraph that begins with a bold word as concepts do."""
    token = tokens[at]
    if token.type == "heading_open":
        return tokens[at + 1].content
    if token.type == "paragraph_open":
        bold = re.match(r"\*\*(.+?)\*\*", tokens[at + 1].content)
        return bold.group(1) if bold else ""
    return ""


def _anchor(words: str, used: set[str]) -> str:
    """As GitHub makes them: small letters, hyphens, and a number where it is taken."""
    plain = re.sub(r"[^\w\- ]", "", words.lower()).strip().replace(" ", "-")
    anchor, count = plain, 1
    while anchor in used:
        anchor, count = f"{plain}-{count}", count + 1
    used.add(anchor)
    return anchor


def _link(token: Token) -> None:
    """Links between files become links between pages."""
    address = str(token.attrGet("href") or "")
    found = re.fullmatch(r"([\w-]+)\.md(#.*)?", address)
    if found and found.group(1) in names():
        token.attrSet("href", reverse("docs", args=(found.group(1),)) + (found.group(2) or ""))


def _table(token: Token) -> None:
    """In our looks. What scrolls sideways on a phone, a keyboard must reach."""
    if token.type == "table_open":
        token.attrSet("class", "table")
        token.attrSet("tabindex", "0")
    elif token.type == "th_open":
        token.attrSet("scope", "col")


def _title(name: str) -> str:
    """The first heading of the page."""
    return _titles()[name]


@lru_cache(maxsize=1)
def _titles() -> dict[str, str]:
    firsts = {name: (DOCS / f"{name}.md").read_text().split("\n", 1)[0] for name in names()}
    return {name: first.removeprefix("# ").replace("`", "") or name for name, first in firsts.items()}
