"""A message as a Microsoft Teams workflow takes it: an Adaptive Card in the envelope of its webhook. Pure.

Names stand in text runs, which Teams does not read for Markdown."""

import json
from collections.abc import Iterator
from typing import Any

from dashboard.notify.formats.message import Item, Message, Section, more_line

Part = dict[str, Any]


def body(message: Message) -> bytes:
    card: Part = {
        "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
        "type": "AdaptiveCard",
        "version": "1.4",
        "fallbackText": f"{message.project}: {message.title}",
        "body": list(_blocks(message)),
    }
    if message.url:
        card["actions"] = [{"type": "Action.OpenUrl", "title": "Open in Flakeboard", "url": message.url}]
    attachment = {"contentType": "application/vnd.microsoft.card.adaptive", "contentUrl": None, "content": card}
    return json.dumps({"type": "message", "attachments": [attachment]}, ensure_ascii=False).encode()


def _blocks(message: Message) -> Iterator[Part]:
    yield _line(_run(message.title, weight="Bolder", size="Medium"))
    yield _line(_run(message.project, isSubtle=True), spacing="None")
    if message.sentence:
        yield _line(_run(message.sentence))
    for name, value in message.facts:
        yield _line(_run(f"{name}: ", weight="Bolder"), _run(value), spacing="Small")
    for section in message.sections:
        yield from _listed(section)


def _line(*runs: Part, **more: Any) -> Part:
    return {"type": "RichTextBlock", "inlines": list(runs), **more}


def _run(text: str, **more: Any) -> Part:
    return {"type": "TextRun", "text": text, **more}


def _listed(section: Section) -> Iterator[Part]:
    yield _line(_run(section.title, weight="Bolder"))
    for item in section.items:
        yield _item(item)
    if section.more:
        yield _line(_run(more_line(section), isSubtle=True), spacing="Small")


def _item(item: Item) -> Part:
    link = {"selectAction": {"type": "Action.OpenUrl", "url": item.url}} if item.url else {}
    note = [_run(f": {item.note}")] if item.note else []
    return _line(_run("• "), _run(item.text, **link), *note, spacing="Small")
