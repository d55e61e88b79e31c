"""The built site that a script lays something beside, from its command line."""

import argparse
import sys
from collections.abc import Iterable
from pathlib import Path

from bookbuild.pages import paths


def site_argument(about: str | None, missing: Iterable[str] = ()) -> Path:
    """The folder; stops the script if it is no whole site, or with what else is missing."""
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("site", nargs="?", type=Path, default=paths.ROOT / "site")
    folder = parser.parse_args().site.resolve()
    faults = [*missing]
    if not (folder / "zh/index.html").exists():
        faults.append(f"no whole site in {folder}: build it with scripts/publish")
    if faults:
        sys.exit("\n".join(f"{Path(sys.argv[0]).stem}: {fault}" for fault in faults))
    return folder
