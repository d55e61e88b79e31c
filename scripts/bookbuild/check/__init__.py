"""Checks that compare sources: translations, includes, arithmetic."""
