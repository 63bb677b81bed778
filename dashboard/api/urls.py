from django.urls import path
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView

from dashboard.api import uploads

urlpatterns = [
    path("schema", SpectacularAPIView.as_view(), name="api-schema"),
    path("docs", SpectacularSwaggerSplitView.as_view(url_name="api-schema"), name="api-docs"),
    path("v1/projects/<slug:slug>/uploads", uploads.UploadListView.as_view(), name="api-uploads"),
    path("v1/projects/<slug:slug>/uploads/<int:upload_id>", uploads.UploadView.as_view(), name="api-upload"),
    path(
        "v1/projects/<slug:slug>/uploads/<int:upload_id>/reprocess",
        uploads.ReprocessView.as_view(),
        name="api-upload-reprocess",
    ),
]
