"""Differences between failing and passing executions: the client's comparison, with its chances by numpy."""
