"""Regret of L2P for experts, beside its competitors."""
