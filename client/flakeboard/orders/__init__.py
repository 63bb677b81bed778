"""Orders of tests: planned, judged and enhanced without running one.

Standard library only and free of chance: the same input and seed give the same output on every Python from 3.8 up and
on every platform. The server imports this package too, and nothing else of the client."""
