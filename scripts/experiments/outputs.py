"""Records what slow programs and labs print, so that a fresh clone need not run them."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "snippets")]

from bookbuild.run.recorded import record_outputs  # noqa: E402

if __name__ == "__main__":
    subprocess.run([ROOT / "scripts/generate"], check=True)
    record_outputs()
