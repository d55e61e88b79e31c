"""Add to the built site what is made from it: the PDFs and the preview images."""

import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial

from bookbuild.pages import paths
from bookbuild.pages.errors import describe_error
from bookbuild.publish.cards import write_cards
from bookbuild.publish.handouts import write_handouts
from bookbuild.publish.pdf import write_pdf

SITE = paths.ROOT / "site"
LANGUAGES = "zh", "en"  # first the one that takes longer


def run_step(step: Callable[[], None]) -> str | None:
    """Run a step; returns its error."""
    try:
        step()
    except Exception as error:
        if not (message := describe_error(error)):
            raise
        return f"publish: {message}"
    return None


def main() -> None:
    errors: list[str] = []
    with ProcessPoolExecutor() as pool:
        # The book's PDF shows the preview of a handout, so these come first.
        for steps in ([write_handouts], [write_pdf, write_cards]):
            calls = [partial(step, SITE, language) for step in steps for language in LANGUAGES]
            errors += [error for error in pool.map(run_step, calls) if error]
    sys.exit("\n".join(errors) or None)


if __name__ == "__main__":
    main()
