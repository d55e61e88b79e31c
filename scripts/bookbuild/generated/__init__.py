"""Generated contents of pages: claims, bibliography, quizzes, shapes, tables of contents."""
