"""Add to the built site what is made from it: the PDFs and the preview images."""

import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial

from bookbuild.pages import paths
from bookbuild.pages.errors import describe_error
from bookbuild.pages.paths import LANGUAGES
from bookbuild.publish.cards import write_cards
from bookbuild.publish.handouts import write_handouts
from bookbuild.publish.pdf import write_pdf

SITE = paths.ROOT / "site"
# The book's PDF shows the preview of a handout, so these come first.
HANDOUTS = [partial(write_handouts, SITE, language) for language in LANGUAGES]
STEPS = [  # the longest ones first
    partial(write_pdf, SITE, "zh"),
    partial(write_pdf, SITE, "en"),
    partial(write_cards, SITE, "zh"),
    partial(write_cards, SITE, "en"),
]


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
    with ProcessPoolExecutor() as pool:
        errors = [error for error in pool.map(run_step, HANDOUTS) if error]
        errors += [error for error in pool.map(run_step, STEPS) if error]
    sys.exit("\n".join(errors) or None)


if __name__ == "__main__":
    main()
