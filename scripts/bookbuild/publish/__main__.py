"""Add to a built site what is made from it: cards, PDF and EPUB, bill of materials."""

import argparse
import os
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from bookbuild.pages import paths
from bookbuild.pages.errors import SetupError, SourceError
from bookbuild.publish import cards, editions, sbom

STEPS: dict[str, Callable[[Path], None]] = {  # the longest ones first
    "edition-zh": partial(editions.write_edition, language="zh"),
    "edition-en": partial(editions.write_edition, language="en"),
    "cards": cards.write_cards,
    "sbom": sbom.write_sbom,
}


def run_steps(site: Path) -> int:
    """Run each step in a process of its own, one per core; returns the highest exit status."""

    def run(step: str) -> int:
        command = [sys.executable, "-m", "bookbuild.publish", site, f"--only={step}"]
        return subprocess.run(command).returncode

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return max(pool.map(run, STEPS))


def main() -> None:
    parser = argparse.ArgumentParser(prog="publish", description=__doc__)
    parser.add_argument("site", nargs="?", type=Path, default=paths.ROOT / "site")
    parser.add_argument("--only", choices=STEPS, help="one of the steps")
    options = parser.parse_args()
    site = options.site.resolve()
    if not (site / "zh/index.html").exists():
        sys.exit(f"publish: no built site in {site}; run scripts/publish")
    if not options.only:
        sys.exit(run_steps(site))
    try:
        STEPS[options.only](site)
    except (SetupError, SourceError) as error:
        sys.exit(f"publish: {error}")


if __name__ == "__main__":
    main()
