"""Pages: one module a page."""
