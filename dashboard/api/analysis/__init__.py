"""What an analysis concluded: tests, clusters, incidents, orders, reruns and priorities."""
