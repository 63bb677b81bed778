"""Refusals for known formats that are not read, by root element or first bytes, with advice."""

import re

from ingest.junit.problems import Refused

_BY_ROOT = {
    "TestRun": ("CppUnit, AUnit or TRX (without its namespace)", "convert it to JUnit XML before the upload"),
    "test-results": ("NUnit 2", "use nunit3-console, or nunit-console with a JUnit transform"),
    "test-suite": ("NUnit or Allure 1", "send the JUnit XML of the runner itself"),
    "Site": ("CTest dashboard", "run ctest with --output-junit report.xml"),
    "TestCase": ("Qt Test", "run the test with -o report.xml,junitxml"),
    "TestLog": ("Boost.Test log", "run the test with --log_format=JUNIT"),
    "TestResult": ("Boost.Test result", "run the test with --log_format=JUNIT"),
    "boost-log": ("Boost.Test log", "run the test with --log_format=JUNIT"),
    "CUNIT_TEST_RUN_REPORT": ("CUnit", "convert it to JUnit XML before the upload"),
    "unittest-results": ("UnitTest++", "convert it to JUnit XML before the upload"),
    "gtester": ("GLib gtester", "use gtest's TAP output with a TAP-to-JUnit converter"),
    "ResultsSession": ("Parasoft C++test", "convert it to JUnit XML before the upload"),
    "TestResults": ("FPCUnit or JMeter", "convert it to JUnit XML before the upload"),
    "testResults": ("JMeter", "convert it to JUnit XML before the upload"),
    "TestRunResults": ("CppUnit", "convert it to JUnit XML before the upload"),
    "report-result": ("MbUnit", "convert it to JUnit XML before the upload"),
    "tusar": ("TUSAR", "convert it to JUnit XML before the upload"),
    "valgrindoutput": ("Valgrind", "it holds no test results"),
    "result": ("Jenkins' stored result", "send the JUnit XML files of the job, not Jenkins' junitResult.xml"),
    "testrun": ("Eclipse or IntelliJ test run", "export as JUnit XML, or send the build tool's own reports"),
    "coverage": ("a coverage report (Cobertura)", "it holds no test results"),
    "report": ("a JaCoCo coverage report", "it holds no test results"),
    "checkstyle": ("Checkstyle", "it holds no test results"),
    "sonar": ("SonarQube generic data", "send the runner's JUnit XML"),
    "testExecutions": ("SonarQube test executions", "send the runner's JUnit XML"),
    "project": ("a build file", "it holds no test results"),
}

_BY_START = (
    (
        re.compile(rb"[\[{]"),
        "JSON",
        "of JSON, CTRF, Playwright's report and `go test -json` are read; else send JUnit XML",
    ),
    (re.compile(rb"%PDF"), "PDF", "send the runner's JUnit XML output"),
    (re.compile(rb"BZh"), "bzip2 archive", "compress with gzip or zip"),
    (re.compile(rb"\xfd7zXZ"), "xz archive", "compress with gzip or zip"),
    (re.compile(rb"\x28\xb5\x2f\xfd"), "zstd archive", "compress with gzip or zip"),
    (re.compile(rb"7z\xbc\xaf"), "7-Zip archive", "compress with gzip or zip"),
    (re.compile(rb"Rar!"), "RAR archive", "compress with gzip or zip"),
)


def _is_a(name: str, advice: str) -> Refused:
    article = "" if name.startswith(("a ", "an ", "Jenkins'")) else ("an " if name[0] in "AEFNRX" else "a ")
    noun = "" if name.startswith("a ") else " file"
    return Refused("other_format", f"This is {article}{name}{noun}, not JUnit XML: {advice}.")


def refuse_root(root: str) -> Refused:
    """The refusal for a document whose root element is not JUnit's."""
    if root.lower() == "html":
        return Refused(
            "html_page",
            "This is an HTML page, not JUnit XML: often an error or sign-in page that was saved instead of the report.",
        )
    if known := _BY_ROOT.get(root):
        return _is_a(*known)
    shown = root if len(root) <= 60 else root[:60] + "…"
    return Refused(
        "other_xml", f"This XML's root element is <{shown}>; JUnit XML starts with <testsuites> or <testsuite>."
    )


def refuse_doctype(name: str) -> Refused:
    """The refusal for a document type declaration: by format if its name reveals it, else for being one."""
    if name.lower() == "html" or name in _BY_ROOT:
        return refuse_root(name)
    return Refused(
        "doctype",
        "The file has a DOCTYPE. JUnit XML needs none, and it can make a reader fetch or expand things: "
        "remove it from the file.",
    )


def refuse_start(head: bytes) -> Refused | None:
    """The refusal for data that cannot be XML, by its first bytes; None if it may be."""
    start = head.lstrip()
    if not start:
        return Refused("empty", "The file is empty: the runner wrote no report, or the upload ran before it.", 1, 1)
    for pattern, name, advice in _BY_START:
        if pattern.match(start):
            return _is_a(name, advice)
    if not start.startswith(b"<"):
        return Refused("not_xml", "This is not XML: it does not start with '<'.", 1, 1)
    return None
