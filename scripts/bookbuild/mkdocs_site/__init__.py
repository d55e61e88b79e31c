"""The Markdown extension of the book, and everything that depends on MkDocs or Material."""
