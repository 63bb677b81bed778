import logging
import sys
import warnings

import pytest


@pytest.fixture
def noisy():
    print("setup says hello")
    yield
    print("teardown says goodbye")


def test_pass(noisy, record_property, record_testsuite_property):
    record_property("ticket", "FB-2")
    record_property("ticket", "FB-3")
    record_testsuite_property("pipeline", "nightly")
    print("out: <b>bold</b> & ]]> and é ✓ 🧪")
    print("err", file=sys.stderr)
    logging.getLogger("app").debug("a debug line")


def test_fail(noisy):
    print("colour \x1b[31mred\x1b[0m, bell \x07, nul \x00, lone surrogate \ud800".encode("utf-8", "replace").decode())
    logging.getLogger("app").error("an error line")
    assert False, "message with \x1b[31mcolour\x1b[0m"


def test_warns():
    warnings.warn("old call", DeprecationWarning)


def test_extra_attribute(record_xml_attribute):
    record_xml_attribute("assertions", "7")
