"""The generated reference pages: claims, bibliography, quizzes, shapes."""
