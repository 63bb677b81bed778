import pytest


@pytest.mark.parametrize("text", ["héllo wörld ✓", "試験", "🧪", "e\u0301", "\u00e9", "a\u200bb", "\u202eabc"])
def test_text(text):
    assert text != "試験"
