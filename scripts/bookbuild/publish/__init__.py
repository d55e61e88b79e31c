"""Files that are published in addition to the pages: PDF, EPUB, feed, cards and more."""
