"""A message as Slack's incoming webhooks take it: blocks, and a text for where those are not shown. Pure.

Names stand in rich text, which Slack does not read for marks, mentions or links."""

import json
from collections.abc import Iterator
from typing import Any

from dashboard.notify.formats.message import Item, Message, Section, more_line

Part = dict[str, Any]


def escaped(text: str) -> str:
    """For the text alone: these three make mentions and links."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def body(message: Message) -> bytes:
    text = escaped(" ".join(part for part in (f"{message.project}: {message.title}", message.sentence) if part))
    return json.dumps({"text": text, "blocks": list(_blocks(message))}, ensure_ascii=False).encode()


def _blocks(message: Message) -> Iterator[Part]:
    yield _rich(_line(_named(message.title, message.url, bold=True)), *_summary_lines(message))
    for section in message.sections:
        yield _rich(_line(_run(section.title, bold=True)), _listed(section))
    yield {"type": "context", "elements": [{"type": "plain_text", "text": f"Flakeboard · {message.project}"[:200]}]}


def _summary_lines(message: Message) -> Iterator[Part]:
    if message.sentence:
        yield _line(_run(f"\n{message.sentence}"))
    for name, value in message.facts:
        yield _line(_run(f"\n{name}: ", bold=True), _run(value))


def _rich(*elements: Part) -> Part:
    return {"type": "rich_text", "elements": list(elements)}


def _line(*elements: Part) -> Part:
    return {"type": "rich_text_section", "elements": list(elements)}


def _run(text: str, *, bold: bool = False) -> Part:
    return {"type": "text", "text": text, **({"style": {"bold": True}} if bold else {})}


def _named(text: str, url: str, *, bold: bool = False) -> Part:
    return {**_run(text, bold=bold), "type": "link", "url": url} if url else _run(text, bold=bold)


def _listed(section: Section) -> Part:
    lines = [_item(item) for item in section.items]
    rest = more_line(section)
    return {"type": "rich_text_list", "style": "bullet", "elements": [*lines, *([_line(_run(rest))] if rest else [])]}


def _item(item: Item) -> Part:
    note = [_run(f": {item.note}")] if item.note else []
    return _line(_named(item.text, item.url), *note)
