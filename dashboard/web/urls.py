from django.urls import path

from dashboard.web import accounts, case, demo, home, projects, run, runs, setup, test, upload, uploads

urlpatterns = [
    path("", home.home, name="home"),
    path("sign-in", accounts.SignInView.as_view(), name="sign_in"),
    path("sign-in/<str:uid>/<str:token>", accounts.one_time_sign_in, name="one_time_sign_in"),
    path("sign-out", accounts.sign_out, name="sign_out"),
    path("password", accounts.password, name="password"),
    path("demo", demo.load, name="demo_load"),
    path("projects/<slug:slug>/demo/delete", demo.delete, name="demo_delete"),
    path("projects/<slug:slug>/demo/progress", demo.progress, name="demo_progress"),
    path("projects/new", projects.create, name="project_create"),
    path("projects/<slug:slug>/", runs.run_list, name="project"),
    path("projects/<slug:slug>/setup", setup.setup, name="setup"),
    path("projects/<slug:slug>/setup/first-upload", setup.first_upload, name="first_upload"),
    path("projects/<slug:slug>/tokens/<int:token_id>/revoke", setup.revoke, name="token_revoke"),
    path("projects/<slug:slug>/renames/<int:rename_id>", test.decide_rename, name="rename_decide"),
    path("projects/<slug:slug>/runs/<int:run_id>", run.run_detail, name="run"),
    path("projects/<slug:slug>/runs/<int:run_id>/tests/<int:number>", case.case_detail, name="case"),
    path("projects/<slug:slug>/tests/<int:number>", test.test_detail, name="test"),
    path("projects/<slug:slug>/uploads", uploads.upload_list, name="uploads"),
    path("projects/<slug:slug>/uploads/<int:upload_id>", upload.upload_detail, name="upload"),
    path("projects/<slug:slug>/uploads/<int:upload_id>/outcome", upload.upload_part, name="upload_part"),
    path("projects/<slug:slug>/uploads/<int:upload_id>/reprocess", upload.reprocess, name="upload_reprocess"),
]
