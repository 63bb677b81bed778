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
    """A share in per cent: one decimal from 1 % up, two digits below; nought and all are said of nothing less."""
    if share is None:
        return "–"
    return f"{_digits(share * 100)} %"


def percents(low: float, high: float) -> str:
    """Both ends of an interval of shares: "0.6–1.9 %"."""
    return f"{_digits(low * 100)}–{_digits(high * 100)} %"


def _digits(value: float) -> str:
    if 0 < value < 0.001:
        return "<0.001"
    if 99.95 <= value < 100:
        return ">99.9"
    return f"{value:.1f}".removesuffix(".0") if value >= 0.995 else f"{value:.2g}"


def seconds(amount: float | None) -> str:
    """A length of time in the unit that fits it."""
    if amount is None:
        return "–"
    if amount < 0.9995:
        return f"{amount * 1_000:.3g} ms"
    if amount < 59.95:
        return f"{amount:.3g} s"
    return f"{amount / 60:,.3g} min" if amount < 5_970 else f"{amount / 3_600:,.3g} h"


def counted(amount: int, singular: str, many: str = "") -> str:
    """Format an amount with its noun: "1 run", "1,203 runs"."""
    return f"{amount:,} {singular if amount == 1 else many or singular + 's'}"


_UNITS = ((365.0, "year"), (30.4, "month"), (7.0, "week"), (1.0, "day"))


def pace(runs: int, executed: int, days: float) -> str:
    """How long so many runs take where `executed` were made in `days`: "about 3 weeks"; empty where none were."""
    if not executed or days <= 0:
        return ""
    wait = runs / (executed / max(days, 1.0))
    size, unit = next(((size, unit) for size, unit in _UNITS if wait >= 2 * size), (1.0, "day"))
    return f"about {counted(round(wait / size), unit)}" if wait >= 1 else "less than a day"


def day(value: date) -> str:
    return value.isoformat()


def moment(value: datetime) -> str:
    """In UTC, as Plotly reads it and as tables show it."""
    return f"{value.astimezone(UTC):%Y-%m-%d %H:%M}"


_LEAST = 0.0001


def p_words(p_value: float | None) -> str:
    """ "0.021", or "< 0.0001"; empty where there is none."""
    if p_value is None:
        return ""
    return f"< {_LEAST}" if p_value < _LEAST else f"{p_value:.2g}"


_LINES = 2


def brief(signature: str | None) -> str:
    """Type and message of a signature, which stand before its stack frames; empty where nothing was said."""
    return ": ".join((signature or "").split("\n")[:_LINES])
