"""What a test used: functions of the project, files that it opened, modules that its file imports."""
