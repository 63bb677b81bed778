from django.urls import include, path

from dashboard.ops import health, metrics

urlpatterns = [
    path("health/live", health.live, name="health-live"),
    path("health/ready", health.ready, name="health-ready"),
    path("metrics", metrics.metrics, name="metrics"),
    path("api/", include("dashboard.api.urls")),
    path("", include("dashboard.web.urls")),
]
handler400 = "dashboard.web.errors.bad_request"
handler403 = "dashboard.web.errors.forbidden"
handler404 = "dashboard.web.errors.not_found"
handler500 = "dashboard.web.errors.broken"
