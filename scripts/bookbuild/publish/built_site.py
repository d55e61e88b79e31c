"""The built site that a script lays something beside, from its command line."""

import argparse
import sys
from pathlib import Path

from bookbuild.pages import paths


def site_argument(about: str | None) -> Path:
    """The folder; stops the script if it is no whole site."""
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("site", nargs="?", type=Path, default=paths.ROOT / "site")
    folder = parser.parse_args().site.resolve()
    if not (folder / "zh/index.html").exists():
        name = Path(sys.argv[0]).stem
        sys.exit(f"{name}: no whole site in {folder}: build it with scripts/publish")
    return folder
