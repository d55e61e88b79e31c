"""The book's sources: where they are, how they are read and written."""
