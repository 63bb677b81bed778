from django.urls import path
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView

from dashboard.api import analyses, clusters, incidents, orders, priorities, reruns, tests, uploads

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
    _below("analyses", analyses.AnalysisListView, "api-analyses"),
    _below("analyses/current", analyses.CurrentAnalysisView, "api-analysis"),
    _below("tests", tests.TestListView, "api-tests"),
    _below("tests/<int:number>", tests.TestView, "api-test"),
    _below("clusters", clusters.ClusterListView, "api-clusters"),
    _below("clusters/<str:view>/<int:number>", clusters.ClusterView, "api-cluster"),
    _below("incidents", incidents.IncidentListView, "api-incidents"),
    _below("incidents/<int:report_id>", incidents.IncidentView, "api-incident"),
    _below("incidents/<int:report_id>/decision", incidents.DecisionView, "api-incident-decision"),
    _below("orders", orders.OrderListView, "api-orders"),
    _below("reruns", reruns.RerunListView, "api-reruns"),
    _below("reruns/<int:number>", reruns.RerunView, "api-rerun"),
    _below("priorities", priorities.PriorityListView, "api-priorities"),
]
