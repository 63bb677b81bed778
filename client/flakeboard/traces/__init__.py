"""Traces of tests as files: what an execution did, as far as it was recorded, written and strictly read.

Standard library only, on every Python from 3.8 up, and pure: nothing here patches, runs or sends anything. The server
imports this package too."""
