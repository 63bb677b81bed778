"""Quarantine: decisions with an owner, a reason, an expiry and a way out; policies that propose them; the gate."""
