"""Values as tokens: equal stays equal, different stays different, and no text can be read."""

from __future__ import annotations

import io
import math
import os
import urllib.error
from pathlib import Path
from typing import Any

import pytest
from flakeboard.traces.trace import Token
from flakeboard.tracing.tokens import Tokens, is_secret

from tests.lab.why.recording import record


@pytest.fixture
def tokens(tmp_path: Path) -> Tokens:
    return Tokens(b"key", str(tmp_path))


@pytest.mark.parametrize(
    ("value", "token"),
    [
        (None, None),
        (True, True),
        (7, 7),
        (-(2**63), -(2**63)),
        (1794930532.9597051, 1794930532.959705),
        (0.00001234567, 0.0000123457),
        (math.nan, Token("float", plain="nan")),
        (-math.inf, Token("float", plain="-inf")),
        (object(), Token("object")),
    ],
    ids=lambda value: type(value).__name__,  # an object's repr is another in every process
)
def test_numbers_are_plain(tokens: Tokens, value: Any, token: Any) -> None:
    assert tokens.of(value) == token
    assert type(tokens.of(value)) is type(token)


def test_minus_zero_is_zero(tokens: Tokens) -> None:
    assert math.copysign(1, tokens.of(-0.0)) == 1  # type: ignore[arg-type]


@pytest.mark.parametrize("value", ["word", b"word", 2**80, ["word"], {"word": 1}, ("a", ("word",))], ids=repr)
def test_texts_are_keyed_digests(tmp_path: Path, value: Any) -> None:
    one, same, other = (Tokens(key, str(tmp_path)).of(value) for key in (b"key", b"key", b"other"))
    assert one == same != other
    assert isinstance(one, Token) and len(one.digest) == 16 and "word" not in repr(one)


def test_the_order_of_a_list_tells(tokens: Tokens) -> None:
    assert tokens.of(["a", "b"]) != tokens.of(["b", "a"])
    assert tokens.of([1, True]) != tokens.of([1, 1])


def test_a_list_that_holds_itself_ends(tokens: Tokens) -> None:
    endless: list[Any] = []
    endless.append(endless)
    assert isinstance(tokens.of(endless), Token)


def test_of_a_secret_not_even_a_number_is_told(tokens: Tokens) -> None:
    assert tokens.of(4711, secret=True) == Token("int", None, tokens.digest(b"4711"))


@pytest.mark.parametrize("name", ["api_token", "get_password", "SECRET", "private_key", "pin"])
def test_names_of_secrets(name: str) -> None:
    assert is_secret(name)


@pytest.mark.parametrize("name", ["monkey", "spinning", "keyboard", "total"])
def test_other_names(name: str) -> None:
    assert not is_secret(name)


def test_exceptions_tell_type_errno_and_status(tokens: Tokens) -> None:
    refused = tokens.exception(ConnectionRefusedError(111, "to db.internal"))
    assert (refused.type, refused.errno, "db.internal" in repr(refused)) == (
        "ConnectionRefusedError",
        "ECONNREFUSED",
        False,
    )
    answer = urllib.error.HTTPError("http://u:p@h/?t=1", 503, "no", {}, io.BytesIO())  # type: ignore[arg-type]
    assert tokens.exception(answer).plain == "503"
    answer.close()


def test_an_exception_without_a_text_is_told_too(tokens: Tokens) -> None:
    class Broken(Exception):
        def __str__(self) -> str:
            raise ValueError

    assert tokens.exception(Broken()) == Token("Broken")


def test_paths_are_told_below_rootdir_only(tokens: Tokens, tmp_path: Path) -> None:
    assert tokens.path(tmp_path / "data" / "rates.json") == "data/rates.json"
    assert tokens.path(b"/home/somebody/secret-project/notes.txt") == "notes.txt"
    assert Tokens(b"", "/nowhere").path(tmp_path / "x") == "<tmp>"
    assert tokens.path(7.5) == ""


def test_addresses_have_no_user(tokens: Tokens) -> None:
    assert tokens.address(("user:word@db.example", 5432)) == "db.example:5432"
    assert tokens.address("/run/secret.sock") == ""


def test_variables_are_told_by_name(tokens: Tokens) -> None:
    assert (tokens.variable("HOME"), tokens.variable("a b"), tokens.variable(3)) == ("HOME", "", "")


CANARY = "canary-5f1d2c"


def test_canaries_are_found_nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A secret in the environment, in arguments, results, an exception, an address, a file and its name."""
    monkeypatch.setenv("SHOP_TOKEN", CANARY)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / CANARY).mkdir()
    (elsewhere / CANARY / "notes").write_text(CANARY)
    root = tmp_path / "project"
    root.mkdir()
    source = f"""
import os, queue, random, secrets, socket, urllib.request
def give(word): return word
def password(): return 774411
def test():
    os.environ["SHOP_TOKEN"]; os.getenv("SHOP_TOKEN")
    give({CANARY!r}); give([{CANARY!r}]); give({{"x": {CANARY!r}}}); password()
    random.choice([{CANARY!r}]); secrets.token_hex(8)
    q = queue.Queue(); q.put({CANARY!r}); q.get()
    open({str(elsewhere / CANARY / "notes")!r}).close()
    os.listdir({str(elsewhere)!r})
    try: socket.create_connection(("user:{CANARY}@127.0.0.1", 1), timeout=1)
    except OSError: pass
    try: urllib.request.urlopen("http://127.0.0.1:1/{CANARY}?key={CANARY}", timeout=1)
    except OSError: pass
    raise ValueError({CANARY!r})
"""
    recorded = record(root, source, level="calls")
    assert len(recorded.calls) > 10 and recorded.of("code:password")
    assert CANARY.encode() not in recorded.content
    assert b"774411" not in recorded.content
    assert os.environ["SHOP_TOKEN"].encode() not in recorded.content
