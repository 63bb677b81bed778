"""The documentation, as pages: docs/ and its folders, in the version that runs here."""

import re
from functools import lru_cache
from pathlib import Path
from posixpath import join, normpath

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.safestring import SafeString, mark_safe
from django.views.decorators.http import require_safe
from markdown_it import MarkdownIt
from markdown_it.token import Token

DOCS = Path(settings.BASE_DIR) / "docs"
_ORDER = (
    *(
        "running",
        "uploading",
        "ci",
        "concepts",
        "accuracy",
        "orders",
        "schedules",
        "predictions",
        "bounds",
        "quarantine",
        "pull-requests",
        "notifications",
        "people",
        "compare",
    ),
    *("operations", "security", "api", "limits-and-errors", "developing"),
)
"""First for whoever sets it up; a page that is not named here comes last."""


@require_safe
def contents(request: HttpRequest) -> HttpResponse:
    return render(request, "docs/contents.html", {"pages": _pages()})


@require_safe
def page(request: HttpRequest, name: str) -> HttpResponse:
    if name not in names():
        raise Http404
    context = {"name": name, "title": _titles()[name], "body": body(name), "pages": _pages()}
    return render(request, "docs/page.html", context)


def _pages() -> list[tuple[str, str, bool]]:
    """Each page with its title, and whether it lies in a folder, below the page of that folder."""
    return [(name, _titles()[name], "/" in name) for name in names()]


@lru_cache(maxsize=1)
def _files() -> dict[str, Path]:
    """Name -> file. A folder's README is the page of the folder; a link that leads out of the docs is none of ours."""
    inside = (path for path in DOCS.rglob("*.md") if path.resolve().is_relative_to(DOCS.resolve()))
    return {_name(path.relative_to(DOCS).as_posix()): path for path in inside}


def _name(path: str) -> str:
    return path.removesuffix(".md").removesuffix("/README")


@lru_cache(maxsize=1)
def names() -> tuple[str, ...]:
    def place(name: str) -> tuple[int, str]:
        folder = name.partition("/")[0]
        return _ORDER.index(folder) if folder in _ORDER else len(_ORDER), name

    return tuple(sorted(_files(), key=place))


_COMMENT = re.compile(r"^<!-- .* -->\n", re.MULTILINE)
"""What marks figures that a benchmark writes."""


@lru_cache(maxsize=32)
def body(name: str) -> SafeString:
    """A page as HTML. Markdown's own HTML is off, so what is in it is text."""
    reader = MarkdownIt("commonmark", {"html": False}).enable("table")
    path = _files()[name]
    tokens = reader.parse(_COMMENT.sub("", path.read_text()))
    used: set[str] = set()
    for at, token in enumerate(tokens):
        words = _heading(tokens, at)
        if words:
            token.attrSet("id", _anchor(words, used))
        for inner in token.children or ():
            _link(inner, path.parent.relative_to(DOCS).as_posix())
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


def _link(token: Token, folder: str) -> None:
    """Links between files become links between pages."""
    address = str(token.attrGet("href") or "")
    found = re.fullmatch(r"([\w./-]+\.md)(#.*)?", address)
    name = _name(normpath(join(folder, found.group(1)))) if found else ""
    if found and name in names():
        token.attrSet("href", reverse("docs", args=(name,)) + (found.group(2) or ""))


def _table(token: Token) -> None:
    """In our looks. What scrolls sideways on a phone, a keyboard must reach."""
    if token.type == "table_open":
        token.attrSet("class", "table")
        token.attrSet("tabindex", "0")
    elif token.type == "th_open":
        token.attrSet("scope", "col")


@lru_cache(maxsize=1)
def _titles() -> dict[str, str]:
    """Name -> the first heading of the page."""
    firsts = {name: path.read_text().split("\n", 1)[0] for name, path in _files().items()}
    return {name: first.removeprefix("# ").replace("`", "") or name for name, first in firsts.items()}
