"""The text of a ticket for trackers that do not read Markdown: as a document of Atlassian's, and in wiki markup.

Our texts are paragraphs and lists; what is foreign in them stands in code spans, and is never read as markup. Pure."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

Node = dict[str, Any]
_RUN = re.compile(r"(?P<fence>`+) ?(?P<code>.+?) ?(?P=fence)(?!`)|(?P<url>https?://[^\s`]+)", re.DOTALL)
_BULLET = "- "


@dataclass(frozen=True, slots=True)
class Run:
    """A piece of a line: plain text, code or an address."""

    text: str
    code: bool = False
    url: bool = False


def runs_of(line: str) -> Iterator[Run]:
    at = 0
    for found in _RUN.finditer(line):
        if found.start() > at:
            yield Run(line[at : found.start()])
        yield Run(found["code"] or found["url"], code=found["code"] is not None, url=found["url"] is not None)
        at = found.end()
    if at < len(line):
        yield Run(line[at:])


# -- Atlassian's document format ---------------------------------------------------------------------------------


def document(markdown: str) -> Node:
    """The text as Jira Cloud takes it."""
    return {"type": "doc", "version": 1, "content": [_block(part) for part in markdown.split("\n\n") if part.strip()]}


def _block(part: str) -> Node:
    lines = part.split("\n")
    if not all(line.startswith(_BULLET) for line in lines):
        return _paragraph(" ".join(lines))
    items = ({"type": "listItem", "content": [_paragraph(line.removeprefix(_BULLET))]} for line in lines)
    return {"type": "bulletList", "content": list(items)}


def _paragraph(line: str) -> Node:
    return {"type": "paragraph", "content": [_text(run) for run in runs_of(line)]}


def _text(run: Run) -> Node:
    marks: list[Node] = [{"type": "code"}] if run.code else []
    if run.url:
        marks = [{"type": "link", "attrs": {"href": run.text}}]
    return {"type": "text", "text": run.text, **({"marks": marks} if marks else {})}


# -- wiki markup -------------------------------------------------------------------------------------------------


def wiki(markdown: str) -> str:
    """The text as Jira Server and Data Center take it."""
    lines = ("* " + line.removeprefix(_BULLET) if line.startswith(_BULLET) else line for line in markdown.split("\n"))
    return "\n".join(_wiki_line(line) for line in lines)


def _wiki_line(line: str) -> str:
    bullet = "* " if line.startswith("* ") else ""
    return bullet + "".join(_wiki_run(run) for run in runs_of(line.removeprefix(bullet)))


def _wiki_run(run: Run) -> str:
    if run.url:
        return run.text if not _SPECIAL.search(run.text) else _escaped(run.text)
    return f"{{{{{_escaped(run.text)}}}}}" if run.code else _escaped(run.text)


_SPECIAL = re.compile(r"[\\{}\[\]|*_+^~!&@#]|(?<!\w)-|-(?!\w)|\?\?|\(")


def _escaped(text: str) -> str:
    """With entities in place of what wiki markup reads: it mentions nobody, links nothing and marks nothing."""
    return _SPECIAL.sub(lambda found: "".join(f"&#{ord(letter)};" for letter in found[0]), text)
