"""Checks that compare sources: translations, terms, includes."""
