"""Why a test is flaky: traces of its failing and passing executions in CI, compared."""
