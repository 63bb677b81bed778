"""What a process loads: memory and seconds at the start are for what it does, and a forked copy is a whole process."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import psutil
import pytest

from dashboard.ops.supervisor import ForkedChild, ForkedProcess, Supervisor
from tests.conftest import ROOT
from tests.faults.server import until

APPLICATION = {"numpy", "scipy", "plotly", "rest_framework", "lxml", "django.db.models"}
ANALYSIS_ALONE = {"scipy.stats", "scipy.optimize", "scipy.sparse", "scipy.cluster", "plotly"}

SUPERVISOR = "from dashboard.ops import serve; serve.settings.HOME"
BEAT = (
    "import celery.apps.beat; from dashboard.ops.clock import app; app.loader.init_worker(); app.finalize(); app.amqp"
)
WEB = "import django; django.setup(); import dashboard.urls"
WORKERS = "from dashboard.ops import celery_workers; celery_workers._load(); import dashboard.tasks"


def environment(home: Path, **more: str) -> dict[str, str]:
    inherited = {name: value for name, value in os.environ.items() if name not in ("DATABASE_URL", "BROKER_URL")}
    return inherited | {"FLAKEBOARD_HOME": str(home), "DJANGO_SETTINGS_MODULE": "dashboard.settings", **more}


@cache
def loaded(script: str) -> frozenset[str]:
    """Modules that a process has after the script."""
    script += "; import sys; print(*sys.modules)"
    command, home = [sys.executable, "-c", script], Path(os.environ["FLAKEBOARD_HOME"])
    done = subprocess.run(command, cwd=ROOT, env=environment(home), capture_output=True, text=True, check=True)
    return frozenset(done.stdout.split())


@pytest.mark.parametrize(("script", "needed"), [(SUPERVISOR, "psycopg2"), (BEAT, "celery.app.amqp")])
def test_supervisor_and_beat_load_nothing_of_the_application(script: str, needed: str) -> None:
    modules = loaded(script)
    assert needed in modules, "the script loads nothing: the test tests nothing"
    assert modules & APPLICATION == set()


def test_workers_load_no_pages_and_no_api() -> None:
    modules = loaded(WORKERS)
    assert "dashboard.tasks" in modules
    assert modules & {"dashboard.urls", "dashboard.web.urls", "dashboard.api.urls", "rest_framework.views"} == set()


@pytest.mark.parametrize(("script", "needed"), [(WEB, "dashboard.web.urls"), (WORKERS, "dashboard.tasks")])
def test_web_and_workers_load_what_only_an_analysis_needs_when_one_is_made(script: str, needed: str) -> None:
    modules = loaded(script)
    assert needed in modules
    assert "analytics.kernel.analysis" in modules
    assert modules & ANALYSIS_ALONE == set()


def test_beat_asks_for_tasks_that_it_has_not_loaded_in_their_queues(tmp_path: Path) -> None:
    """Every queue has a sweep that is due soon."""
    script = "from dashboard.ops.processes import beat; import os; os.execv(beat()[0], beat())"
    process = subprocess.Popen(
        [sys.executable, "-c", script], cwd=ROOT, env=environment(tmp_path, SWEEP_SECONDS="1"), start_new_session=True
    )
    try:
        for queue in ("uploads", "analyses", "notifications"):
            until(lambda name=queue: list((tmp_path / "broker").glob(f"*.{name}.msg")), 120, f"a message in {queue}")
    finally:
        process.terminate()
        process.wait()


# -- forked copies -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("run", "code"), [(lambda: None, 0), (lambda: sys.exit(3), 3), (lambda: sys.exit("no"), 1)])
def test_a_copy_ends_with_the_code_of_what_it_ran(run: Callable[[], None], code: int) -> None:
    assert ForkedProcess(run).wait() == code


def test_a_copy_that_raises_tells_why_and_fails(capfd: pytest.CaptureFixture[str]) -> None:
    assert ForkedProcess(lambda: 1 / 0).wait() == 1
    assert "ZeroDivisionError" in capfd.readouterr().err


def test_waiting_for_a_copy_ends_when_the_time_is_over() -> None:
    copy = ForkedProcess(lambda: time.sleep(600))
    with pytest.raises(subprocess.TimeoutExpired):
        copy.wait(0.1)
    copy.terminate()
    assert copy.wait(60) == -15


def test_a_copy_that_ends_is_started_again_and_stopped_with_its_supervisor() -> None:
    said: list[str] = []
    supervisor = Supervisor(say=said.append)
    child = ForkedChild("copy", run=lambda: time.sleep(600))
    pids: list[int] = []

    def kill_then_stop() -> None:
        if child.process is not None and child.process.pid not in pids:
            pids.append(child.process.pid)
            if len(pids) == 1:
                os.kill(pids[0], 9)
            else:
                supervisor.stop()

    supervisor.children.append(child)
    supervisor.watchers.append(kill_then_stop)
    supervisor.run()
    assert said[0] == "copy ended (killed by SIGKILL); it starts again in 1 s"
    assert len(pids) == 2
    assert not any(psutil.pid_exists(pid) for pid in pids)


FAMILY = """
import os, subprocess, time
from dashboard.ops.supervisor import ForkedProcess
def run():
    child = subprocess.Popen(["sleep", "600"])
    print(f"{os.getpid()} {child.pid}\\n", end="", flush=True)  # at once, since copies share the pipe
    time.sleep(600)
copies = [ForkedProcess(run), ForkedProcess(run)]
time.sleep(600)
"""


@pytest.fixture
def family() -> Iterator[tuple["subprocess.Popen[str]", list[psutil.Process]]]:
    """A process, and its copies with a child each."""
    parent = subprocess.Popen([sys.executable, "-c", FAMILY], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    pids = [int(word) for _ in range(2) for word in parent.stdout.readline().split()]
    processes = [psutil.Process(pid) for pid in pids]
    yield parent, processes
    parent.kill()
    parent.wait()
    parent.stdout.close()
    for process in processes:
        if process.is_running():
            process.kill()


def test_copies_and_what_they_started_end_with_a_parent_that_is_killed(
    family: tuple["subprocess.Popen[str]", list[psutil.Process]],
) -> None:
    parent, processes = family
    assert len(processes) == 4
    parent.kill()
    parent.wait()
    _, alive = psutil.wait_procs(processes, timeout=60)
    assert alive == []


def test_a_worker_seldom_looks_for_garbage_and_never_in_what_it_shares() -> None:
    script = "import dashboard.celery, gc; from celery import signals; signals.worker_init.send(None)"
    script += "; print(gc.get_threshold()[0] > 700, gc.get_freeze_count() > 1_000)"
    command, home = [sys.executable, "-c", script], Path(os.environ["FLAKEBOARD_HOME"])
    done = subprocess.run(command, cwd=ROOT, env=environment(home), capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "True"]
