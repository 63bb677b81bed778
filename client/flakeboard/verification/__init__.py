"""`flakeboard verify`: a test is run before and after a fix, in turn, to see whether the fix is one."""
