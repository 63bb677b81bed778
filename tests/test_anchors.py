"""References to the documentation in docstrings and comments lead to a heading that exists."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
REFERENCE = re.compile(r"\b(docs/[\w/-]+\.md)#([\w-]+)")


def anchors(page: Path) -> set[str]:
    """The headings of a page as GitHub links to them."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(), re.M)
    return {re.sub(r"[^\w -]", "", heading).strip().lower().replace(" ", "-") for heading in headings}


def references(folder: str) -> set[tuple[str, str]]:
    return {reference for path in (ROOT / folder).rglob("*.py") for reference in REFERENCE.findall(path.read_text())}


def test_references_to_the_docs_name_headings_that_exist() -> None:
    found = references("analytics") | references("ingest") | references("dashboard") | references("bench")
    assert ("docs/concepts.md", "failure-rate") in found
    assert [reference for reference in sorted(found) if reference[1] not in anchors(ROOT / reference[0])] == []
