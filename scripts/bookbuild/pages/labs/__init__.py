"""The labs: notebooks, read as Markdown pages and executed by mkdocs-jupyter."""
