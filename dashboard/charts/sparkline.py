"""Pictures the size of a word, for lists: a rate over time, and a strip of verdicts. SVG without a script."""

from collections.abc import Sequence
from html import escape

from analytics import wording

_WIDTH, _HEIGHT = 96, 22
_BAR = 6


def _svg(width: int, label: str, inside: str) -> str:
    """Colours come from the page's style sheet, by class; the label says what a picture cannot."""
    title = escape(wording.plain(label))
    return (
        f'<svg class="fb-spark" role="img" aria-label="{title}" width="{width}" height="{_HEIGHT}" '
        f'viewBox="0 0 {width} {_HEIGHT}"><title>{title}</title>{inside}</svg>'
    )


def rate_sparkline(shares: Sequence[float | None], label: str) -> str:
    """A line from the oldest to the newest share, each from 0 to the highest; gaps where nothing is known."""
    known = [share for share in shares if share is not None]
    if not known:
        return ""
    top, step = max(known) or 1.0, (_WIDTH - 6) / max(len(shares) - 1, 1)
    pieces: list[list[str]] = [[]]
    for place, share in enumerate(shares):
        if share is None:
            pieces.append([])
        else:
            pieces[-1].append(f"{3 + place * step:.1f},{_HEIGHT - 3 - share / top * (_HEIGHT - 6):.1f}")
    lines = "".join(f'<polyline points="{" ".join(piece)}"/>' for piece in pieces if len(piece) > 1)
    x, y = next(piece[-1] for piece in reversed(pieces) if piece).split(",")
    return _svg(_WIDTH, label, f'{lines}<circle cx="{x}" cy="{y}" r="2.5"/>')


def verdict_strip(verdicts: Sequence[bool | None], label: str) -> str:
    """A bar for each execution, oldest first: tall for failed, short for passed, a dot for not executed."""
    if not verdicts:
        return ""
    shapes = {
        True: ("pass", _HEIGHT // 2 + 2, _HEIGHT // 2 - 4),
        False: ("fail", 2, _HEIGHT - 4),
        None: ("none", _HEIGHT - 4, 2),
    }
    drawn = []
    for place, verdict in enumerate(verdicts):
        kind, top, height = shapes[verdict]
        drawn.append(
            f'<rect class="fb-spark-{kind}" x="{place * _BAR}" y="{top}" width="{_BAR - 2}" height="{height}"/>'
        )
    return _svg(len(verdicts) * _BAR, label, "".join(drawn))
