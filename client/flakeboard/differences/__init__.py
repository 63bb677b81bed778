"""Differences between passing and failing runs of a test: one number for every kind, and its chance by relabelling.

Standard library only, on every Python from 3.8 up, and pure, with the same answer everywhere. The server imports this
package too."""
