"""Owners: who answers for which test, and which rule says so."""

from django.contrib.auth.models import User
from django.test import Client

from dashboard.people.models import Role
from dashboard.quarantine.models import CodeOwnersFile, OwnerPattern
from ingest.models import Test
from tests.people.signed_in import browser_of, member
from tests.web.analysed_project import Demo
from tests.web.listing import queries_of, source_of, words_of
from tests.web.quarantining import flaky
from tests.web.reading import answer, words


def save(reader: Client, demo: Demo, **said: str):
    return reader.post(demo.at("owners"), {"syntax": "github", "text": "", "patterns": "", **said}, follow=True)


def test_without_rules_nobody_owns_anything(reader: Client, demo: Demo) -> None:
    total = Test.objects.filter(project=demo.project).count()
    assert answer(reader, demo.at("owners")).startswith(f"No owner is set for any of {total} tests.")


def test_rules_are_saved_and_each_says_how_many_tests_it_decides(reader: Client, demo: Demo) -> None:
    test = flaky(demo)[0]
    theirs = Test.objects.filter(project=demo.project, classname=test.classname).count()
    Test.objects.filter(project=demo.project).update(file="src/a.py")
    done = save(reader, demo, text="/src/ @src\n/lib/ @lib\n", patterns=f"class {test.classname} @cart\nsuite zzz* @z")
    shown = words_of(reader, demo.at("owners"))
    total = Test.objects.filter(project=demo.project).count()
    assert f"class {test.classname} @cart {theirs}" in shown
    assert f"CODEOWNERS, line 1 /src/ @src {total - theirs}" in shown
    assert "CODEOWNERS, line 2 /lib/ @lib 0" in shown
    assert f"{demo.at('tests')}?owner=%40cart" in done.content.decode()


def test_every_line_that_cannot_be_read_is_told_and_nothing_is_kept(reader: Client, demo: Demo) -> None:
    done = save(reader, demo, text="* @all\na/[b @x\n" + "*a*a*a*a @x\n", patterns="class a @x")
    assert done.status_code == 422
    shown = words(done.content.decode())
    assert "line 2: it cannot be read" in shown and "line 3: a pattern has at most" in shown
    assert not CodeOwnersFile.objects.exists() and not OwnerPattern.objects.exists()
    for wrong in ("class @x", "module a @x", "class a"):
        assert save(reader, demo, patterns=wrong).status_code == 422


def test_one_tests_owner_is_named_on_its_page_and_taken_back(reader: Client, demo: Demo) -> None:
    test = flaky(demo)[0]
    save(reader, demo, patterns="class * @everybody")
    reader.post(demo.at("test_owner", test.number), {"owner": "<b>anna</b>"})
    shown = source_of(reader, demo.at("test", test.number))
    assert "&lt;b&gt;anna&lt;/b&gt;" in shown and "<b>anna</b>" not in shown
    assert "by hand" in words_of(reader, demo.at("test", test.number))
    reader.post(demo.at("test_owner", test.number), {"owner": ""})
    assert "@everybody by a pattern" in words_of(reader, demo.at("test", test.number))
    assert reader.post(demo.at("test_owner", 10**9), {"owner": "x"}).status_code == 404


def test_only_administrators_change_rules(demo: Demo) -> None:
    viewer = browser_of(member(User.objects.create_user("vic"), demo.project, Role.VIEWER))
    assert viewer.get(demo.at("owners")).status_code == 200
    assert save(viewer, demo, patterns="class a @x").status_code == 403
    assert viewer.post(demo.at("test_owner", 0), {"owner": "x"}).status_code == 403


def test_queries_do_not_grow_with_the_rules(reader: Client, demo: Demo) -> None:
    save(reader, demo, patterns="class a @x", text="/a/ @x")
    few = queries_of(reader, demo.at("owners"))
    lines = range(60)
    save(
        reader, demo, patterns="\n".join(f"class a{n} @x{n}" for n in lines), text="\n".join(f"/{n}/ @x" for n in lines)
    )
    assert queries_of(reader, demo.at("owners")) == few
