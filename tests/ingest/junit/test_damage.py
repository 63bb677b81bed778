"""A report that breaks off: what came before is kept, and so is a failure that is whole."""

from ingest.junit.report import Failure
from ingest.verdict import Verdict
from tests.ingest.junit.reading import case, read

SUREFIRE = (
    '<testsuite xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:noNamespaceSchemaLocation="surefire.xsd" '
    'name="s.T" tests="1">{}</testsuite>'
)
CUT = SUREFIRE.format(
    '<testcase classname="s.T" name="ok"/>\n<testcase classname="s.T" name="t"><failure message="boom" type="E">'
    "<![CDATA[E: boom\n\tat s.T.t(T.java:1)]]></failure>\n<system-out><![CDATA[some output]]></system-out></testcase>"
)


def test_a_report_that_breaks_off_keeps_a_whole_failure() -> None:
    whole, end = CUT.index("</failure>") + len("</failure>"), CUT.index("</testcase>")
    for size in range(whole, end):
        report = read(CUT[:size])
        assert report.partial, CUT[size - 20 : size]
        found = case(report, "t")
        assert (found.verdict, len(found.attempts)) == (Verdict.FAIL, 1)
        assert found.attempts[0].failures[0] == Failure(Verdict.FAIL, "E", "boom", "E: boom\n\tat s.T.t(T.java:1)")


def test_a_failure_that_breaks_off_itself_is_not_kept_and_no_pass_is_made_of_it() -> None:
    for size in range(CUT.index("<failure"), CUT.index("</failure>") + len("</failure")):
        assert [key[2] for key in read(CUT[:size]).keys] == ["ok"]
    for tag in ("flakyFailure", "flakyError"):
        document = CUT.replace("failure", tag)
        assert [key[2] for key in read(document[: document.index("<system-out")]).keys] == ["ok"]


def test_what_is_said_of_a_report_that_breaks_off_are_words_of_ours() -> None:
    for size in range(CUT.index("<failure"), CUT.index("</testsuite>")):
        (warning,) = (one for one in read(CUT[:size]).warnings if one.code == "partial")
        assert warning.sentence == (
            "The file is damaged: it ends before its root element does. What came before is kept."
        )
