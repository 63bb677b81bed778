"""Tests by node ids, and node ids of tests."""

import pytest

from analytics.lab.names import Resolver, class_and_name, node_id_of, reference_of
from analytics.lab.schedules.collected_tests import CollectedTests, numbers_of
from ingest.identity import TestName
from ingest.models import Project, Rename, Test
from ingest.renames import rename_decide
from tests.conftest import Send
from tests.lab.experiments import junit


@pytest.mark.parametrize(
    ("reference", "pair"),
    [
        ("tests/test_a.py::test_b", ("tests.test_a", "test_b")),
        ("test_a.py::TestC::TestD::test_b", ("test_a.TestC.TestD", "test_b")),
        ("tests/test_a.py::test_b[a::b/c.py]", ("tests.test_a", "test_b[a::b/c.py]")),
        ("com.acme.CartTest::adds", ("com.acme.CartTest", "adds")),
        ("alone", ("", "alone")),
    ],
)
def test_class_and_name(reference: str, pair: tuple[str, str]) -> None:
    assert class_and_name(reference) == pair


@pytest.mark.parametrize(
    ("test", "node_id"),
    [
        (TestName(1, "", "tests.test_a.TestC", "test_b[1]", "tests/test_a.py"), "tests/test_a.py::TestC::test_b[1]"),
        (TestName(1, "", "tests.test_a", "test_b", ""), "tests/test_a.py::test_b"),
        (TestName(1, "", "pkg.cart_test.TestC", "test_b", ""), "pkg/cart_test.py::TestC::test_b"),
        (TestName(1, "", "", "test_a", "test_a.py"), "test_a.py::test_a"),
        (TestName(1, "", "com.acme.CartTest", "adds", ""), None),
        (TestName(1, "", "shop.cart", "adds", "src/cart.py"), None),
        (TestName(1, "", "shop.cart", "adds", "cart.js"), None),
    ],
)
def test_node_id(test: TestName, node_id: str | None) -> None:
    assert node_id_of(test) == node_id
    assert node_id is None or class_and_name(node_id) == (test.classname or test.name, test.name)
    assert reference_of(test) == (node_id or f"{test.classname}::{test.name}")


def test_references_find_tests_under_their_present_names(project: Project, send: Send) -> None:
    a, b = "tests/test_a.py::test_a", "tests/test_b.py::TestB::test_b"
    send(junit([a, b]), build_id="1")
    old, new = Test.objects.order_by("number")
    assert Resolver(project).numbers([a, b, "tests/test_c.py::test_c"]) == {a: old.number, b: new.number}
    rename_decide(rename=Rename.objects.create(project=project, old=old, new=new, score=1), accept=True, user_id=None)
    assert Resolver(project).numbers([a]) == {a: new.number}


@pytest.mark.parametrize("with_file", [True, False])
def test_a_test_that_is_called_as_its_module_is_found(project: Project, send: Send, with_file: bool) -> None:
    """The reader keeps no class that says what the name says."""
    same, other = "test_a.py::test_a", "test_b.py::test_a"
    document = junit([other, same])
    send(document if with_file else document.replace(b'file="test_a.py"', b""), build_id="1")
    stored = {test.classname: test for test in Test.objects.all()}
    assert set(stored) == {"test_b", ""}
    assert Resolver(project).numbers([same, other]) == {same: stored[""].number, other: stored["test_b"].number}
    assert node_id_of(stored[""].test_name) == (same if with_file else None)
    collected = CollectedTests([("test_a", "test_a", "test_a.py"), ("test_b", "test_a", "test_b.py")])
    assert numbers_of(project, collected).tolist() == [stored[""].number, stored["test_b"].number]


def test_a_test_that_is_called_as_its_module_is_found_in_a_named_suite(project: Project, send: Send) -> None:
    cases = "".join(f'<testcase classname="test_a" name="{name}"/>' for name in ("test_a", "test_b"))
    send(f'<testsuite name="unit">{cases}</testsuite>'.encode(), build_id="1")
    number = {test.name: test.number for test in Test.objects.all()}
    names = [("test_a", name, "test_a.py") for name in ("test_b", "test_a")]
    assert numbers_of(project, CollectedTests(names)).tolist() == [number["test_b"], number["test_a"]]


def test_tests_without_a_class_are_told_apart_by_their_files(project: Project, send: Send) -> None:
    cases = '<testcase name="test_x" file="a.py"/><testcase name="test_x" file="b.py"/>'
    send(f'<testsuites><testsuite name="pytest">{cases}</testsuite></testsuites>'.encode(), build_id="1")
    names = [("", "test_x", file) for file in ("b.py", "a.py", "c.py")]
    number = {test.file: test.number for test in Test.objects.all()}
    assert numbers_of(project, CollectedTests(names)).tolist() == [number["b.py"], number["a.py"], -1]


def test_names_that_differ_by_an_address_are_of_one_test(project: Project, send: Send) -> None:
    send(junit(["test_a.py::test_x[&lt;object at 0x7f0000000000>]"]), build_id="1")
    names = [("test_a", f"test_x[<object at 0x7f00000000{digit}0>]", "test_a.py") for digit in "12"]
    assert numbers_of(project, CollectedTests(names)).tolist() == [Test.objects.get().number] * 2
