"""Measure build times, first and second start of the server, and the time to see a saved page.

usage: scripts/bench site [--fresh]      --fresh: also a fresh clone with empty caches (downloads)

Everything except the build times is measured over HTTP in a clone of the last commit. Ratios
are of the medians of alternating runs.
"""

import argparse
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
RUNS = 5
PORT = 8123
ADDRESS = f"http://127.0.0.1:{PORT}/"
BUILD_TIME = re.compile(r"Documentation built in ([\d.]+) seconds")
PLAIN_CONFIG = """
INHERIT: {config}
docs_dir: {root}/docs/{language}
site_dir: {site}
theme: {{custom_dir: {root}/overrides}}
hooks: []
watch: []
"""


def build_seconds(config: Path) -> list[float]:
    """The seconds that MkDocs reports for each language, Chinese first."""
    process = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "-f", str(config)],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    if process.returncode:
        sys.exit(process.stdout + process.stderr)
    return [float(seconds) for seconds in BUILD_TIME.findall(process.stderr)]


def measure_builds() -> None:
    """Compare a build without changes with a plain Material build of the same Markdown."""
    ours: dict[str, list[float]] = {"en": [], "zh": []}
    plain: dict[str, list[float]] = {"en": [], "zh": []}
    build_seconds(ROOT / "mkdocs.yml")
    with tempfile.TemporaryDirectory(dir=ROOT, prefix=".bench-") as folder:
        for _ in range(RUNS):
            chinese, both = build_seconds(ROOT / "mkdocs.yml")
            ours["zh"].append(chinese)
            ours["en"].append(both - chinese)
            for language, name in (("en", "mkdocs.yml"), ("zh", "mkdocs.zh.yml")):
                config = Path(folder) / f"{language}.yml"
                config.write_text(
                    PLAIN_CONFIG.format(
                        config=ROOT / name, root=ROOT, language=language, site=f"{folder}/site"
                    )
                )
                plain[language] += build_seconds(config)
    for language in ours:
        our_median, plain_median = map(statistics.median, (ours[language], plain[language]))
        print(
            f"build, nothing changed, {language}: {our_median:.2f} s; "
            f"plain Material {plain_median:.2f} s; ratio {our_median / plain_median:.2f}"
        )


def fetch_page(path: str = "") -> str | None:
    """The text of a page; None while the server does not answer."""
    try:
        with urllib.request.urlopen(ADDRESS + path, timeout=5) as response:
            return response.read().decode()
    except (urllib.error.URLError, ConnectionError, TimeoutError):
        return None


def wait_for(text: str, path: str, seconds: float = 600) -> float:
    """Seconds until the page contains the text."""
    start = time.monotonic()
    while time.monotonic() - start < seconds:
        if text in (fetch_page(path) or ""):
            return time.monotonic() - start
        time.sleep(0.05)
    sys.exit(f"{ADDRESS}{path} did not contain {text!r} within {seconds:.0f} s")


@contextmanager
def serving(clone: Path, log: Path, **environment: str) -> Iterator[float]:
    """Run scripts/serve in the clone; yields the seconds until both languages are served."""
    with log.open("a") as output:
        start = time.monotonic()
        server = subprocess.Popen(
            ["scripts/serve", "--dev-addr", f"127.0.0.1:{PORT}"],
            cwd=clone,
            env={**os.environ, **environment},
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
        try:
            wait_for("</html>", "")
            wait_for("</html>", "zh/")
            yield time.monotonic() - start
        finally:
            os.killpg(server.pid, signal.SIGINT)
            server.wait(timeout=30)


def measure_save(clone: Path, name: str, path: str) -> float:
    """Seconds from saving a page to its new text being served."""
    source = clone / name
    text = source.read_text()
    marker = f"saved{time.monotonic_ns()}"
    source.write_text(f"{text}\n{marker}\n")
    return wait_for(marker, path)


def measure_starts(fresh: bool) -> None:
    """Time the server's starts and saved pages, then scripts/generate, in a clone."""
    with tempfile.TemporaryDirectory() as folder:
        clone, log = Path(folder) / "clone", Path(folder) / "log"
        subprocess.run(["git", "clone", "-q", str(ROOT), str(clone)], check=True)
        if fresh:
            caches = {
                "PIP_CACHE_DIR": f"{folder}/pip",
                "npm_config_cache": f"{folder}/npm",
            }
            with serving(clone, log, **caches) as seconds:
                print(f"fresh clone, empty caches, to both languages served: {seconds:.0f} s")
        else:
            (clone / ".venv").symlink_to(ROOT / ".venv")
            shutil.copytree(ROOT / "node_modules", clone / "node_modules", symlinks=True)
            with serving(clone, log):
                pass
        with serving(clone, log) as seconds:
            print(f"second start: {seconds:.1f} s")
            time.sleep(2)  # the watcher polls once a second
            english = [
                measure_save(clone, "docs/en/embeddings.md", "embeddings/") for _ in range(3)
            ]
            chinese = [
                measure_save(clone, "docs/zh/embeddings.md", "zh/embeddings/") for _ in range(3)
            ]
            print(f"saved page to screen, en: {statistics.median(english):.1f} s")
            print(f"saved page to screen, zh: {statistics.median(chinese):.1f} s")
        generate = [str(clone / "scripts/generate")]
        subprocess.run(generate, cwd=clone, capture_output=True, check=True)
        for name, options in (("nothing to do", []), ("everything", ["--force"])):
            process = subprocess.run(
                [*generate, *options], cwd=clone, capture_output=True, text=True, check=True
            )
            print(f"{name}: {process.stdout.splitlines()[-1]}")
        example = min((clone / "snippets/examples/embeddings").glob("*.py"))
        example.write_text(example.read_text() + "print()\n")
        process = subprocess.run(generate, cwd=clone, capture_output=True, text=True, check=True)
        print(f"one example changed: {process.stdout.splitlines()[-1]}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--fresh", action="store_true", help="also a fresh clone, empty caches")
    arguments = parser.parse_args()
    print(f"{os.cpu_count()} cores, Python {sys.version.split()[0]}, medians of {RUNS}")
    measure_builds()
    measure_starts(arguments.fresh)


if __name__ == "__main__":
    main()
