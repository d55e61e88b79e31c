"""Add to a built site what is made from it: cards, PDF and EPUB, bill of materials."""

import argparse
import sys
from pathlib import Path

from bookbuild.pages import paths
from bookbuild.pages.errors import SetupError, SourceError
from bookbuild.publish import cards, editions, sbom

STEPS = {
    "cards": cards.write_cards,
    "editions": editions.write_editions,
    "sbom": sbom.write_sbom,
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="publish", description=__doc__)
    parser.add_argument("site", nargs="?", type=Path, default=paths.ROOT / "site")
    parser.add_argument("--only", choices=STEPS, action="append", help="one of the steps")
    options = parser.parse_args()
    site = options.site.resolve()
    if not (site / "zh/index.html").exists():
        sys.exit(f"publish: no built site in {site}; run scripts/publish")
    try:
        for step in options.only or STEPS:
            STEPS[step](site)
    except (SetupError, SourceError) as error:
        sys.exit(f"publish: {error}")


if __name__ == "__main__":
    main()
