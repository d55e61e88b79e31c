"""Records what slow programs and labs print, so that a fresh clone need not run them."""

import subprocess
from pathlib import Path

from bookbuild.run.recorded import record_outputs

ROOT = Path(__file__).resolve().parents[2]

if __name__ == "__main__":
    subprocess.run([ROOT / "scripts/generate"], check=True)
    record_outputs()
