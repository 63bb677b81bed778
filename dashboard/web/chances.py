"""How small chances are written: digits that mean something, and none that do not."""

_LEAST = 0.0001


def p_words(p_value: float | None) -> str:
    """ "0.021", or "< 0.0001"; empty where there is none."""
    if p_value is None:
        return ""
    return f"< {_LEAST}" if p_value < _LEAST else f"{p_value:.2g}"
