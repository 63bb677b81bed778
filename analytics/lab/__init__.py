"""What experiments show: findings, dependencies between tests, and when the next experiment is due."""
