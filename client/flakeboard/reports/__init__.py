"""Finding and reading the report files of a run."""
