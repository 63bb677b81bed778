"""New and changed tests, and the steps that look at each (Lam 2020a)."""
