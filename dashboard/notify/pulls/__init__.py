"""One comment and one check for each pull request, written where the code is."""
