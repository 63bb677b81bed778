"""A build or pull request as one: its verdict, its failures, and where else to look."""
