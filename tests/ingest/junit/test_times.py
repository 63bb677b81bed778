"""When a report began, by the times of its suites and files."""

from tests.ingest.junit.reading import read, upload


def test_the_earliest_of_times_in_words_is_the_start_and_orders_files() -> None:
    def suite(timestamp: str, name: str) -> str:
        return f'<testsuite name="{name}" timestamp="{timestamp}"><testcase classname="c" name="{name}"/></testsuite>'

    late, early = suite("Fri, 06 Jun 2025 10:11:12 GMT", "late"), suite("Tue, 03 Jun 2025 10:11:12 GMT", "early")
    report = read(f"<testsuites>{late}{early}</testsuites>")
    assert report.started_at is not None and report.started_at.isoformat() == "2025-06-03T10:11:12+00:00"
    assert report.timestamp.startswith("Tue")
    merged = upload(late.encode(), early.encode()).report
    assert [key[2] for key in merged.keys] == ["early", "late"]
    assert merged.started_at == report.started_at
