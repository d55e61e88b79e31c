"""Runs examples, exercises, labs and proofs, and draws figures."""
