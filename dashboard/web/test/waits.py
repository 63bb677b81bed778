"""The part of a test's page on how long it must wait, as the newest experiment measured it."""

import shlex

from analytics.history.executions import History
from analytics.lab.models import ExperimentFinding
from analytics.lab.names import node_id_of
from analytics.wording import short
from dashboard.web.lab.waits import measured_waits
from dashboard.web.test.sections import Section
from ingest.models import Project


def waits_section(project: Project, history: History, is_flaky: bool) -> list[Section]:
    """Nothing for a test that is not flaky and whose waits nobody has measured."""
    numbers = [name.number for name in history.names]
    kind = ExperimentFinding.Kind.WAITS
    found = ExperimentFinding.objects.filter(project=project, number__in=numbers, kind=kind)
    newest = (
        found.select_related("experiment")
        .defer("experiment__results", "experiment__parameters")
        .order_by("-experiment__began_at", "-pk")
        .first()
    )
    node_id = node_id_of(history.names[0].test_name)
    if newest is None and (not is_flaky or node_id is None):
        return []
    part = {
        "finding": newest,
        "waits": [] if newest is None else measured_waits(newest.data),
        "others": [] if newest is None else [row for row in newest.data.get("values", ()) if not row["can_vary"]],
        "command": f"flakeboard waits {shlex.quote(node_id)}" if node_id else "",
    }
    fact = "not measured" if newest is None else short(newest.data.get("sentence") or "measured", 100)
    return [Section("waits", "Waits", fact, part)]
