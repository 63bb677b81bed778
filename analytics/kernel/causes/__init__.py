"""Why a test is flaky: rules, evidence, findings, remedies."""
