"""What an analysis says of the project: overview, fix first, clusters, incidents, reruns and orders."""
