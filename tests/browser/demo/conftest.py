"""One analysed project before the browser, loaded once for all tests here: what a test changes it takes back itself."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from analytics.services import analysis_refresh
from dashboard.demo.experiment import demo_experiment
from dashboard.demo.traces import demo_traces
from ingest.models import Run
from tests.browser.demo.sending import Sent, send_red_pull_request, send_shouting_run
from tests.web.analysed_project import Demo, make


@pytest.fixture(scope="package")
def demo(transactional_db: None) -> Iterator[Demo]:
    """The simulated project, with a run of hostile texts in its history and an experiment. Analyses that pages ask for are not made."""
    made = make()
    send_shouting_run(made)
    demo_experiment(made.project, made.history)
    demo_traces(made.project, made.history)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("dashboard.tasks.refresh_analysis.delay", lambda project_id: None)
        yield replace(made, analysis=analysis_refresh(project=made.project))
    made.project.delete()


@pytest.fixture(scope="package")
def red(demo: Demo) -> Sent:
    """A pull request that came after the analysis: two failures are its own, the others are known flaky."""
    return send_red_pull_request(demo)


@pytest.fixture(scope="package")
def red_run(red: Sent) -> Run:
    return red.run
