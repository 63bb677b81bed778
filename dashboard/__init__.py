"""What people and CI do with it: pages, API, tasks, and the way it is run."""
