"""Tests by node ids, and node ids of tests."""

import pytest

from analytics.lab.names import Resolver, class_and_name, node_id_of, reference_of
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
        (TestName(1, "", "com.acme.CartTest", "adds", ""), None),
        (TestName(1, "", "shop.cart", "adds", "src/cart.py"), None),
        (TestName(1, "", "shop.cart", "adds", "cart.js"), None),
    ],
)
def test_node_id(test: TestName, node_id: str | None) -> None:
    assert node_id_of(test) == node_id
    assert node_id is None or class_and_name(node_id) == (test.classname, test.name)
    assert reference_of(test) == (node_id or f"{test.classname}::{test.name}")


def test_references_find_tests_under_their_present_names(project: Project, send: Send) -> None:
    a, b = "tests/test_a.py::test_a", "tests/test_b.py::TestB::test_b"
    send(junit([a, b]), build_id="1")
    old, new = Test.objects.order_by("number")
    assert Resolver(project).numbers([a, b, "tests/test_c.py::test_c"]) == {a: old.number, b: new.number}
    rename_decide(rename=Rename.objects.create(project=project, old=old, new=new, score=1), accept=True, user_id=None)
    assert Resolver(project).numbers([a]) == {a: new.number}
