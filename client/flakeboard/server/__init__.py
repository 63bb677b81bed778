"""Talking to the server: requests with retries, the packages that are uploaded, and ID tokens."""
