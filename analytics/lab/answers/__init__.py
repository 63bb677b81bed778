"""Answers of experiments on one test, as the client reports them: hostile until checked. Pure."""
