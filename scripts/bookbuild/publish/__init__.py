"""Files that are published in addition to the pages: PDF, preview images, Markdown copies."""
