"""CI without stored secrets: which repositories are believed by their ID tokens, and what is done with forks."""
