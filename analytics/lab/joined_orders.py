"""Order dependence by the orders of CI and of experiments together.

It is computed beside the analysis: nothing that an analysis concludes of rates, states or costs reads it."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from analytics.findings.tests import order_data
from analytics.kernel.analysis import Analysis as Conclusions
from analytics.kernel.executions import Flags
from analytics.kernel.order_findings import order_findings
from analytics.kernel.parameters import Parameters
from analytics.loaders import Filter, Loaded, load
from ingest.models import Project, Report


def joined_orders(
    project: Project, chosen: Filter, found: Conclusions, loaded: Loaded, parameters: Parameters
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Number and order finding of each test that is flaky in CI or failed in an experiment, if there is any."""
    if not Report.all_objects.filter(project=project, experiment__isnull=False).exists():
        return
    both = load(project, replace(chosen, with_experiments=True))
    window = both.window
    rows, experimental = window.executions, _of_experiments(both)
    flaky = np.isin(window.failing, loaded.window.failing[found.failed.is_flaky])
    outside_incidents = ~np.isin(both.report_ids, loaded.report_ids[found.incident])
    # Of a test that is not flaky, CI's failures are regressions: only experiments tell how it takes orders.
    ran = rows.where(outside_incidents[rows.report] & (flaky[rows.test] | experimental[rows.report]))
    orders = window.reports.order, window.orders, window.failing
    for finding in order_findings(ran, *orders, parameters, steady=experimental):
        yield int(window.failing[finding.place]), order_data(finding)


def _of_experiments(both: Loaded) -> Flags:
    """By report: it is an experiment's."""
    ids = Report.all_objects.filter(pk__in=both.report_ids.tolist(), experiment__isnull=False)
    return np.isin(both.report_ids, np.array(list(ids.values_list("pk", flat=True)), dtype=np.int64))
