"""The policy that proposes quarantines, and what it would have done."""
