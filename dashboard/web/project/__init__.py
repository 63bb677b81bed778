"""A project's setup, uploads, members and settings."""
