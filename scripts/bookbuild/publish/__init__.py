"""What is published beside the pages: PDF, EPUB, feed, cards and more."""
