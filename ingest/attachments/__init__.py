"""Files that CI sends beside a report: screenshots, traces and logs of tests."""
