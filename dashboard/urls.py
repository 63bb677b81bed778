from django.urls import include, path

urlpatterns = [
    path("api/", include("dashboard.api.urls")),
    path("", include("dashboard.web.urls")),
]
handler400 = "dashboard.web.errors.bad_request"
handler404 = "dashboard.web.errors.not_found"
handler500 = "dashboard.web.errors.broken"
