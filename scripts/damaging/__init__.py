"""Damage to reports, and commands run on what is left of them (scripts/damage)."""
