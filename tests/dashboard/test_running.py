"""How it is run: the embedded database, the file broker, the folders, and requests that Django itself breaks on."""

import encodings.aliases
import json
import os
import pwd
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from queue import Empty
from typing import Any
from wsgiref.util import setup_testing_defaults

import kombu
import psutil
import psycopg2
import pytest
from django.conf import settings
from django.test import Client

from dashboard import tasks
from dashboard.ops import broker, paths
from dashboard.ops.embedded import Cluster
from dashboard.ops.environment import BadSetting
from tests.conftest import ROOT

CODECS = sorted({*encodings.aliases.aliases.values(), "hex", "rot13", "zlib", "punycode", "idna", "undefined"})
as_root = pytest.mark.skipif(
    os.getuid() != 0 or shutil.which("setpriv") is None or sys.platform != "linux", reason="needs root and setpriv"
)


# -- the embedded database ---------------------------------------------------------------------------------------


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that every user may enter; pytest's own are closed."""
    folder = Path(tempfile.mkdtemp(prefix="flakeboard-open-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


START = """
from pathlib import Path
from dashboard.ops.embedded import Cluster
from dashboard.ops.environment import BadSetting
cluster = Cluster(Path({home!r}))
try:
    cluster.start()
    print("started")
except BadSetting as error:
    print(error)
finally:
    cluster.stop()
"""


def start_without_capability(home: Path) -> str:
    """What is said by a start under the capabilities that Docker leaves to root."""
    home.mkdir()
    command = ["setpriv", "--bounding-set=-dac_read_search", sys.executable, "-c", START.format(home=str(home))]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600)
    assert done.stderr == ""
    return done.stdout.strip()


@as_root
def test_as_root_the_database_needs_no_capability_in_an_open_folder(open_folder: Path) -> None:
    if paths.closed_folder(paths.database_user(), Path(sys.prefix) / "lib"):
        pytest.skip("the installation is in a closed folder")
    assert start_without_capability(open_folder / "home") == "started"


@as_root
def test_as_root_a_closed_folder_without_the_capability_is_named(open_folder: Path) -> None:
    closed = open_folder / "closed"
    closed.mkdir(mode=0o700)
    said = start_without_capability(closed / "home")
    assert f"cannot enter {closed}: chmod o+x {closed}" in said
    assert len(said.splitlines()) == 1


@as_root
def test_the_closed_folder_is_the_first_that_the_user_may_not_enter(open_folder: Path) -> None:
    user = paths.database_user()
    inner = open_folder / "outer" / "inner"
    inner.mkdir(parents=True)
    assert paths.closed_folder(user, inner / "home") is None
    inner.chmod(0o700)
    assert paths.closed_folder(user, inner / "home") == inner
    os.chown(inner, user.pw_uid, -1)
    assert paths.closed_folder(user, inner / "home") is None
    inner.parent.chmod(0o750)
    assert paths.closed_folder(user, inner / "home") == inner.parent


def test_a_link_through_a_closed_folder_is_seen(open_folder: Path) -> None:
    (open_folder / "closed").mkdir(mode=0o700)
    (open_folder / "real").mkdir()
    (open_folder / "closed" / "link").symlink_to(open_folder / "real")
    stranger = pwd.struct_passwd(("stranger", "x", 64_000, 64_000, "", "/", "/bin/false"))
    assert paths.closed_folder(stranger, open_folder / "closed" / "link" / "home") == open_folder / "closed"


@pytest.fixture
def bystander() -> Iterator["subprocess.Popen[bytes]"]:
    """A process that has nothing to do with the database, though its command line speaks of it."""
    process = subprocess.Popen(["sleep", "600"])
    yield process
    process.kill()
    process.wait()


def noted(folder: Path, pid: int) -> Cluster:
    cluster = Cluster(folder)
    cluster.data.mkdir()
    (cluster.data / "postmaster.pid").write_text(f"{pid}\n{cluster.data}\n")
    return cluster


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_reused_process_number_is_not_the_database(tmp_path: Path, bystander: "subprocess.Popen[bytes]") -> None:
    cluster = noted(tmp_path, bystander.pid)
    assert cluster.orphan() is None
    cluster.stop()
    assert bystander.poll() is None


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("words", [["{data}"], ["-D", "{data}/other"], ["-D", "{data}", "log"]])
def test_a_program_that_only_speaks_of_the_database_is_not_it(tmp_path: Path, words: list[str]) -> None:
    """Only a program that is called postgres and runs on this very folder is ours."""
    data = str(tmp_path / "postgres")
    name = "tail" if words[-1] == "log" else "postgres"
    arguments = [name, "-c", "import time; time.sleep(600)", *(word.format(data=data) for word in words)]
    process = subprocess.Popen(arguments, executable=sys.executable)
    try:
        assert noted(tmp_path, process.pid).orphan() is None
    finally:
        process.kill()
        process.wait()


@pytest.mark.parametrize("content", ["", "x", "-1\n", "0x10", "99999999999999999999\n", "\udcff"])
def test_a_damaged_pid_file_names_nobody(tmp_path: Path, content: str) -> None:
    cluster = noted(tmp_path, 0)
    (cluster.data / "postmaster.pid").write_text(content, errors="surrogateescape")
    assert cluster.orphan() is None


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_database_whose_processes_outlive_it_is_not_started_twice(tmp_path: Path) -> None:
    """Even without its lock files: two on the same data would damage it."""
    cluster = Cluster(tmp_path)
    cluster.start()
    assert cluster._process is not None
    child = psutil.Process(cluster._process.pid).children()[0]
    child.suspend()
    try:
        cluster._process.kill()
        cluster._process.wait()
        (cluster.data / "postmaster.pid").unlink()
        (cluster.socket / ".s.PGSQL.5432.lock").unlink()
        with pytest.raises(BadSetting, match="did not start"):
            cluster.start()
        assert "pre-existing shared memory block" in cluster.log.read_text()
    finally:
        child.kill()
        psutil.wait_procs([child])
    cluster.start()
    assert cluster.reachable()
    cluster.stop()


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_the_database_starts_though_its_number_went_to_another(tmp_path: Path) -> None:
    """PostgreSQL itself would refuse: another process of the same user has the number."""
    cluster = Cluster(tmp_path)
    cluster.start()
    cluster.stop()
    owner = {"user": paths.database_user().pw_uid} if os.getuid() == 0 else {}
    process = subprocess.Popen(["sleep", "600"], cwd="/", **owner)
    try:
        for lock in (cluster.data / "postmaster.pid", cluster.socket / ".s.PGSQL.5432.lock"):
            lock.write_text(f"{process.pid}\n{cluster.data}\n")
        cluster.start()
        assert cluster.reachable()
        assert process.poll() is None
    finally:
        cluster.stop()
        process.kill()
        process.wait()


def test_a_database_that_does_not_stop_is_ended_and_that_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dashboard.ops.embedded._STOP_SECONDS", 0)
    said: list[str] = []
    cluster = Cluster(tmp_path, say=said.append)
    cluster.start()
    process = cluster._process
    cluster.stop()
    assert process is not None
    assert process.poll() is not None
    assert "did not stop" in said[0]
    assert len(said) == 1
    cluster.start()
    assert cluster.reachable()
    monkeypatch.undo()
    cluster.stop()


# -- the socket's folder -----------------------------------------------------------------------------------------


@pytest.fixture
def long_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path / ("long" * 30)


def test_a_socket_folder_of_ours_is_taken(long_home: Path) -> None:
    folder = paths.socket_directory(long_home)
    assert folder.parent == long_home.parent
    folder.mkdir(mode=0o700)
    assert paths.socket_directory(long_home) == folder


def test_a_socket_folder_that_others_may_enter_is_refused(long_home: Path) -> None:
    folder = paths.socket_directory(long_home)
    folder.mkdir()
    folder.chmod(0o755)
    with pytest.raises(BadSetting, match="not a folder that only we may enter"):
        paths.socket_directory(long_home)


@pytest.mark.parametrize("target", ["elsewhere", "nowhere"])
def test_a_socket_folder_that_is_a_link_is_refused(long_home: Path, target: str) -> None:
    (long_home.parent / "elsewhere").mkdir(mode=0o700)
    paths.socket_directory(long_home).symlink_to(long_home.parent / target)
    with pytest.raises(BadSetting, match="not a folder that only we may enter"):
        paths.socket_directory(long_home)


@as_root
def test_a_socket_folder_of_somebody_else_is_refused_and_not_taken_over(long_home: Path) -> None:
    cluster = Cluster(long_home)
    cluster.socket.mkdir(mode=0o700)
    os.chown(cluster.socket, 64_000, 64_000)
    with pytest.raises(BadSetting, match="not a folder that only we may enter"):
        cluster.start()
    assert cluster.socket.stat().st_uid == 64_000


# -- the secret key ----------------------------------------------------------------------------------------------


def test_the_secret_key_is_made_once_and_only_we_may_read_it(tmp_path: Path) -> None:
    key = paths.secret_key(tmp_path)
    assert paths.secret_key(tmp_path) == key
    assert stat.S_IMODE((tmp_path / "secret_key").stat().st_mode) == 0o600


def test_a_damaged_secret_key_is_named(tmp_path: Path) -> None:
    (tmp_path / "secret_key").write_bytes(b"\xff\xfe short")
    with pytest.raises(BadSetting, match="secret_key is damaged"):
        paths.secret_key(tmp_path)


# -- the file broker ---------------------------------------------------------------------------------------------


@pytest.fixture
def channel(tmp_path: Path) -> Iterator[broker.Channel]:
    broker.install()
    folders = {"data_folder_in": str(tmp_path), "data_folder_out": str(tmp_path), "control_folder": str(tmp_path / "c")}
    with kombu.Connection("filesystem://", transport_options=folders) as connection:
        yield connection.channel()


def test_messages_come_in_the_order_they_were_sent_and_once(channel: broker.Channel) -> None:
    for number in range(5):
        channel._put("work", {"number": number})
    assert channel._get("work") == {"number": 0}
    channel._put("work", {"number": 5})
    channel._put("other", {"number": 99})
    assert [channel._get("work")["number"] for _ in range(5)] == [1, 2, 3, 4, 5]
    with pytest.raises(Empty):
        channel._get("work")


def test_the_folder_is_listed_once_for_many_messages(channel: broker.Channel, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(20):
        channel._put("work", {"number": number})
    listings = []
    glob = Path.glob
    monkeypatch.setattr(Path, "glob", lambda self, pattern: listings.append(pattern) or glob(self, pattern))
    assert [channel._get("work")["number"] for _ in range(20)] == list(range(20))
    assert len(listings) == 1


def test_messages_that_another_took_or_that_are_damaged_are_passed_over(
    channel: broker.Channel, tmp_path: Path
) -> None:
    for number in range(4):
        channel._put("work", {"number": number})
    assert channel._get("work") == {"number": 0}
    one, two, _ = sorted(tmp_path.glob("*.msg"))
    one.unlink()
    two.write_text("{")
    assert channel._get("work") == {"number": 3}


def test_a_queue_is_declared_and_used_though_its_folder_is_gone(channel: broker.Channel, tmp_path: Path) -> None:
    shutil.rmtree(tmp_path)
    queue = kombu.Queue("work", kombu.Exchange("work"), routing_key="work")(channel)
    queue.declare()
    channel._put("work", {"number": 1})
    assert queue.queue_declare().message_count == 1
    assert channel._get("work") == {"number": 1}


def test_leftovers_of_killed_processes_are_removed_and_messages_kept(tmp_path: Path) -> None:
    for name in ("1.work.half", "2.work.taken", "3.work.msg"):
        (tmp_path / name).write_text("{}")
    broker.remove_leftovers(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["3.work.msg"]


def test_sweeps_that_nobody_takes_do_not_pile_up() -> None:
    sweep = settings.CELERY_BEAT_SCHEDULE["sweep"]
    assert sweep["options"]["expires"] == sweep["schedule"]


def test_no_error_of_a_broker_becomes_the_answer_to_an_upload(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(upload_id: int) -> None:
        raise RuntimeError("no\nsuch broker")

    monkeypatch.setattr(tasks.process_upload, "delay", fail)
    tasks.wake_worker(7)
    assert [record.getMessage() for record in caplog.records] == [
        "the broker cannot be reached (no such broker); the sweep will pick up upload 7"
    ]


# -- settings ----------------------------------------------------------------------------------------------------


def test_options_of_the_database_url_are_kept(tmp_path: Path) -> None:
    url = "postgres://u:p@db/flakeboard?sslmode=verify-full&sslrootcert=/ca.pem"
    script = "import json; from dashboard import settings; print(json.dumps(settings.DATABASES['default']['OPTIONS']))"
    environment = os.environ | {"DATABASE_URL": url, "FLAKEBOARD_HOME": str(tmp_path)}
    said = subprocess.run([sys.executable, "-c", script], cwd=ROOT, env=environment, capture_output=True, check=True)
    assert json.loads(said.stdout) == {"connect_timeout": 5, "sslmode": "verify-full", "sslrootcert": "/ca.pem"}


# -- requests ----------------------------------------------------------------------------------------------------


def call(content_type: str, query: str = "a=%C3%A4") -> tuple[str, str, str]:
    """Through the application that gunicorn runs, not the test client's own: status, code, content type as passed on."""
    from dashboard.wsgi import application  # it wants the static files, which are collected by now

    environ: dict[str, Any] = {}
    setup_testing_defaults(environ)
    asked = {"PATH_INFO": "/api/v1/no-such", "QUERY_STRING": query, "HTTP_HOST": "localhost"}
    environ |= {**asked, "CONTENT_TYPE": content_type}
    answered: list[str] = []
    body = b"".join(application(environ, lambda status, headers, *rest: answered.append(status)))
    return answered[0], json.loads(body)["error"]["code"], environ["CONTENT_TYPE"]


@pytest.mark.parametrize("form", ["text/xml; charset={}", 'text/xml; charset="{}"', "text/xml; charset*=utf-8''{}"])
@pytest.mark.usefixtures("db", "requests_within_test")
def test_no_charset_breaks_a_request_with_a_query(form: str) -> None:
    for codec in CODECS:
        assert call(form.format(codec)) == ("404 Not Found", "not_found", "text/xml")


@pytest.mark.usefixtures("db", "requests_within_test")
def test_a_query_of_too_many_fields_breaks_no_request() -> None:
    assert call("text/xml; charset=utf-8", "a=1&" * 300)[0] == "404 Not Found"


@pytest.mark.parametrize(
    ("sent", "passed_on"),
    [
        ("text/xml", "text/xml"),
        ("text/xml;", "text/xml;"),
        ("text/xml; q; charset", "text/xml; q"),
        ("multipart/form-data; CHARSET = rot13; boundary=x", "multipart/form-data; boundary=x"),
        ("multipart/form-data; charset=hex; charset=zlib; boundary=x", "multipart/form-data; boundary=x"),
        ('multipart/form-data; boundary="a;b"; charset="zlib"', 'multipart/form-data; boundary="a;b"'),
        ('multipart/form-data; boundary="; charset=hex"', 'multipart/form-data; boundary="; charset=hex"'),
        ('multipart/form-data; charset="hex; boundary=x', "multipart/form-data; boundary=x"),
    ],
)
@pytest.mark.usefixtures("db", "requests_within_test")
def test_of_a_content_type_only_the_charset_is_removed(sent: str, passed_on: str) -> None:
    assert call(sent)[2] == passed_on


def test_an_unknown_host_is_told_so_in_our_form() -> None:
    client = Client(raise_request_exception=False, headers={"host": "evil.example"})
    program = client.get("/api/v1/projects")
    assert (program.status_code, program.json()["error"]["code"]) == (400, "unknown_host")
    person = client.get("/sign-in")
    assert person.status_code == 400
    assert "ALLOWED_HOSTS" in person.content.decode()
    assert "flakeboard" in person.content.decode().lower()


def test_the_log_of_the_database_is_private_and_tells_no_values(tmp_path: Path) -> None:
    (tmp_path / "postgres.log").touch(mode=0o644)
    cluster = Cluster(tmp_path, options=("-c", "shared_buffers=16MB"))
    cluster.start()
    try:
        with closing(cluster.connect()) as connection, connection.cursor() as cursor:
            connection.autocommit = True
            cursor.execute("CREATE TABLE people (name text UNIQUE, age int CHECK (age > 0))")
            cursor.execute("INSERT INTO people VALUES ('canary', 1)")
            for statement in ("('canary', 2)", "('other', 'canary')", "('canary-2', -1)"):
                with pytest.raises(psycopg2.Error, match="canary|people"):
                    cursor.execute(f"INSERT INTO people VALUES {statement}")
            with pytest.raises(psycopg2.Error):
                cursor.execute("INSERT INTO people VALUES (%s, %s)", ["canary", 3])
    finally:
        cluster.stop()
    said = cluster.log.read_text()
    assert "database system is ready" in said
    assert "canary" not in said
    assert cluster.log.stat().st_mode & 0o777 == 0o600
