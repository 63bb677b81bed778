"""Words on charts: escaped, because Plotly reads labels as a kind of HTML, and short, because tests have long names."""

import re
from datetime import UTC, date, datetime

_UNSEEN = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]+")


def plain(text: str) -> str:
    """Text that a program wrote, on one line, without characters that steer the terminal or the writing direction."""
    return " ".join(_UNSEEN.sub(" ", text).split())


def escaped(text: str) -> str:
    return plain(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def short(text: str, most: int = 40) -> str:
    """The beginning and the end with an ellipsis between: test names differ at their ends. Escaped."""
    text = plain(text)
    if len(text) > most:
        tail = (most - 1) // 2
        text = f"{text[: most - 1 - tail]}…{text[len(text) - tail :]}"
    return escaped(text)


def percent(share: float | None) -> str:
    """A share in per cent, with as many digits as it needs and no more."""
    if share is None:
        return "–"
    value = share * 100
    digits = 0 if value >= 99.95 or value == 0 else 1 if value >= 1 else 2 if value >= 0.1 else 3
    return f"{value:.{digits}f}".removesuffix(".0") + " %"


def seconds(amount: float | None) -> str:
    """A length of time in the unit that fits it."""
    if amount is None:
        return "–"
    if amount < 0.9995:
        return f"{amount * 1_000:.3g} ms"
    if amount < 59.95:
        return f"{amount:.3g} s"
    return f"{amount / 60:,.3g} min" if amount < 5_970 else f"{amount / 3_600:,.3g} h"


def counted(amount: int, one: str, many: str = "") -> str:
    """ "1 run", "1,203 runs"."""
    return f"{amount:,} {one if amount == 1 else many or one + 's'}"


def day(value: date) -> str:
    return value.isoformat()


def moment(value: datetime) -> str:
    """In UTC, as Plotly reads it and as tables show it."""
    return f"{value.astimezone(UTC):%Y-%m-%d %H:%M}"
