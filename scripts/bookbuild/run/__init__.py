"""Runs examples, exercises, notebooks and proofs, and draws figures."""
