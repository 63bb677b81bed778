from django.urls import path
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView

from dashboard.api import channels, export
from dashboard.api.analysis import (
    analyses,
    builds,
    clusters,
    durations,
    incidents,
    orders,
    predictions,
    priorities,
    reruns,
    sketches,
    slow_tests,
    tests,
    trends,
)
from dashboard.api.lab import (
    coverages,
    dependencies,
    experiments,
    next_orders,
    schedules,
    traced_tests,
    traces,
    values,
    why,
)
from dashboard.api.quarantine import gate, labels, lifecycle, owners, policy, quarantines
from dashboard.api.reach import base, detection_plans, rerun_sets, touched
from dashboard.api.upload import attachments, uploads

_PROJECT = "v1/projects/<slug:slug>/"


def _below(address: str, view, name: str):
    """An address below a project's."""
    return path(_PROJECT + address, view.as_view(), name=name)


urlpatterns = [
    path("schema", SpectacularAPIView.as_view(), name="api-schema"),
    path("docs", SpectacularSwaggerSplitView.as_view(url_name="api-schema"), name="api-docs"),
    _below("uploads", uploads.UploadListView, "api-uploads"),
    _below("uploads/<int:upload_id>", uploads.UploadView, "api-upload"),
    _below("uploads/<int:upload_id>/reprocess", uploads.ReprocessView, "api-upload-reprocess"),
    _below("uploads/<int:upload_id>/attachments", attachments.UploadAttachmentsView, "api-attachments"),
    _below("uploads/<int:upload_id>/attachments/<int:attachment_id>", attachments.AttachmentView, "api-attachment"),
    _below("analyses", analyses.AnalysisListView, "api-analyses"),
    _below("analyses/current", analyses.CurrentAnalysisView, "api-analysis"),
    _below("tests", tests.TestListView, "api-tests"),
    _below("tests/<int:number>", tests.TestView, "api-test"),
    _below("tests/<int:number>/durations", durations.TestDurationsView, "api-test-durations"),
    _below("tests/<int:number>/values", values.TestValuesView, "api-test-values"),
    _below("values", values.ValuesView, "api-values"),
    _below("clusters", clusters.ClusterListView, "api-clusters"),
    _below("clusters/<str:view>/<int:number>", clusters.ClusterView, "api-cluster"),
    _below("incidents", incidents.IncidentListView, "api-incidents"),
    _below("incidents/<int:report_id>", incidents.IncidentView, "api-incident"),
    _below("incidents/<int:report_id>/decision", incidents.DecisionView, "api-incident-decision"),
    _below("orders", orders.OrderListView, "api-orders"),
    _below("reruns", reruns.RerunListView, "api-reruns"),
    _below("reruns/<int:number>", reruns.RerunView, "api-rerun"),
    _below("priorities", priorities.PriorityListView, "api-priorities"),
    _below("predictions", predictions.PredictionListView, "api-predictions"),
    _below("sketches", sketches.SketchListView, "api-sketches"),
    _below("sketches/known", sketches.KnownSketchView, "api-sketches-known"),
    _below("orders/next", next_orders.NextOrderView, "api-orders-next"),
    _below("schedules", schedules.ScheduleListView, "api-schedules"),
    _below("schedules/<int:schedule_id>", schedules.ScheduleView, "api-schedule"),
    _below("traced-tests", traced_tests.TracedTestsView, "api-traced-tests"),
    _below("tests/<int:number>/why", why.WhyView, "api-test-why"),
    _below("tests/<int:number>/traces", traces.TraceListView, "api-test-traces"),
    _below("traces/<int:trace_id>", traces.TraceView, "api-trace"),
    _below("coverages", coverages.CoverageListView, "api-coverages"),
    _below("base", base.BaseView, "api-base"),
    _below("builds/<path:build_id>", builds.BuildView, "api-build"),
    _below("commits/<path:commit>", builds.CommitView, "api-commit"),
    _below("pulls/<path:pull>", builds.PullView, "api-pull"),
    _below("runs/<int:run_id>/touched", touched.TouchedView, "api-run-touched"),
    _below("rerun-set", rerun_sets.RerunSetView, "api-rerun-set"),
    _below("detection-plan", detection_plans.DetectionPlanView, "api-detection-plan"),
    _below("gate", gate.GateListView, "api-gates"),
    _below("gate/<int:decision_id>", gate.GateView, "api-gate"),
    _below("quarantines", quarantines.QuarantineListView, "api-quarantines"),
    _below("quarantines/export/<str:kind>", quarantines.QuarantineExportView, "api-quarantine-export"),
    _below("quarantines/<int:quarantine_id>", quarantines.QuarantineView, "api-quarantine"),
    _below("quarantines/<int:quarantine_id>/<str:action>", quarantines.QuarantineActView, "api-quarantine-act"),
    _below("slow-tests", slow_tests.SlowTestListView, "api-slow-tests"),
    _below("trends", trends.TrendsView, "api-trends"),
    _below("lifecycle", lifecycle.LifecycleView, "api-lifecycle"),
    _below("owners", owners.OwnersView, "api-owners"),
    _below("tests/<int:number>/owner", owners.TestOwnerView, "api-test-owner"),
    _below("labels", labels.LabelsView, "api-labels"),
    _below("tests/<int:number>/labels", labels.TestLabelsView, "api-test-labels"),
    _below("tests/<int:number>/notes", labels.TestNotesView, "api-test-notes"),
    _below("views", labels.SavedViewsView, "api-views"),
    _below("views/<int:view_id>", labels.SavedViewView, "api-view"),
    _below("channels", channels.ChannelListView, "api-channels"),
    _below("channels/<int:channel_id>", channels.ChannelView, "api-channel"),
    _below("channels/<int:channel_id>/test", channels.ChannelTrialView, "api-channel-trial"),
    _below("experiments", experiments.ExperimentListView, "api-experiments"),
    _below("experiments/due", experiments.DueView, "api-experiments-due"),
    _below("experiments/<str:key>", experiments.ExperimentView, "api-experiment"),
    _below("experiments/<str:key>/finish", experiments.FinishView, "api-experiment-finish"),
    _below("dependencies", dependencies.DependencyListView, "api-dependencies"),
    _below("dependencies/<int:dependency_id>/retire", dependencies.RetirementView, "api-dependency-retire"),
    _below("export", export.ExportView, "api-export"),
    _below("policy", policy.PolicyView, "api-policy"),
    _below("policy/dry-run", policy.DryRunView, "api-policy-dry-run"),
]
