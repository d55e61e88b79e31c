"""Renders the snippets in Chinese: the same code, its words from catalogs in snippets/zh/."""
