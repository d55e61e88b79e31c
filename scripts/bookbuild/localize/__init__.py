"""Renders the code in Chinese: the same code, its words from catalogs in snippets/zh/."""
