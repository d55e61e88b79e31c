"""Measure the start of the server, and the time until a saved page is served.

usage: scripts/bench site [--fresh]      --fresh: also a fresh clone with empty caches (downloads)

Both are measured over HTTP, in a clone of the last commit. Builds are measured without it:
scripts/generate prints its seconds, and so does `time scripts/build`.
"""

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parents[2]
PORT = 8123


def wait_for_text(text: str, path: str) -> float:
    """Seconds until the page that the server has at the path contains the text."""
    start, address = time.monotonic(), f"http://127.0.0.1:{PORT}/{path}"
    while time.monotonic() - start < 600:
        # until the server answers, OSError
        with suppress(OSError), urllib.request.urlopen(address, timeout=5) as response:
            if text in response.read().decode():
                return time.monotonic() - start
        time.sleep(0.05)
    sys.exit(f"{address} did not contain {text!r} within 10 minutes")


@contextmanager
def serve_clone(clone: Path, **environment: str) -> Iterator[float]:
    """Run scripts/serve in the clone; yields the seconds until both languages are served."""
    server = subprocess.Popen(
        ["scripts/serve", "--dev-addr", f"127.0.0.1:{PORT}"],
        cwd=clone,
        env={**os.environ, **environment},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        yield wait_for_text("</html>", "") + wait_for_text("</html>", "zh/")
    finally:
        os.killpg(server.pid, signal.SIGINT)
        server.wait(timeout=30)


def measure_server(clone: Path, fresh: bool) -> None:
    """Time the server's starts and saved pages."""
    if fresh:
        names = "PIP_CACHE_DIR", "UV_CACHE_DIR", "npm_config_cache"
        caches = {name: f"{clone}-{name}" for name in names}
        with serve_clone(clone, **caches) as seconds:
            print(f"fresh clone, empty caches, to both languages served: {seconds:.0f} s")
    else:
        (clone / ".venv").symlink_to(ROOT / ".venv")
        shutil.copytree(ROOT / "node_modules", clone / "node_modules", symlinks=True)
        with serve_clone(clone):
            pass
    with serve_clone(clone) as seconds:
        print(f"second start: {seconds:.1f} s")
        time.sleep(2)  # the watcher polls once a second
        for language, folder in (("en", ""), ("zh", "zh/")):
            source = clone / f"docs/{language}/embeddings.md"
            saved = []
            for marker in ("saved once", "saved twice", "saved three times"):
                source.write_text(f"{source.read_text()}\n{marker}\n")
                saved.append(wait_for_text(marker, f"{folder}embeddings/"))
            print(f"saved page to screen, {language}, median of 3: {median(saved):.1f} s")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--fresh", action="store_true", help="also a fresh clone, empty caches")
    arguments = parser.parse_args()
    print(f"{os.cpu_count()} cores, Python {sys.version.split()[0]}")
    with tempfile.TemporaryDirectory() as folder:
        clone = Path(folder, "clone")
        subprocess.run(["git", "clone", "-q", ROOT, clone], check=True)
        measure_server(clone, arguments.fresh)


if __name__ == "__main__":
    main()
