"""What an order-dependent test depends on: partners, cleaners, shared state, each verified."""
