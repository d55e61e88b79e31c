"""Add to a built site what is made from it: cards, PDF and EPUB, bill of materials."""

import argparse
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import repeat
from pathlib import Path

from bookbuild.pages import paths
from bookbuild.pages.errors import SetupError, SourceError
from bookbuild.publish.cards import write_cards
from bookbuild.publish.editions import write_edition
from bookbuild.publish.sbom import write_sbom

Step = Callable[[Path], None]
STEPS: list[Step] = [  # the longest ones first
    partial(write_edition, language="zh"),
    partial(write_edition, language="en"),
    partial(write_cards, language="zh"),
    partial(write_cards, language="en"),
    write_sbom,
]


def run_step(step: Step, site: Path) -> str | None:
    """Run a step; returns its error."""
    try:
        step(site)
    except (SetupError, SourceError) as error:
        return f"publish: {error}"
    return None


def main() -> None:
    parser = argparse.ArgumentParser(prog="publish", description=__doc__)
    parser.add_argument("site", nargs="?", type=Path, default=paths.ROOT / "site")
    site = parser.parse_args().site.resolve()
    if not (site / "zh/index.html").exists():
        sys.exit(f"publish: no built site in {site}; run scripts/publish")
    with ProcessPoolExecutor() as pool:
        errors = [error for error in pool.map(run_step, STEPS, repeat(site)) if error]
    sys.exit("\n".join(errors) or None)


if __name__ == "__main__":
    main()
