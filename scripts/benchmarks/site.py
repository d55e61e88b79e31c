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
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parents[2]
NUM_RUNS = 5
PORT = 8123
BUILD_TIME = re.compile(r"Documentation built in ([\d.]+) seconds")
PLAIN_CONFIG = """
INHERIT: {root}/{config}
docs_dir: {root}/docs/{language}
site_dir: {folder}/site
theme: {{custom_dir: {root}/overrides}}
hooks: []
watch: []
"""


def run_command(folder: Path, *command: str | Path) -> subprocess.CompletedProcess[str]:
    process = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if process.returncode:
        sys.exit(process.stdout + process.stderr)
    return process


def build_seconds(config: Path) -> list[float]:
    """The seconds that MkDocs reports for each language, Chinese first."""
    process = run_command(ROOT, sys.executable, "-m", "mkdocs", "build", "-f", config)
    return [float(seconds) for seconds in BUILD_TIME.findall(process.stderr)]


def measure_builds() -> None:
    """Compare a build without changes with a plain Material build of the same Markdown."""
    book_times: dict[str, list[float]] = defaultdict(list)
    material_times: dict[str, list[float]] = defaultdict(list)
    configs = {"en": "mkdocs.yml", "zh": "mkdocs.zh.yml"}
    build_seconds(ROOT / "mkdocs.yml")
    with tempfile.TemporaryDirectory(dir=ROOT, prefix=".bench-") as folder:
        for _ in range(NUM_RUNS):
            chinese, both = build_seconds(ROOT / "mkdocs.yml")
            book_times["zh"].append(chinese)
            book_times["en"].append(both - chinese)
            for language, config in configs.items():
                path = Path(folder, config)
                text = PLAIN_CONFIG.format(
                    root=ROOT, config=config, language=language, folder=folder
                )
                path.write_text(text)
                material_times[language] += build_seconds(path)
    for language in configs:
        our_time, plain_time = median(book_times[language]), median(material_times[language])
        print(
            f"build, nothing changed, {language}: {our_time:.2f} s; "
            f"plain Material {plain_time:.2f} s; ratio {our_time / plain_time:.2f}"
        )


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


def seconds_to_see_a_change(clone: Path, language: str) -> float:
    """Seconds from saving a page to its new text being served."""
    source = clone / f"docs/{language}/embeddings.md"
    marker = f"saved{time.monotonic_ns()}"
    source.write_text(f"{source.read_text()}\n{marker}\n")
    return wait_for_text(marker, {"en": "embeddings/", "zh": "zh/embeddings/"}[language])


def measure_starts(clone: Path, fresh: bool) -> None:
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
        for language in ("en", "zh"):
            saved = [seconds_to_see_a_change(clone, language) for _ in range(3)]
            print(f"saved page to screen, {language}: {median(saved):.1f} s")


def measure_generate(clone: Path) -> None:
    """Time scripts/generate; it prints the seconds."""
    example = min((clone / "snippets/examples/embeddings").glob("*.py"))
    generate = clone / "scripts/generate"
    run_command(clone, generate)
    print("nothing to do:", run_command(clone, generate).stdout.splitlines()[-1])
    print("everything:", run_command(clone, generate, "--force").stdout.splitlines()[-1])
    example.write_text(example.read_text() + "print()\n")
    print("one example changed:", run_command(clone, generate).stdout.splitlines()[-1])


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--fresh", action="store_true", help="also a fresh clone, empty caches")
    arguments = parser.parse_args()
    print(f"{os.cpu_count()} cores, Python {sys.version.split()[0]}, medians of {NUM_RUNS}")
    measure_builds()
    with tempfile.TemporaryDirectory() as folder:
        clone = Path(folder, "clone")
        run_command(ROOT, "git", "clone", "-q", ROOT, clone)
        measure_starts(clone, arguments.fresh)
        measure_generate(clone)


if __name__ == "__main__":
    main()
