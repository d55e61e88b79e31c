"""The package that makes the site."""
