"""What pages and the API both say to a request that cannot be served."""

NO_FILES = (
    "This address takes no files. Send test results to the project's uploads: /api/v1/projects/<project>/uploads."
)
UNREADABLE = "The request cannot be read."
