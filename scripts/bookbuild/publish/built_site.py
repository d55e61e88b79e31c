"""The command line of the modules that add files to a built site."""

import argparse
import sys
from pathlib import Path

from bookbuild.pages import paths


def site_argument(description: str | None) -> Path:
    """The folder of the built site; exits with an error if it is missing."""
    parser = argparse.ArgumentParser(description=description)
    default = paths.ROOT / "site"
    parser.add_argument(
        "site", nargs="?", type=Path, default=default, help="the built site (default: site)"
    )
    folder = parser.parse_args().site.resolve()
    if not (folder / "zh/index.html").exists():
        sys.exit(f"{Path(sys.argv[0]).stem}: no built site in {folder}; run scripts/publish")
    return folder
