from django.urls import path

from dashboard.web import accounts, home, projects, runs, uploads

urlpatterns = [
    path("", home.home, name="home"),
    path("sign-in", accounts.SignInView.as_view(), name="sign_in"),
    path("sign-in/<str:uid>/<str:token>", accounts.one_time_sign_in, name="one_time_sign_in"),
    path("sign-out", accounts.sign_out, name="sign_out"),
    path("password", accounts.password, name="password"),
    path("projects/new", projects.create, name="project_create"),
    path("projects/<slug:slug>/", runs.run_list, name="project"),
    path("projects/<slug:slug>/setup", projects.setup, name="setup"),
    path("projects/<slug:slug>/tokens/<int:token_id>/revoke", projects.token_revoke_view, name="token_revoke"),
    path("projects/<slug:slug>/renames/<int:rename_id>", projects.rename_decide_view, name="rename_decide"),
    path("projects/<slug:slug>/runs/<int:run_id>", runs.run_detail, name="run"),
    path("projects/<slug:slug>/tests/<int:number>", runs.test_detail, name="test"),
    path("projects/<slug:slug>/uploads", uploads.upload_list, name="uploads"),
    path("projects/<slug:slug>/uploads/<int:upload_id>", uploads.upload_detail, name="upload"),
    path("projects/<slug:slug>/uploads/<int:upload_id>/reprocess", uploads.reprocess, name="upload_reprocess"),
]
